// SPDX-License-Identifier: Apache-2.0
#include "base/output_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

namespace joulecast {

namespace fs = std::filesystem;

Result<std::string> output_file(const std::string& path) {
  std::error_code ignored;
  const fs::file_status there = fs::status(path, ignored);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return invalid(path + (fs::is_directory(there) ? ": is a folder" : ": is no regular file"));
  }
  // What a link names need not be there yet; a circle of links is an error of whoever opens it.
  constexpr int kMostLinks = 40;
  fs::path real = path;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(real, ignored)); ++i) {
    real = real.parent_path() / fs::read_symlink(real, ignored);
  }
  return real.string();
}

Result<void> check_no_input(const std::string& path, std::span<const std::string> inputs) {
  for (const std::string& input : inputs) {
    std::error_code absent;
    if (fs::equivalent(path, input, absent)) return invalid(path + ": is read, and would be overwritten");
  }
  return {};
}

Result<void> check_not_in(const std::string& path, const std::string& folder) {
  std::error_code none;
  const fs::path parent = fs::absolute(path, none).parent_path();
  if (folder.empty() || !fs::exists(path, none) || !fs::equivalent(parent, folder, none)) return {};
  return invalid(fmt::format("{}: is there, in a folder that is read ({})", path, folder));
}

}  // namespace joulecast
