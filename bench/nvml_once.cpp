// SPDX-License-Identifier: Apache-2.0
// Opens NVML, reads power and energy of every GPU once, and ends: the least that a loop of nvidia-smi costs a reading.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "power/nvml_gpu.h"

int main() {
  const auto library = joulecast::NvmlLibrary::open();
  if (!library) return 1;
  std::vector<joulecast::Missing> missing;
  const auto gpus = joulecast::list_nvml_gpus(*library, missing);
  if (!gpus) return 1;
  for (const auto& gpu : *gpus) {
    const auto power = joulecast::ask<std::uint32_t>((*library)->nvmlDeviceGetPowerUsage, gpu.handle);
    const auto energy = joulecast::ask<std::uint64_t>((*library)->nvmlDeviceGetTotalEnergyConsumption, gpu.handle);
    std::printf("%u mW, %llu mJ\n", power.value_or(0), static_cast<unsigned long long>(energy.value_or(0)));
  }
  return 0;
}
