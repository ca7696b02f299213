// SPDX-License-Identifier: Apache-2.0
// A command that is run and waited for, with nothing changed for it but what is asked for.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/result.h"

namespace joulecast {

struct ChildOptions {
  std::vector<std::pair<std::string, std::string>> environment;  // set on top of our own
  std::vector<int> inherited;                                    // descriptors that stay open for the child
  bool quiet = false;                                            // its output goes nowhere, for warm-ups
  std::optional<int> output;                                     // what it prints, errors too, goes to this descriptor
  std::string folder;                                            // it starts there; empty: where we are
  bool dies_with_us = false;  // it gets SIGTERM when the thread that started it is gone, SIGKILL included
  bool own_session = false;   // with all it starts out of reach of our terminal, which it neither hears nor reads
};

// How a child ended. The code is what a shell would give: 128 + n for signal n.
struct ChildEnd {
  int code = 0;
  std::optional<int> signal;
  double user_s = 0, system_s = 0;  // of it and those of its children it waited for
  long max_rss_kb = 0;
};

// Signals that stop a program or tell it something (SIGUSR1), and that a child ended, blocked in this thread and those
// it starts, so that wait_for_child() sees them. Put back as they were at the end.
class SignalsBlocked {
 public:
  SignalsBlocked();
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;
  ~SignalsBlocked();
};

// A command that cannot be started: the code env and timeout give it, 127 not found, 126 not executable.
struct NotStarted {
  int code = 0;
  std::string text;
};

// What start_child() would say of a program that is not there or may not be run, before anything else is done; absent
// where it can be tried.
std::optional<NotStarted> not_startable(const std::string& program);

// Requires: at least one word; a SignalsBlocked alive.
tl::expected<pid_t, NotStarted> start_child(const std::vector<std::string>& command, const ChildOptions& options);

// Waits; the signal that asks for the end of the run where one cut that short. Others are for a child, and there is
// none: they are dropped. Requires: a SignalsBlocked alive.
std::optional<int> pause_for(std::chrono::milliseconds time);
// What a shell would give for a program that a signal ended: 128 + n.
int code_of_signal(int signal);

struct Waited {
  std::optional<ChildEnd> end;  // absent: the time is over, or the user wants out
  bool interrupted = false;     // a second Ctrl-C: the user does not want to wait for the child either
};

// Which signals a child gets from us.
enum class PassOn : std::uint8_t {
  kSentToUsAlone,  // Ctrl-C reaches it by itself. All it started gets them too where we lead a session
  kAllToLeader,    // of the session it was given: that passes them on
  kAllToGroup,     // to all in its session's first group
};

// Waits up to `timeout`, and passes signals on meanwhile.
class ChildWaiter {
 public:
  explicit ChildWaiter(pid_t child, PassOn pass_on = PassOn::kSentToUsAlone) : child_(child), pass_on_(pass_on) {}
  Waited wait(std::chrono::milliseconds timeout);
  // A signal that asked for the end of the run came.
  [[nodiscard]] bool asked_to_stop() const { return stop_.has_value(); }
  // The first that did.
  [[nodiscard]] std::optional<int> stop_signal() const { return stop_; }

 private:
  void pass_on(const siginfo_t& came) const;

  pid_t child_;
  PassOn pass_on_;
  std::optional<int> stop_;
};

}  // namespace joulecast
