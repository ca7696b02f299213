// SPDX-License-Identifier: Apache-2.0
#include "measure/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace joulecast {
namespace {

constexpr int kNotFound = 127;
constexpr int kNotExecutable = 126;
constexpr int kOfSignal = 128;
constexpr std::array kStops{SIGINT, SIGTERM, SIGHUP, SIGQUIT};
// Nothing to us, but maybe to the child: schedulers warn with them that a job's time is nearly over. Real-time signals
// too. Those that stop and continue a job stay what they are: they hold us up as they do the child.
constexpr std::array kMessages{SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGXCPU, SIGWINCH, SIGURG};

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kStops) sigaddset(&set, signal);
  for (const int signal : kMessages) sigaddset(&set, signal);
  for (int signal = SIGRTMIN; signal <= SIGRTMAX; ++signal) sigaddset(&set, signal);
  sigaddset(&set, SIGCHLD);
  return set;
}

bool asks_to_stop(int signal) {
  return std::find(kStops.begin(), kStops.end(), signal) != kStops.end();
}

// What went wrong between fork and exec.
struct Fault {
  int error = 0;
  bool of_folder = false;  // else of the program
};

// Between fork and exec only what is safe there.
[[noreturn]] void become(const std::vector<char*>& words, const ChildOptions& options, int report) {
  for (const int descriptor : options.inherited) ::fcntl(descriptor, F_SETFD, 0);
  if (const int out = options.quiet ? ::open("/dev/null", O_WRONLY) : options.output.value_or(-1); out >= 0) {
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
  }
  if (options.own_session) {
    ::setsid();
    if (const int nothing = ::open("/dev/null", O_RDONLY); nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  }
  if (options.dies_with_us) ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  const bool there = options.folder.empty() || ::chdir(options.folder.c_str()) == 0;
  if (there) ::execvp(words.front(), words.data());
  const Fault fault{errno, !there};
  [[maybe_unused]] const ssize_t done = ::write(report, &fault, sizeof(fault));
  ::_exit(kNotFound);
}

NotStarted not_started(const Fault& fault, const std::string& program, const std::string& folder = {}) {
  const char* why = std::strerror(fault.error);  // NOLINT(concurrency-mt-unsafe)
  if (fault.of_folder) return {kNotExecutable, fmt::format("{}: not started, its folder {}: {}", program, folder, why)};
  return {fault.error == ENOENT ? kNotFound : kNotExecutable, fmt::format("{}: {}", program, why)};
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// One of the set, or nothing in that time.
int next_signal(const sigset_t& set, std::chrono::nanoseconds time, siginfo_t* came) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
  const timespec wait{whole.count(), (time - whole).count()};
  return ::sigtimedwait(&set, came, &wait);
}

double seconds(const timeval& time) {
  constexpr double kMicro = 1e-6;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * kMicro;
}

ChildEnd end_of(int status, const rusage& usage) {
  ChildEnd end;
  if (WIFSIGNALED(status)) {
    end.signal = WTERMSIG(status);
    end.code = code_of_signal(WTERMSIG(status));
  } else {
    end.code = WEXITSTATUS(status);
  }
  end.user_s = seconds(usage.ru_utime);
  end.system_s = seconds(usage.ru_stime);
  end.max_rss_kb = usage.ru_maxrss;
  return end;
}

}  // namespace

SignalsBlocked::SignalsBlocked() {
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), as a full disk is
  std::signal(SIGCHLD, SIG_DFL);  // whoever started us may have ignored it, and then nobody could be waited for
  const sigset_t set = watched();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

SignalsBlocked::~SignalsBlocked() {
  // A Ctrl-C that came meanwhile was answered; it must not end us on the last steps.
  const sigset_t set = watched();
  const timespec now{};
  while (::sigtimedwait(&set, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<NotStarted> not_startable(const std::string& program) {
  const auto fault = [](const std::string& path) {
    struct stat found = {};
    if (::stat(path.c_str(), &found) != 0) return errno == ENOTDIR ? ENOENT : errno;
    if (S_ISDIR(found.st_mode)) return EACCES;
    return ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0 ? 0 : errno;
  };
  int error = ENOENT;
  if (program.find('/') != std::string::npos) {
    error = fault(program);
  } else {
    // Of several the first that may be run, as execvp() looks.
    const char* path = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe)
    std::string_view places = path == nullptr ? "/bin:/usr/bin" : path;
    for (bool more = true; more && error != 0;) {
      const std::size_t colon = places.find(':');
      const std::string_view place = places.substr(0, colon);
      const int own = fault(place.empty() ? program : fmt::format("{}/{}", place, program));
      if (own == 0 || own == EACCES) error = own;
      more = colon != std::string_view::npos;
      if (more) places.remove_prefix(colon + 1);
    }
  }
  if (error == 0) return std::nullopt;
  return not_started({error}, program);
}

tl::expected<pid_t, NotStarted> start_child(const std::vector<std::string>& command, const ChildOptions& options) {
  std::vector<std::string> words = command;
  const std::vector<char*> argv = pointers(words);
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) return tl::unexpected(not_started({errno}, command.front()));
  for (const auto& [name, value] : options.environment) {
    ::setenv(name.c_str(), value.c_str(), 1);  // NOLINT(concurrency-mt-unsafe): nobody reads it meanwhile
  }
  const pid_t child = ::fork();
  if (child == 0) become(argv, options, report[1]);
  const int fork_error = errno;
  ::close(report[1]);
  Fault fault;
  const ssize_t size = child < 0 ? 0 : ::read(report[0], &fault, sizeof(fault));
  ::close(report[0]);
  if (child < 0) return tl::unexpected(not_started({fork_error}, command.front()));
  if (size <= 0) return child;
  ::waitpid(child, nullptr, 0);
  return tl::unexpected(not_started(fault, command.front(), options.folder));
}

int code_of_signal(int signal) {
  return kOfSignal + signal;
}

std::optional<int> pause_for(std::chrono::milliseconds time) {
  const sigset_t set = watched();
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (true) {
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) return std::nullopt;
    const int signal = next_signal(set, left, nullptr);
    if (asks_to_stop(signal)) return signal;
  }
}

void ChildWaiter::pass_on(const siginfo_t& came) const {
  const bool lead = ::getsid(0) == ::getpid() && ::getpgid(child_) == ::getpid();
  if (pass_on_ == PassOn::kAllToLeader) {
    ::kill(child_, came.si_signo);
  } else if (pass_on_ == PassOn::kAllToGroup) {
    ::kill(-child_, came.si_signo);
  } else if (came.si_code != SI_KERNEL) {
    // What the terminal sends goes to the child too. In the group of a session's leader there is only what it started;
    // elsewhere there may be others.
    ::kill(lead ? 0 : child_, came.si_signo);
  }
}

Waited ChildWaiter::wait(std::chrono::milliseconds timeout) {
  const sigset_t set = watched();
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (true) {
    int status = 0;
    rusage usage{};
    if (::wait4(child_, &status, WNOHANG, &usage) == child_) return {end_of(status, usage), false};
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left <= std::chrono::nanoseconds(0)) return {};
    siginfo_t came{};
    const int signal = next_signal(set, left, &came);
    if (signal <= 0 || signal == SIGCHLD) continue;
    if (came.si_code == SI_USER && came.si_pid == ::getpid()) continue;  // what we sent to our group
    pass_on(came);
    if (!asks_to_stop(signal)) continue;
    if (stop_ && signal == SIGINT) return {std::nullopt, true};
    if (!stop_) stop_ = signal;
  }
}

}  // namespace joulecast
