// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace joulecast {
namespace {

tl::unexpected<Error> failed(const std::string& path) {
  return io_error(path + ": cannot be written: " + std::strerror(errno));  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

Result<void> write_all(int descriptor, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return failed(path);
    if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

Result<void> replace_file(const std::string& path, std::string_view text) {
  // Of this process alone: two that replace the same file do not write into each other's.
  const std::string unfinished = path + "." + std::to_string(::getpid()) + ".part";
  const int descriptor = ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return failed(path);
  auto written = write_all(descriptor, text, path);
  if (written && ::fsync(descriptor) != 0) written = failed(path);
  ::close(descriptor);
  if (written && ::rename(unfinished.c_str(), path.c_str()) != 0) written = failed(path);
  if (!written) ::unlink(unfinished.c_str());
  return written;
}

}  // namespace joulecast
