// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace joulecast {

// The folder of the running program, links resolved. Empty where /proc does not tell.
std::string program_folder();

}  // namespace joulecast
