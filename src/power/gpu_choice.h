// SPDX-License-Identifier: Apache-2.0
// Which GPUs a run is about.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "power/local_rank.h"

namespace joulecast {

// What is known of a GPU before it is chosen; in the order of NVML, which is that of the PCI bus.
struct GpuIdentity {
  std::string uuid;  // "GPU-8f3a..."
  std::string pci;   // "00000000:07:00.0"
  std::string name;
  std::vector<std::string> mig;  // UUIDs of its MIG devices: "MIG-..."
};

struct GpuChoice {
  std::vector<std::size_t> gpus;    // indices, rising, each once
  std::vector<std::string> mig;     // MIG devices among what was chosen; their GPU is in `gpus`
  std::string reason;               // "CUDA_VISIBLE_DEVICES=1,2", "--gpu 0", "all GPUs"
  std::vector<std::string> doubts;  // sentences for people
};

// What was asked for with --gpu: indices, beginnings of UUIDs, PCI ids, MIG UUIDs, "all", separated by commas; what is
// named twice counts once.
// Without it what CUDA would show to this process: CUDA_VISIBLE_DEVICES up to its first invalid entry, and
// nothing where it names a GPU twice; and of several the one of this rank, where a launcher of ranks says that it is
// not alone on its machine. Errors: kInvalidInput for what --gpu names and is not there, or not only once.
Result<GpuChoice> choose_gpus(const std::vector<GpuIdentity>& gpus, const std::optional<std::string>& asked,
                              const Environment& environment);

}  // namespace joulecast
