// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast {

// All of it, however many calls that takes; `path` is for the error. Errors: kIo.
Result<void> write_all(int descriptor, std::string_view bytes, const std::string& path);

// The file is the old one or the new one, on the disk, whatever happens: until it is whole it has another name.
// Errors: kIo.
Result<void> replace_file(const std::string& path, std::string_view text);

}  // namespace joulecast
