// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "joulecast/result.h"

namespace joulecast {

// Where a file of that name is to be written, links followed, so that a link stays one. Errors: kInvalidInput for what
// is there and is no regular file (a device, a pipe, a folder), naming the path.
Result<std::string> output_file(const std::string& path);

// What is read may be gone, or changed underfoot, where it is written too. Errors: kInvalidInput where `path` is the
// same file as one of the inputs, however it is called.
Result<void> check_no_input(const std::string& path, std::span<const std::string> inputs);

// The same where files of a folder are read: errors where `path` is there and lies in it. No folder, no error.
Result<void> check_not_in(const std::string& path, const std::string& folder);

}  // namespace joulecast
