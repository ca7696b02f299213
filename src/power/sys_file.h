// SPDX-License-Identifier: Apache-2.0
// The small text files of /sys.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "joulecast/result.h"

namespace joulecast {

// A file that is read again and again; kept open. It holds one whole number.
class SysFile {
 public:
  static Result<SysFile> open(const std::filesystem::path& path);  // kNotFound, kIo
  SysFile(SysFile&& other) noexcept;
  SysFile& operator=(SysFile&& other) noexcept;
  SysFile(const SysFile&) = delete;
  SysFile& operator=(const SysFile&) = delete;
  ~SysFile();

  [[nodiscard]] Result<std::int64_t> number() const;

 private:
  SysFile(int descriptor, std::string path);
  int descriptor_ = -1;
  std::string path_;
};

// First line without its end; absent where it cannot be read.
std::optional<std::string> read_text(const std::filesystem::path& path);
std::optional<std::int64_t> read_number(const std::filesystem::path& path);

}  // namespace joulecast
