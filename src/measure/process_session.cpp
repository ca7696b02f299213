// SPDX-License-Identifier: Apache-2.0
#include "measure/process_session.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace joulecast {
namespace {

// Of /proc/PID/stat, what follows the name in brackets: state, parent, group, session (proc(5)).
bool runs_in(const std::filesystem::path& folder, pid_t session) {
  std::ifstream file(folder / "stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  const auto name_end = stat.rfind(')');  // the name itself may hold brackets and spaces
  if (name_end == std::string::npos) return false;
  std::istringstream fields(stat.substr(name_end + 1));
  char state = 'Z';
  pid_t parent = 0, group = 0, own = 0;
  fields >> state >> parent >> group >> own;
  return own == session && state != 'Z' && state != 'X';  // dead ones may wait for their burial for ever
}

std::vector<pid_t> members_of(pid_t session) {
  std::vector<pid_t> out;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos || !runs_in(at->path(), session)) continue;
    out.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return out;
}

}  // namespace

bool signal_session(pid_t session, int signal) {
  const std::vector<pid_t> members = members_of(session);
  for (const pid_t member : members) ::kill(member, signal);
  return !members.empty();
}

void await_session_end(pid_t session, std::chrono::milliseconds grace) {
  constexpr std::chrono::milliseconds kLookAgain{20};
  // What even SIGKILL does not end hangs in the kernel, and would hang us too.
  const auto kill_at = std::chrono::steady_clock::now() + grace, give_up = kill_at + grace;
  for (auto now = kill_at - grace; now < give_up; now = std::chrono::steady_clock::now()) {
    const bool there = now < kill_at ? !members_of(session).empty() : signal_session(session, SIGKILL);
    if (!there) return;
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace joulecast
