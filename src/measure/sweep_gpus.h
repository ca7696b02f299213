// SPDX-License-Identifier: Apache-2.0
// The GPUs a plan is about, and whether they can have what it asks for. Nothing is changed here.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "measure/sweep_plan.h"
#include "power/nvml_gpu.h"

namespace joulecast {

struct SweepGpus {
  std::vector<NvmlGpu> gpus;
  std::vector<FoundSettings> found;  // one entry a GPU; it knows what the runs will change
  std::vector<std::string> shown;    // UUIDs of GPUs or of the MIG devices that were chosen
};

bool changes_settings(const std::vector<SweepRun>& runs);

// For one `--gpu` and settings that are wanted in turn. Errors: those of NvmlLibrary::open(), and as below.
Result<SweepGpus> find_gpus_to_set(const std::optional<std::string>& gpus, const std::vector<GpuSettings>& wanted);

// Errors: those of NvmlLibrary::open() where the plan names GPUs or the runs change settings (else it has none then),
// kNotFound without GPUs, kInvalidInput and kUnsupported for settings that one of them cannot have or that could not be
// put back.
Result<SweepGpus> find_sweep_gpus(const SweepPlan& plan, const std::vector<SweepRun>& runs);

}  // namespace joulecast
