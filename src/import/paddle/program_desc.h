// SPDX-License-Identifier: Apache-2.0
// Paddle 2's ProgramDesc (.pdmodel), a message of protobuf.
#pragma once

#include <string_view>

#include "import/paddle/program.h"

namespace joulecast::paddle {

bool is_program_desc(std::string_view bytes);

// Errors: kInvalidInput naming block, operator and attribute; kUnsupported beyond the limits.
Result<Program> read_program_desc(std::string_view bytes);

}  // namespace joulecast::paddle
