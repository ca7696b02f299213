// SPDX-License-Identifier: Apache-2.0
#include "measure/held_settings.h"

#include <fmt/format.h>

#include <utility>

#include "measure/restore_journal.h"

namespace joulecast {

Result<void> check_nobody_else_sets(const std::vector<NvmlGpu>& gpus) {
  JC_ASSIGN_OR_RETURN(const std::string folder, restore_folder());
  std::vector<Error> damaged;
  for (const RestoreJournal& journal : list_journals(folder, damaged)) {
    if (!journal.in_use()) continue;
    for (const FoundSettings& found : journal.gpus) {
      if (gpu_with_uuid(gpus, found.uuid)) {
        return tl::unexpected<Error>(
            Error{ErrorCode::kDevice, fmt::format("gpu{}: {} is changing its settings (process {})", found.index,
                                                  journal.purpose, journal.owner.pid)});
      }
    }
  }
  return {};
}

Result<void> put_back_leftovers(const std::function<void(const std::string&)>& say) {
  JC_ASSIGN_OR_RETURN(const std::string folder, restore_folder());
  const RestoreReport report = restore_all(folder, RestoreMode::kDo);
  if (!say) return {};
  for (const std::string& done : report.done) say("put back first what a dead program left: " + done);
  for (const std::string& failed : report.failed) say("left by a dead program: " + failed);
  return {};
}

Result<HeldSettings> HeldSettings::take(std::vector<NvmlGpu> gpus, const std::vector<FoundSettings>& found,
                                        Guardian& guardian, const std::string& purpose) {
  HeldSettings out;
  out.gpus_ = std::move(gpus);
  out.changed_ = found;
  for (FoundSettings& gpu : out.changed_) {
    gpu.limit_changes = gpu.application_changes = gpu.sm_lock_changes = gpu.memory_lock_changes = false;
  }
  JC_RETURN_IF_ERROR(guardian.protect(found, purpose));
  return out;
}

Result<void> HeldSettings::set(const GpuSettings& wanted) {
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    FoundSettings others = changed_[i];
    others.limit_changes &= !wanted.power_limit_mw;
    others.application_changes &= !wanted.application;
    others.sm_lock_changes &= !wanted.sm_lock;
    others.memory_lock_changes &= !wanted.memory_lock;
    JC_RETURN_IF_ERROR(restore_settings(gpus_[i], others));
    JC_RETURN_IF_ERROR(apply_settings(gpus_[i], wanted, &changed_[i]));
  }
  return {};
}

std::string HeldSettings::not_held(const GpuSettings& wanted) const {
  for (const NvmlGpu& gpu : gpus_) {
    if (const auto held = verify_settings(gpu, wanted); !held) return held.error().text();
  }
  return {};
}

Result<void> HeldSettings::put_back() {
  std::string failures;
  for (std::size_t i = 0; i < changed_.size(); ++i) {
    if (const auto done = restore_settings(gpus_[i], changed_[i]); !done) {
      failures += (failures.empty() ? "" : "; ") + done.error().text();
    }
  }
  if (!failures.empty()) return tl::unexpected<Error>(Error{ErrorCode::kDevice, "putting back: " + failures});
  return {};
}

}  // namespace joulecast
