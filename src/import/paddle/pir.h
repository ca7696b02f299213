// SPDX-License-Identifier: Apache-2.0
// Paddle 3's program in its intermediate representation PIR, as JSON (inference.json).
#pragma once

#include <string_view>

#include "import/json.h"
#include "import/paddle/program.h"

namespace joulecast::paddle {

bool is_pir(std::string_view bytes);

// `document` has to stay as long as the program. Errors: kInvalidInput naming the operator and what it lacks;
// kUnsupported beyond the limits.
Result<Program> read_pir(const JsonDocument& document);
// What of the JSON is not looked at.
Result<JsonDocument> parse_pir(std::string_view bytes);

}  // namespace joulecast::paddle
