// SPDX-License-Identifier: Apache-2.0
// A process that puts a GPU's settings back, and ends what was run, when the program that did both is gone, SIGKILL
// included.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/restore_journal.h"

namespace joulecast {

//   JC_ASSIGN_OR_RETURN(auto guardian, Guardian::start());      // before NVML is opened and threads run
//   JC_RETURN_IF_ERROR(guardian->protect(found, "sweep plan.toml"));
//   ... change settings, and put them back ...
//   guardian->dismiss();
//
// Whoever does not come to dismiss() has its settings put back by the guardian at once; what it ran gets SIGTERM, and
// SIGKILL where that does not end it. Where both processes are killed
// (a cgroup that is ended, a power loss) the journal is left for `joulecast restore`.
class Guardian {
 public:
  // Forks. Requires: no other threads, NVML not open: it does not survive a fork. Errors: kIo.
  static Result<std::unique_ptr<Guardian>> start();

  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;
  ~Guardian();

  // Writes the journal and hands it over; nothing may be changed before. Requires: called once. Errors: kIo.
  Result<void> protect(std::vector<FoundSettings> found, const std::string& purpose);
  // From now on that session is ended with us; 0: none. It goes by its first process's id.
  void end_with_us(pid_t session);
  // Everything is as it was found: the journal goes, the guardian too.
  void dismiss();

 private:
  Guardian(pid_t process, int line) : process_(process), line_(line) {}
  void bury();

  pid_t process_;
  int line_;  // its end tells the guardian that we are gone
  RestoreJournal journal_;
};

}  // namespace joulecast
