// SPDX-License-Identifier: Apache-2.0
// What has to be put back if nobody is left to do it: a file for each program that changes settings.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "power/gpu_settings.h"

namespace joulecast {

// A process, told from a later one of the same number by when it began.
struct ProcessMark {
  pid_t pid = 0;
  std::uint64_t started = 0;  // in clock ticks since the machine's start

  bool operator==(const ProcessMark&) const = default;
};
// `started` is 0 where there is no such process.
ProcessMark mark_process(pid_t pid);
bool is_alive(const ProcessMark& process);

struct RestoreJournal {
  std::string path;  // empty until it is written
  std::string host, boot;
  ProcessMark owner, guardian;
  std::string purpose;  // "sweep plan.toml"
  std::vector<FoundSettings> gpus;

  // Its owner or its guardian lives, here.
  [[nodiscard]] bool in_use() const;
};

// $XDG_STATE_HOME/joulecast/restore, else ~/.local/state/joulecast/restore. Errors: kNotFound where neither is set.
Result<std::string> restore_folder();
std::string this_host();
std::string this_boot();  // empty where /proc does not tell

// Written, on the disk and in its folder before this returns; gives the journal its path. Errors: kIo.
Result<void> write_journal(RestoreJournal& journal);
Result<RestoreJournal> read_journal(const std::string& path);
void remove_journal(const RestoreJournal& journal);

// All in the folder, by name; what cannot be read is told in `damaged`. A folder that is not there has none.
std::vector<RestoreJournal> list_journals(const std::string& folder, std::vector<Error>& damaged);

// Puts everything back and removes the journal. What was done, a sentence each. Errors: kDevice, kNotFound; then the
// journal stays.
Result<std::vector<std::string>> restore_journal(const RestoreJournal& journal);

// What `joulecast restore` did, or with `dry_run` would do.
struct RestoreReport {
  std::vector<std::string> done;    // a sentence each
  std::vector<std::string> left;    // journals that are in use or another machine's, and why
  std::vector<std::string> failed;  // what could not be put back; its journal stays
};
enum class RestoreMode : std::uint8_t { kDo, kDryRun };
// Every journal whose owner is dead. Limits do not outlive the driver: after a restart of the machine only the journal
// is removed, and it says so.
RestoreReport restore_all(const std::string& folder, RestoreMode mode);

}  // namespace joulecast
