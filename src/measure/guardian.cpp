// SPDX-License-Identifier: Apache-2.0
#include "measure/guardian.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "measure/process_session.h"

namespace joulecast {
namespace {

constexpr char kDone = '\n';                       // alone on a line: all was put back
constexpr std::string_view kSession = "session ";  // and its number; other lines are paths of journals
constexpr char kTaken = '+';
constexpr char kRefused = '-';

// Its own session, so that Ctrl-C and the end of a terminal pass it by; nothing of ours is held open but the messages.
void stand_aside(int line) {
  ::setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGUSR1, SIGUSR2}) {
    std::signal(signal, SIG_IGN);
  }
  ::prctl(PR_SET_NAME, "joulecast-guard");
  if (::chdir("/") != 0) return;  // a folder that is in the way of nobody; not needed
  const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  ::dup2(null, STDIN_FILENO);
  ::dup2(null, STDOUT_FILENO);
  const unsigned first = STDERR_FILENO + 1;
  if (static_cast<unsigned>(line) > first) ::close_range(first, static_cast<unsigned>(line) - 1, 0);
  ::close_range(static_cast<unsigned>(line) + 1, ~0U, 0);
}

// Up to the next end of a line; false where the other side is gone.
bool read_line(int line, std::string& out) {
  out.clear();
  while (true) {
    char letter = 0;
    const ssize_t size = ::read(line, &letter, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    if (letter == '\n') return true;
    out += letter;
  }
}

int put_back(const RestoreJournal& journal) {
  const auto restored = restore_journal(journal);
  if (restored) {
    for (const std::string& done : *restored) fmt::print(stderr, "joulecast: guardian: put back {}\n", done);
    return 0;
  }
  fmt::print(stderr, "joulecast: guardian: {}\nhint: joulecast restore tries again\n", restored.error().text());
  return 1;
}

[[noreturn]] void keep_watch(int line) {
  stand_aside(line);
  RestoreJournal journal;
  pid_t session = 0;
  std::string text;
  while (read_line(line, text)) {
    if (text.empty()) ::_exit(0);
    if (text.starts_with(kSession)) {
      session = static_cast<pid_t>(std::strtol(text.c_str() + kSession.size(), nullptr, 10));
      continue;
    }
    auto read = read_journal(text);
    const char answer = read ? kTaken : kRefused;
    if (read) journal = *std::move(read);
    [[maybe_unused]] const ssize_t size = ::write(line, &answer, 1);
  }
  // Settings do not wait for a program that takes its time to end.
  const bool running = session > 0 && signal_session(session, SIGTERM);
  const int code = journal.path.empty() ? 0 : put_back(journal);
  if (running) await_session_end(session, kEndGrace);
  ::_exit(code);
}

}  // namespace

Result<std::unique_ptr<Guardian>> Guardian::start() {
  std::array<int, 2> line{};
  const auto failed = [](const char* what) {
    return io_error(fmt::format("guardian: {}: {}", what, std::strerror(errno)));  // NOLINT(concurrency-mt-unsafe)
  };
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, line.data()) != 0) return failed("socketpair");
  std::fflush(nullptr);  // what waits in buffers would be written twice
  const pid_t process = ::fork();
  if (process == 0) {
    ::close(line[0]);
    keep_watch(line[1]);
  }
  ::close(line[1]);
  if (process < 0) {
    ::close(line[0]);
    return failed("fork");
  }
  return std::unique_ptr<Guardian>(new Guardian(process, line[0]));
}

Guardian::~Guardian() {
  bury();
}

// The guardian ends by itself once its line does, after it put back what was not dismissed.
void Guardian::bury() {
  if (line_ < 0) return;
  ::close(std::exchange(line_, -1));
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> Guardian::protect(std::vector<FoundSettings> found, const std::string& purpose) {
  journal_ = {{},      this_host(),     this_boot(), mark_process(::getpid()), mark_process(process_),
              purpose, std::move(found)};
  JC_RETURN_IF_ERROR(write_journal(journal_));
  const std::string message = journal_.path + "\n";
  char answer = kRefused;
  const bool sent = ::send(line_, message.data(), message.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(message.size());
  if (sent && ::recv(line_, &answer, 1, 0) == 1 && answer == kTaken) return {};
  remove_journal(journal_);
  journal_ = {};
  return io_error("the guardian process does not answer; nothing was changed");
}

void Guardian::end_with_us(pid_t session) {
  const std::string message = fmt::format("{}{}\n", kSession, session);
  [[maybe_unused]] const ssize_t size = ::send(line_, message.data(), message.size(), MSG_NOSIGNAL);
}

void Guardian::dismiss() {
  [[maybe_unused]] const ssize_t size = ::send(line_, &kDone, 1, MSG_NOSIGNAL);
  remove_journal(journal_);
  bury();
}

}  // namespace joulecast
