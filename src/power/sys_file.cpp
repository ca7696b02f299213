// SPDX-License-Identifier: Apache-2.0
#include "power/sys_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>

namespace joulecast {
namespace {

constexpr std::size_t kMostBytes = 64;  // of a file with one number

std::string why() {
  return std::strerror(errno);  // NOLINT(concurrency-mt-unsafe)
}

std::optional<std::int64_t> parse(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

Result<SysFile> SysFile::open(const std::filesystem::path& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0 && errno == ENOENT) return not_found(fmt::format("{}: {}", path.string(), why()));
  if (descriptor < 0) return io_error(fmt::format("{}: {}", path.string(), why()));
  return SysFile(descriptor, path.string());
}

SysFile::SysFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}

SysFile::SysFile(SysFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

SysFile& SysFile::operator=(SysFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

SysFile::~SysFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<std::int64_t> SysFile::number() const {
  std::array<char, kMostBytes> bytes{};
  const ssize_t size = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
  if (size < 0) return io_error(fmt::format("{}: {}", path_, why()));
  const auto value = parse({bytes.data(), static_cast<std::size_t>(size)});
  if (!value) return invalid(fmt::format("{}: holds no whole number", path_));
  return *value;
}

std::optional<std::string> read_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<std::int64_t> read_number(const std::filesystem::path& path) {
  const auto text = read_text(path);
  return text ? parse(*text) : std::nullopt;
}

}  // namespace joulecast
