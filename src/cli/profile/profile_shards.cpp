// SPDX-License-Identifier: Apache-2.0
// Campaigns on several machines.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "base/whole_file.h"
#include "cli/other_program.h"
#include "cli/profile/profile_commands.h"
#include "dataset/store_place.h"
#include "measure/child.h"
#include "measure/slurm.h"
#include "profile/campaign_slurm.h"
#include "profile/shards.h"

namespace joulecast::cli {
namespace {

using std::chrono::seconds;

// `joulecast dataset import` in a process of its own: it alone has the databases' libraries. Its exit code; absent
// where the user wants out.
std::optional<int> import_rows(const std::string& store, const std::string& table) {
  const auto child = start_child({joulecast_program(), "dataset", "import", store, table}, {});
  if (!child) return child.error().code;
  ChildWaiter waiter(*child);
  Waited waited;
  while (!waited.end && !waited.interrupted) waited = waiter.wait(seconds(1));
  if (waiter.asked_to_stop() || !waited.end) return std::nullopt;
  return waited.end->code;
}

// A server that is being started again is waited for: to import twice changes nothing.
Outcome store_rows(const ProfileOptions& options, Output& output) {
  constexpr seconds kFirstPause{1}, kLongestPause{30};
  constexpr int kAttempts = 20;
  const std::string table = options.output + "/measurements.csv";
  const SignalsBlocked blocked;
  seconds pause = kFirstPause;
  for (int attempt = 1;; ++attempt, pause = std::min(2 * pause, kLongestPause)) {
    const auto code = import_rows(options.store, table);
    if (code == kSuccess) return {};
    if (!code || *code == kUsage || *code == kIncomplete || attempt == kAttempts || !is_database_url(options.store))
      break;
    output.note(fmt::format("the store did not take the rows; again in {} s", pause.count()));
    if (pause_for(pause)) break;
  }
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kIo, fmt::format("{}: the rows are not all in the store", printable(options.store))},
              fmt::format("they are in {0}: joulecast dataset import STORE {0}", table)});
}

}  // namespace

Outcome submit_command(const ProfileOptions& options, Output& output) {
  const std::string script = profile::slurm_script(
      {joulecast_program(), options.output, options.words, options.sbatch, options.slurm, options.gpu != "cpu"});
  if (options.dry_run) {
    output.write(script);
    return {};
  }
  std::error_code error;
  std::filesystem::create_directories(options.output, error);
  const std::string path = options.output + "/profile.sbatch";
  JC_RETURN_IF_FAILURE(replace_file(path, script));
  const auto said = submit_to_slurm(path);
  if (!said) return tl::unexpected<Failure>(Error(said.error()));
  output.write(printable(*said) + "\n");
  return {};
}

Outcome check_store(const ProfileOptions& options) {
  namespace fs = std::filesystem;
  if (options.store.empty() || is_database_url(options.store) || is_store(options.store)) return {};
  if (fs::exists(options.store))
    return usage(fmt::format("--store: {} is no store", printable(options.store)),
                 "a file that joulecast dataset made, or a new one");
  const fs::path parent = fs::absolute(options.store).parent_path();
  if (::access(parent.c_str(), W_OK) != 0)
    return usage(fmt::format("--store: no file can be made in {}", printable(parent.string())), "another place");
  return {};
}

Outcome merge_and_store(const ProfileOptions& options, Output& output) {
  if (!options.shard.empty()) JC_RETURN_IF_FAILURE(profile::merge_shards(options.output));
  return options.store.empty() ? Outcome() : store_rows(options, output);
}

}  // namespace joulecast::cli
