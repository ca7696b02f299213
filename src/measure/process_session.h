// SPDX-License-Identifier: Apache-2.0
// Everything that was started by a child with a session of its own, background jobs too, as long as it does not leave
// that session.
#pragma once

#include <sys/types.h>

#include <chrono>

namespace joulecast {

// Long enough for a training program to write its checkpoint's last bytes.
inline constexpr std::chrono::milliseconds kEndGrace{5000};

// To every process of the session, which goes by its first process's id. False where nothing of it runs any more.
bool signal_session(pid_t session, int signal);
// Waits until nothing of it runs; what does after `grace` gets SIGKILL.
void await_session_end(pid_t session, std::chrono::milliseconds grace);

}  // namespace joulecast
