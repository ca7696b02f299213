// SPDX-License-Identifier: Apache-2.0
#include "base/program_folder.h"

#include <unistd.h>

#include <array>

namespace joulecast {

std::string program_folder() {
  std::array<char, 4096> buffer{};
  const ssize_t length = ::readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (length <= 0) return {};
  const std::string path(buffer.data(), static_cast<std::size_t>(length));
  return path.substr(0, path.find_last_of('/'));
}

}  // namespace joulecast
