// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_gpus.h"

#include <fmt/format.h>

#include <algorithm>

#include "power/gpu_choice.h"

namespace joulecast {
namespace {

Result<void> choose(const std::optional<std::string>& gpus, const std::vector<NvmlGpu>& all, bool needed,
                    SweepGpus& out) {
  std::vector<GpuIdentity> identities;
  identities.reserve(all.size());
  for (const NvmlGpu& gpu : all) identities.push_back(gpu.identity);
  JC_ASSIGN_OR_RETURN(const GpuChoice choice, choose_gpus(identities, gpus, process_environment));
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

Result<void> check(const std::vector<GpuSettings>& wanted, SweepGpus& gpus) {
  for (const GpuSettings& settings : wanted) {
    for (std::size_t i = 0; i < gpus.gpus.size(); ++i) {
      JC_RETURN_IF_ERROR(check_settings(gpus.gpus[i], settings));
      gpus.found[i].will_change(settings);
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

Result<SweepGpus> find(const std::shared_ptr<const NvmlLibrary>& library, const std::optional<std::string>& gpus,
                       const std::vector<GpuSettings>& wanted, bool needed) {
  SweepGpus out;
  std::vector<Missing> missing;
  JC_ASSIGN_OR_RETURN(const std::vector<NvmlGpu> all, list_nvml_gpus(library, missing));
  JC_RETURN_IF_ERROR(choose(gpus, all, needed, out));
  JC_RETURN_IF_ERROR(check(wanted, out));
  return out;
}

}  // namespace

bool changes_settings(const std::vector<SweepRun>& runs) {
  return std::any_of(runs.begin(), runs.end(), [](const SweepRun& run) { return !run.settings.empty(); });
}

Result<SweepGpus> find_sweep_gpus(const SweepPlan& plan, const std::vector<SweepRun>& runs) {
  const bool needed = changes_settings(runs);
  const auto library = NvmlLibrary::open();
  if (!library) {
    if (needed || plan.gpus) return tl::unexpected<Error>(Error(library.error()));
    return SweepGpus{};
  }
  std::vector<GpuSettings> wanted;
  wanted.reserve(runs.size());
  for (const SweepRun& run : runs) wanted.push_back(run.settings);
  return find(*library, plan.gpus, wanted, needed);
}

Result<SweepGpus> find_gpus_to_set(const std::optional<std::string>& gpus, const std::vector<GpuSettings>& wanted) {
  JC_ASSIGN_OR_RETURN(const auto library, NvmlLibrary::open());
  return find(library, gpus, wanted, true);
}

}  // namespace joulecast
