// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "import/torchscript/syntax.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

// The classes and functions of one member of code/. Borrows the text and the memory. Errors name the line:
// kInvalidInput for what is not of the serializer's Python; kUnsupported for what nests deeper than 200 or has more
// than 2 million parts.
Result<Syntax> parse(std::string_view text, SourceMemory& memory);

}  // namespace joulecast::torchscript
