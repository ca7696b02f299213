// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/json.h"
#include "cli/measure/sweep_commands.h"
#include "measure/restore_journal.h"

namespace joulecast::cli {
namespace {

void print(const RestoreReport& report, const std::string& folder, bool dry_run, Output& output) {
  for (const std::string& done : report.done) {
    output.write(fmt::format("{} {}\n", dry_run ? "would put back" : "put back", printable(done)));
  }
  for (const std::string& left : report.left) output.write(fmt::format("left alone {}\n", printable(left)));
  if (report.done.empty() && report.left.empty() && report.failed.empty()) {
    output.write(fmt::format("nothing to put back: no journal in {}\n", printable(folder)));
  }
}

}  // namespace

Outcome restore_command(const RestoreOptions& options, Output& output) {
  const auto folder = restore_folder();
  if (!folder) return tl::unexpected<Failure>(Error(folder.error()));
  const RestoreReport report = restore_all(*folder, options.dry_run ? RestoreMode::kDryRun : RestoreMode::kDo);
  if (options.json) {
    output.write(json_text({{"schema", "joulecast.restored/1"},
                            {"dry_run", options.dry_run},
                            {"done", report.done},
                            {"left", report.left},
                            {"failed", report.failed}}));
  } else {
    print(report, *folder, options.dry_run, output);
  }
  if (report.failed.empty()) return {};
  std::string all;
  for (const std::string& failed : report.failed) all += (all.empty() ? "" : "; ") + failed;
  return tl::unexpected<Failure>(Failure{{ErrorCode::kDevice, printable(all)}});
}

}  // namespace joulecast::cli
