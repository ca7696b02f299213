// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "import/torchscript/syntax.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

// The classes and functions of one member of code/. Borrows the text and the memory. Errors name path and line:
// kInvalidInput for what is not of the serializer's Python; kUnsupported for what nests deeper than 200 or has more
// than 2 million parts.
Result<Source> parse_source(std::string_view text, std::string path, SourceMemory& memory);

}  // namespace joulecast::torchscript
