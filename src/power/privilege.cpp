// SPDX-License-Identifier: Apache-2.0
#include "power/privilege.h"

#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>

namespace joulecast {

bool has_system_admin(const std::string& status) {
  constexpr std::string_view kKey = "CapEff:\t";
  constexpr std::uint64_t kSystemAdmin = std::uint64_t{1} << 21;  // linux/capability.h
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return true;
  std::uint64_t bits = 0;
  const char* const begin = status.data() + at + kKey.size();
  const auto [end, error] = std::from_chars(begin, status.data() + status.size(), bits, 16);
  return error != std::errc() || (bits & kSystemAdmin) != 0;
}

bool may_change_settings() {
  if (::geteuid() != 0) return false;
  std::ifstream file("/proc/self/status");
  return has_system_admin({std::istreambuf_iterator<char>(file), {}});
}

}  // namespace joulecast
