// SPDX-License-Identifier: Apache-2.0
// Names of a model file as text that may be printed.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace joulecast {

inline constexpr std::size_t kLongestInError = 200;
inline constexpr std::size_t kLongestInGraph = 1000;

// Valid UTF-8 without control characters: other bytes become \xNN. About `longest` bytes of the name, then "...".
std::string printable(std::string_view name, std::size_t longest = kLongestInError);

}  // namespace joulecast
