// SPDX-License-Identifier: Apache-2.0
// Models that Keras saved as a whole: .keras (version 3) and .h5.
#pragma once

#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::keras {

bool is_archive(std::string_view bytes);  // a zip archive with the two files that every .keras has
bool is_hdf5(std::string_view bytes);
// `name` becomes the graph's name. See joulecast/import.h for the errors; they do not name the file.
Result<Graph> import_archive(std::string_view bytes, std::string_view name);
Result<Graph> import_hdf5(std::string_view bytes, std::string_view name);
// The configuration that either holds: JSON.
Result<Graph> import_config(std::string_view text, std::string_view name);

}  // namespace joulecast::keras
