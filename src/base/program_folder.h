// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace joulecast {

// The folder of the running program, or of the shared library that this code is in; links resolved. Empty where the
// system does not tell.
std::string program_folder();

}  // namespace joulecast
