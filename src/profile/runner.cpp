// SPDX-License-Identifier: Apache-2.0
#include "profile/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "power/sensor.h"
#include "profile/last_line.h"
#include "profile/program_text.h"

namespace joulecast::profile {
namespace {

// No reply is longer; a runner that writes more has gone wrong.
constexpr std::size_t kLongestLine = std::size_t{64} << 10;
constexpr int kCannotStart = 127;

ErrorCode code_of(std::string_view kind) {
  if (kind == "unsupported") return ErrorCode::kUnsupported;
  if (kind == "protocol") return ErrorCode::kInvalidInput;
  return ErrorCode::kDevice;
}

// At least the two that matter: "0.5", "7", "120".
std::string two_digits(double seconds) {
  constexpr double kTen = 10;
  return seconds < kTen ? fmt::format("{:.2g}", seconds) : fmt::format("{:.0f}", seconds);
}

// In the child, between fork and exec: only what is safe there.
[[noreturn]] void become(const std::vector<char*>& words, const std::vector<char*>& environment, int socket, int log) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // Ctrl-C is for us: we end the campaign in order
  dup2(socket, STDIN_FILENO);
  dup2(socket, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execvpe(words[0], words.data(), environment.data());
  _exit(kCannotStart);
}

// Our own environment with these on top, as "NAME=value".
std::vector<std::string> environment_with(const RunnerProcess::Environment& more) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(more.begin(), more.end(),
                                      [&](const auto& one) { return text.substr(0, text.find('=')) == one.first; });
    if (!replaced) out.emplace_back(text);
  }
  for (const auto& [name, value] : more) out.push_back(fmt::format("{}={}", name, value));
  return out;
}

// As exec wants them. Requires: the texts live as long.
std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  out.reserve(texts.size() + 1);
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

}  // namespace

Result<Reply> Reply::parse(std::string_view line) {
  Reply out;
  std::size_t at = std::min(line.find(' '), line.size());
  const std::string_view verdict = line.substr(0, at);
  while (at < line.size()) {
    const std::size_t begin = at + 1, end = std::min(line.find(' ', begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      out.values_.emplace(word.substr(0, equals), unescaped(word.substr(equals + 1)));
    }
    at = end;
  }
  if (verdict == "ok") return out;
  if (verdict != "error") return invalid(fmt::format("'{}' is no reply of a runner", escaped(line.substr(0, 80))));
  return tl::unexpected<Error>(Error{code_of(out.text("kind")), out.text("text")});
}

const std::string& Reply::text(std::string_view key) const {
  static const std::string absent;
  const auto at = values_.find(key);
  return at == values_.end() ? absent : at->second;
}

template <typename Number>
static std::optional<Number> number(const std::string& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::int64_t> Reply::integer(std::string_view key) const {
  return number<std::int64_t>(text(key));
}

std::optional<double> Reply::real(std::string_view key) const {
  return number<double>(text(key));
}

std::int64_t Runner::now_us() const {
  return monotonic_now();
}

Result<std::unique_ptr<RunnerProcess>> RunnerProcess::start(const std::vector<std::string>& command,
                                                            const std::string& log, const Environment& environment) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return io_error(fmt::format("socketpair: {}", std::strerror(errno)));
  }
  const int log_file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (log_file < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    return io_error(fmt::format("{}: {}", log, std::strerror(error)));
  }
  const std::int64_t log_begin = lseek(log_file, 0, SEEK_END);
  std::vector<std::string> command_texts = command, environment_texts = environment_with(environment);
  const std::vector<char*> words = pointers(command_texts), variables = pointers(environment_texts);
  const pid_t pid = fork();
  if (pid == 0) become(words, variables, ends[1], log_file);
  close(ends[1]);
  close(log_file);
  if (pid < 0) {
    close(ends[0]);
    return io_error(fmt::format("fork: {}", std::strerror(errno)));
  }
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return std::unique_ptr<RunnerProcess>(new RunnerProcess(pid, ends[0], log, log_begin));
}

std::string RunnerProcess::last_words() const {
  return last_line(log_, log_begin_);
}

RunnerProcess::~RunnerProcess() {
  (void)end();
}

std::string RunnerProcess::end() {
  if (pid_ <= 0) return "the runner is gone";
  close(to_);
  // Its end may have been why nothing came: give it a moment to be seen before it is killed.
  int status = 0;
  pid_t ended = 0;
  for (int i = 0; i < 50 && ended == 0; ++i) {
    ended = waitpid(pid_, &status, WNOHANG);
    if (ended == 0) usleep(10'000);
  }
  if (ended == 0) {
    kill(-pid_, SIGKILL);
    kill(pid_, SIGKILL);
    waitpid(pid_, &status, 0);
    pid_ = 0;
    return "the runner was killed";
  }
  pid_ = 0;
  if (WIFSIGNALED(status))
    return fmt::format("the runner ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == kCannotStart) return "the runner could not be started";
  return fmt::format("the runner ended with code {}", WEXITSTATUS(status));
}

Result<void> RunnerProcess::wait_for(int descriptor, short events, const Limit& limit) {
  constexpr std::int64_t kOftenMs = 50;  // `over` may be told by a signal that another thread takes
  while (true) {
    if (limit.over && limit.over()) return tl::unexpected<Error>(Error{ErrorCode::kTimeout, "stopped"});
    const std::int64_t left = limit.deadline_us - monotonic_now();
    if (left <= 0) return tl::unexpected<Error>(Error{ErrorCode::kTimeout, "the runner does not answer"});
    pollfd one{descriptor, events, 0};
    const std::int64_t longest = limit.over ? kOftenMs : 1'000'000;
    const int ready = poll(&one, 1, static_cast<int>(std::min(left / 1000 + 1, longest)));
    if (ready > 0) return {};
    if (ready < 0 && errno != EINTR) return io_error(fmt::format("poll: {}", std::strerror(errno)));
  }
}

Result<void> RunnerProcess::send(std::string_view lines, const Limit& limit) {
  while (!lines.empty()) {
    JC_RETURN_IF_ERROR(wait_for(to_, POLLOUT, limit));
    const ssize_t sent = ::send(to_, lines.data(), lines.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return io_error(std::strerror(errno));
    if (sent > 0) lines.remove_prefix(static_cast<std::size_t>(sent));
  }
  return {};
}

Result<std::string> RunnerProcess::line(const Limit& limit) {
  while (true) {
    const std::size_t end = read_.find('\n');
    if (end != std::string::npos) {
      std::string out = read_.substr(0, end);
      read_.erase(0, end + 1);
      return out;
    }
    if (read_.size() > kLongestLine) return invalid("the runner's reply has no end");
    JC_RETURN_IF_ERROR(wait_for(from_, POLLIN, limit));
    std::array<char, 4096> buffer{};
    const ssize_t got = recv(from_, buffer.data(), buffer.size(), 0);
    if (got == 0) return io_error("it closed its output");
    if (got < 0 && errno != EAGAIN && errno != EINTR) return io_error(std::strerror(errno));
    if (got > 0) read_.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

Result<Reply> RunnerProcess::request(std::string_view lines, Seconds timeout, const std::function<bool()>& over) {
  if (pid_ <= 0) return io_error("the runner is gone");
  const Limit limit{monotonic_now() + static_cast<std::int64_t>(timeout.value() * 1e6), over};
  auto sent = send(lines, limit);
  Result<std::string> reply = sent ? line(limit) : tl::unexpected<Error>(std::move(sent).error());
  if (reply) return Reply::parse(*reply);
  const ErrorCode code = reply.error().code();
  const std::string why = end();
  if (code == ErrorCode::kTimeout) {
    return tl::unexpected<Error>(Error{code, fmt::format("no answer in {} s; {}", two_digits(timeout.value()), why)});
  }
  return io_error(why);
}

}  // namespace joulecast::profile
