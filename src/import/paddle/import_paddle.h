// SPDX-License-Identifier: Apache-2.0
// Programs of Paddle: .pdmodel of Paddle 2, .json of Paddle 3. Their parameters are in files beside, which nobody
// reads.
#pragma once

#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::paddle {

// By the first block of a ProgramDesc.
bool is_pdmodel(std::string_view bytes);
// By what wrote the JSON.
bool is_json(std::string_view bytes);
// `name` becomes the graph's name. See joulecast/import.h for the errors; they do not name the file.
Result<Graph> import_pdmodel(std::string_view bytes, std::string_view name);
Result<Graph> import_json(std::string_view bytes, std::string_view name);

}  // namespace joulecast::paddle
