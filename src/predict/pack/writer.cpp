// SPDX-License-Identifier: Apache-2.0
#include "predict/pack/writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <span>

#include "predict/pack/hash.h"
#include "predict/pack/layout.h"

namespace joulecast {
namespace {

using namespace pack_layout;

void append(std::vector<std::byte>& bytes, const void* data, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), begin, begin + size);
}

tl::unexpected<Error> failed(const std::string& path) {
  return io_error(fmt::format("{}: {}", path, std::strerror(errno)));
}

bool write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  // Asked for before the rename, so that a power failure leaves the old file or the new one, never an empty one.
  return ::fsync(fd) == 0;
}

// A new file beside `path`, with the permissions any new file gets (mkstemp's are 0600).
int open_beside(const std::string& path, std::string& name) {
  for (int attempt = 0;; ++attempt) {
    name = fmt::format("{}.{}-{}", path, ::getpid(), attempt);
    const int fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0 || errno != EEXIST || attempt == 100) return fd;
  }
}

}  // namespace

Result<void> PackWriter::add(std::uint32_t kind, const std::string& name, std::vector<std::byte> bytes) {
  if (name.empty() || name.size() >= sizeof(Section::name) || name.find('\0') != std::string::npos) {
    return invalid(fmt::format("'{}' cannot name a section of a pack", name));
  }
  if (sections_.size() == kMaxSections) return unsupported(fmt::format("more than {} sections", kMaxSections));
  const Key key(kind, name);
  if (sections_.find(key) != sections_.end()) {
    return invalid(fmt::format("the pack already has a '{}' of this kind", name));
  }
  sections_[key] = std::move(bytes);
  return {};
}

Result<void> PackWriter::add_forest(const std::string& name, const Forest& forest) {
  auto image = lay_out(forest);
  if (!image) return tl::unexpected(std::move(image).error().in(fmt::format("forest '{}'", name)));
  const auto bytes = image->bytes();
  return add(static_cast<std::uint32_t>(SectionKind::kForest), name, {bytes.begin(), bytes.end()});
}

Result<void> PackWriter::add_table(const std::string& name, const std::map<std::string, double>& numbers) {
  std::vector<double> values;
  std::vector<std::uint32_t> ends;
  std::string text;
  for (const auto& [key, value] : numbers) {
    if (!std::isfinite(value)) return invalid(fmt::format("table '{}': '{}' is {}", name, key, value));
    values.push_back(value);
    text += key;
    if (text.size() > std::numeric_limits<std::uint32_t>::max()) return unsupported("keys of more than 4 GiB");
    ends.push_back(static_cast<std::uint32_t>(text.size()));
  }
  const TableHeader header{static_cast<std::uint32_t>(values.size()), static_cast<std::uint32_t>(text.size())};
  std::vector<std::byte> bytes;
  append(bytes, &header, sizeof(header));
  append(bytes, values.data(), values.size() * sizeof(double));
  append(bytes, ends.data(), ends.size() * sizeof(std::uint32_t));
  append(bytes, text.data(), text.size());
  return add(static_cast<std::uint32_t>(SectionKind::kTable), name, std::move(bytes));
}

Result<void> PackWriter::add_json(const std::string& name, const std::string& text) {
  std::vector<std::byte> bytes;
  append(bytes, text.data(), text.size());
  return add(static_cast<std::uint32_t>(SectionKind::kJson), name, std::move(bytes));
}

Result<void> PackWriter::add_forests_of(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(const std::vector<Pack::RawSection> sections, pack.raw_sections());
  for (const Pack::RawSection& s : sections) {
    if (s.kind != SectionKind::kForest) continue;
    JC_RETURN_IF_ERROR(add(static_cast<std::uint32_t>(s.kind), std::string(s.name), {s.bytes.begin(), s.bytes.end()}));
  }
  return {};
}

std::vector<std::byte> PackWriter::bytes() const {
  std::vector<Section> directory;
  const std::size_t directory_end = sizeof(Header) + sections_.size() * sizeof(Section);
  std::size_t end = directory_end;
  for (const auto& [key, bytes] : sections_) {
    Section section{};
    std::copy(key.second.begin(), key.second.end(), section.name.begin());
    section.kind = SectionKind{key.first};
    section.offset = aligned(end);
    section.size = bytes.size();
    section.checksum = xxh64(bytes);
    directory.push_back(section);
    end = section.offset + section.size;
  }
  Header header{kMagic, kVersion, static_cast<std::uint32_t>(directory.size()), end, 0};
  std::vector<std::byte> out;
  out.reserve(end);
  append(out, &header, sizeof(header));
  append(out, directory.data(), directory.size() * sizeof(Section));
  header.checksum = xxh64(out);
  std::memcpy(out.data(), &header, sizeof(header));
  for (const auto& [key, bytes] : sections_) {
    out.resize(aligned(out.size()));
    append(out, bytes.data(), bytes.size());
  }
  return out;
}

Result<void> PackWriter::check_writable(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    // write() would put a file in the place of /dev/null.
    return io_error(fmt::format("{}: {}", path, S_ISDIR(info.st_mode) ? "a folder" : "not a regular file"));
  }
  std::string temporary;
  const int fd = open_beside(path, temporary);
  if (fd < 0) return failed(path);
  ::close(fd);
  ::unlink(temporary.c_str());
  return {};
}

Result<void> PackWriter::write(const std::string& path) const {
  std::string temporary;
  const int fd = open_beside(path, temporary);
  if (fd < 0) return failed(path);
  bool good = write_all(fd, bytes());
  int error = errno;
  if (::close(fd) != 0 && good) {
    good = false;
    error = errno;
  }
  if (good && std::rename(temporary.c_str(), path.c_str()) == 0) return {};
  if (good) error = errno;
  ::unlink(temporary.c_str());
  errno = error;
  return failed(path);
}

}  // namespace joulecast
