// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_claim.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace joulecast {
namespace {

// A byte a repetition; the byte need not be there.
bool lock_byte(int file, std::size_t repetition) {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = static_cast<off_t>(repetition);
  range.l_len = 1;
  return ::fcntl(file, F_OFD_SETLK, &range) == 0 || (errno != EAGAIN && errno != EACCES);
}

}  // namespace

Result<SweepClaim> SweepClaim::take(const std::string& folder, const std::set<std::size_t>& repetitions) {
  const std::string path = folder + kSweepLockFile;
  SweepClaim claim(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (claim.file_ < 0) {
    return io_error(fmt::format("{}: {}", path, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  }
  for (const std::size_t repetition : repetitions) {
    if (!lock_byte(claim.file_, repetition)) {
      return tl::unexpected<Error>(Error{
          ErrorCode::kDevice, fmt::format("{}: repetition {} is being measured by another process, here or elsewhere",
                                          folder, repetition)});
    }
  }
  return claim;
}

SweepClaim& SweepClaim::operator=(SweepClaim&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

SweepClaim::~SweepClaim() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace joulecast
