// SPDX-License-Identifier: Apache-2.0
// Files of TensorFlow Lite (.tflite).
#pragma once

#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast::tflite {

// By the identifier behind the first offset.
bool recognises(std::string_view bytes);
// `name` becomes the graph's name. See joulecast/import.h for the errors; they do not name the file.
Result<Graph> import_tflite(std::string_view bytes, std::string_view name);

}  // namespace joulecast::tflite
