// SPDX-License-Identifier: Apache-2.0
#include "profile/last_line.h"

#include <algorithm>
#include <fstream>

namespace joulecast::profile {

std::string last_line(const std::string& path, std::int64_t from) {
  constexpr std::int64_t kEnough = 4096;
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const std::int64_t size = in.tellg();
  in.seekg(std::max({std::int64_t{0}, from, size - kEnough}));
  std::string line, last;
  while (std::getline(in, line)) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace joulecast::profile
