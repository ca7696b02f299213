// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace joulecast::cli {

// "0.1.0".
std::string_view version();

// "joulecast 0.1.0" and a line for each thing that has a version of its own.
std::string version_text();

}  // namespace joulecast::cli
