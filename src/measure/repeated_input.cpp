// SPDX-License-Identifier: Apache-2.0
#include "measure/repeated_input.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace joulecast {

RepeatedInput::RepeatedInput(int descriptor) : descriptor_(descriptor), empty_(at_end()) {
  struct stat what {};
  if (::fstat(descriptor_, &what) != 0 || !S_ISREG(what.st_mode)) return;
  if (const off_t start = ::lseek(descriptor_, 0, SEEK_CUR); start >= 0) start_ = start;
}

RepeatedInput::Left RepeatedInput::begin_run() {
  if (std::exchange(first_, false)) return Left::kAll;
  if (start_) return ::lseek(descriptor_, *start_, SEEK_SET) == *start_ ? Left::kAll : Left::kUnknown;
  return !empty_ && at_end() ? Left::kNothing : Left::kUnknown;
}

// Of a pipe or socket: nobody writes to it any more, and nothing is left in it.
bool RepeatedInput::at_end() const {
  struct stat what {};
  if (::fstat(descriptor_, &what) != 0 || !(S_ISFIFO(what.st_mode) || S_ISSOCK(what.st_mode))) return false;
  pollfd input{descriptor_, POLLIN | POLLRDHUP, 0};
  if (::poll(&input, 1, 0) <= 0 || (input.revents & (POLLHUP | POLLRDHUP)) == 0) return false;
  int left = 0;
  return ::ioctl(descriptor_, FIONREAD, &left) == 0 && left == 0;
}

}  // namespace joulecast
