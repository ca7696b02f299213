// SPDX-License-Identifier: Apache-2.0
#include "profile/processor.h"

#include <fstream>
#include <string_view>

namespace joulecast::profile {

std::string processor_name(const std::string& cpuinfo) {
  constexpr std::string_view kKey = "model name";
  std::ifstream in(cpuinfo);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(kKey)) continue;
    const std::size_t begin = line.find_first_not_of("\t :", kKey.size());
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

}  // namespace joulecast::profile
