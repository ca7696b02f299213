// SPDX-License-Identifier: Apache-2.0
#include "measure/mark_listener.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "measure/mark_line.h"
#include "power/sensor.h"

namespace joulecast {
namespace {

constexpr int kReceiveBuffer = 4 * 1024 * 1024;

tl::unexpected<Error> failed(const char* what) {
  return io_error(fmt::format("cannot {}: {}", what, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
}

// Of the process that sent a message, as the kernel vouches for it; absent for those of another user.
std::optional<std::int64_t> sender_of(msghdr& message) {
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_CREDENTIALS) continue;
    ucred who{};
    std::memcpy(&who, CMSG_DATA(header), sizeof(who));
    if (who.uid != ::getuid() && who.uid != 0) return std::nullopt;
    return who.pid;
  }
  return std::nullopt;
}

std::string random_name() {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof(random), 0) != sizeof(random)) random = static_cast<std::uint64_t>(monotonic_now());
  return fmt::format("joulecast-{}-{:016x}", ::getpid(), random);
}

}  // namespace

Result<std::unique_ptr<MarkListener>> MarkListener::start(std::function<void(const Event&)> heard) {
  std::unique_ptr<MarkListener> listener(new MarkListener(std::move(heard)));
  JC_RETURN_IF_ERROR(listener->open());
  listener->thread_ = std::thread([raw = listener.get()] { raw->listen(); });
  return listener;
}

Result<void> MarkListener::open() {
  started_ = monotonic_now();
  wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  socket_ = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (wake_ < 0 || socket_ < 0) return failed("open a socket for marks");
  const int yes = 1;
  ::setsockopt(socket_, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes));
  ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof(kReceiveBuffer));
  name_ = random_name();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::copy(name_.begin(), name_.end(), address.sun_path + 1);  // the zero in front: no file
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name_.size());
  if (::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size) != 0) return failed("name a socket for marks");
  // The reading end never blocks us; the writing end is left to the children.
  if (::pipe2(pipe_, O_CLOEXEC) != 0) return failed("open a pipe for marks");
  ::fcntl(pipe_[0], F_SETFL, O_NONBLOCK);
  return {};
}

MarkListener::~MarkListener() {
  stop();
  for (const int descriptor : {socket_, pipe_[0], pipe_[1], wake_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

std::vector<std::pair<std::string, std::string>> MarkListener::environment() const {
  return {{"JOULECAST_MARKS", "@" + name_}, {"JOULECAST_MARKS_FD", std::to_string(pipe_[1])}};
}

void MarkListener::stop() {
  if (!thread_.joinable()) return;
  stopping_ = true;
  const std::uint64_t one = 1;
  // The counter cannot be full, and a wake-up that is there already is as good.
  [[maybe_unused]] const ssize_t done = ::write(wake_, &one, sizeof(one));
  thread_.join();
}

void MarkListener::listen() {
  std::array<pollfd, 3> waits{pollfd{socket_, POLLIN, 0}, pollfd{pipe_[0], POLLIN, 0}, pollfd{wake_, POLLIN, 0}};
  while (true) {
    // Asked first, so that what came before the wish to stop is still heard.
    const bool last = stopping_;
    while (take_datagram()) {
    }
    while (take_pipe()) {
    }
    if (last) return;
    ::poll(waits.data(), waits.size(), -1);
  }
}

bool MarkListener::take_datagram() {
  std::array<char, kMaxMarkLine + 1> bytes{};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred))> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(socket_, &message, 0);
  if (size < 0) return errno == EINTR;
  if (const auto sender = sender_of(message)) {
    take({bytes.data(), static_cast<std::size_t>(size)}, *sender);
  } else {
    ++refused_;
  }
  return true;
}

bool MarkListener::take_pipe() {
  std::array<char, 4096> bytes{};
  const ssize_t size = ::read(pipe_[0], bytes.data(), bytes.size());
  if (size <= 0) return size < 0 && errno == EINTR;
  rest_.append(bytes.data(), static_cast<std::size_t>(size));
  for (std::size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n')) {
    take(std::string_view(rest_).substr(0, end), kUnknownTrack);
    rest_.erase(0, end + 1);
  }
  if (rest_.size() > kMaxMarkLine) {
    ++refused_;
    rest_.clear();
  }
  return true;
}

void MarkListener::take(std::string_view line, std::int64_t sender) {
  const MonotonicUs now = monotonic_now();
  auto mark = parse_mark_line(line);
  if (!mark) {
    ++refused_;
  } else if (mark->name.empty()) {
    lost_ += mark->lost;
  } else {
    // Nobody can know what comes after now, and nothing was measured before the start.
    const MonotonicUs time = std::clamp(mark->time.value_or(now), started_, now);
    heard_({time, mark->kind, sender, std::move(mark->name), std::move(mark->details)});
  }
}

}  // namespace joulecast
