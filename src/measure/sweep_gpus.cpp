// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "power/gpu_choice.h"

namespace joulecast {
namespace {

Result<void> choose(const SweepPlan& plan, const std::vector<NvmlGpu>& all, bool needed, SweepGpus& out) {
  std::vector<GpuIdentity> identities;
  identities.reserve(all.size());
  for (const NvmlGpu& gpu : all) identities.push_back(gpu.identity);
  JC_ASSIGN_OR_RETURN(const GpuChoice choice, choose_gpus(identities, plan.gpus, process_environment));
  for (const std::size_t index : choice.gpus) {
    if (all[index].handle == nullptr) return not_found(fmt::format("gpu{} does not answer", index));
    out.gpus.push_back(all[index]);
    out.found.push_back(find_settings(all[index]));
    out.shown.push_back(all[index].identity.uuid);
  }
  if (!choice.mig.empty()) out.shown = choice.mig;
  if (needed && out.gpus.empty()) {
    return not_found("no GPU whose settings could be changed (" + choice.reason + ")");
  }
  return {};
}

Result<void> check(const std::vector<SweepRun>& runs, SweepGpus& gpus) {
  for (const SweepRun& run : runs) {
    for (std::size_t i = 0; i < gpus.gpus.size(); ++i) {
      JC_RETURN_IF_ERROR(check_settings(gpus.gpus[i], run.settings));
      gpus.found[i].will_change(run.settings);
    }
  }
  for (const FoundSettings& found : gpus.found) {
    if (found.limit_changes && !found.power_limit_mw)
      return unsupported(
          fmt::format("gpu{}: its power limit cannot be read, so it could not be put back", found.index));
    if (found.application_changes && !found.application)
      return unsupported(
          fmt::format("gpu{}: its application clocks cannot be read, so they could not be put back", found.index));
  }
  return {};
}

}  // namespace

bool changes_settings(const std::vector<SweepRun>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const SweepRun& run) { return !run.settings.empty(); });
}

Result<SweepGpus> find_sweep_gpus(const SweepPlan& plan, const std::vector<SweepRun>& runs) {
  const bool needed = changes_settings(runs);
  SweepGpus out;
  const auto library = NvmlLibrary::open();
  if (!library) {
    if (needed || plan.gpus) return tl::unexpected<Error>(Error(library.error()));
    return out;
  }
  std::vector<Missing> missing;
  JC_ASSIGN_OR_RETURN(const std::vector<NvmlGpu> all, list_nvml_gpus(*library, missing));
  JC_RETURN_IF_ERROR(choose(plan, all, needed, out));
  JC_RETURN_IF_ERROR(check(runs, out));
  return out;
}

}  // namespace joulecast
