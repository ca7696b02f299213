// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace joulecast {

// Without the spaces around it.
constexpr std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace joulecast
