// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace joulecast {

// With small letters for A to Z, whatever the locale.
std::string lower_case(std::string_view text);

}  // namespace joulecast
