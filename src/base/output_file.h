// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "joulecast/result.h"

namespace joulecast {

// Where a file of that name is to be written, links followed, so that a link stays one. Errors: kInvalidInput for what
// is there and is no regular file (a device, a pipe, a folder), naming the path.
Result<std::string> output_file(const std::string& path);

}  // namespace joulecast
