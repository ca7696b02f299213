// SPDX-License-Identifier: Apache-2.0
#include "base/lower_case.h"

#include <algorithm>

namespace joulecast {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

}  // namespace joulecast
