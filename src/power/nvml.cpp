// SPDX-License-Identifier: Apache-2.0
#include "power/nvml.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "power/nvml_buffer.h"
#include "power/nvml_gpu.h"
#include "power/nvml_pcie.h"
#include "power/nvml_power.h"
#include "power/nvml_state.h"

namespace joulecast {
namespace {

using Opener = std::unique_ptr<Sensor> (*)(const NvmlGpu&, const SensorOptions&, std::vector<Missing>&);
constexpr std::array<Opener, 4> kOpeners{open_nvml_power, open_nvml_state, open_nvml_buffer, open_nvml_pcie};

void add_gpu(const NvmlGpu& gpu, const SensorOptions& options, Found& found) {
  found.devices.push_back(gpu.describe());
  for (const Opener opener : kOpeners) {
    if (auto sensor = opener(gpu, options, found.missing)) found.sensors.push_back(std::move(sensor));
  }
}

// What somebody who asked for a GPU has to be told, and nobody else.
Result<Found> without(const SensorOptions& options, const Error& why) {
  if (options.gpus && *options.gpus != "all") {
    return tl::unexpected<Error>(Error{ErrorCode::kInvalidInput, "--gpu " + *options.gpus + ": " + why.text()});
  }
  Found found;
  found.missing.push_back({"NVIDIA GPUs", why.text(), ""});
  return found;
}

}  // namespace

Result<Found> find_nvml(const SensorOptions& options) {
  const auto library = NvmlLibrary::open();
  if (!library) return without(options, library.error());
  Found found;
  const auto gpus = list_nvml_gpus(*library, found.missing);
  if (!gpus) return without(options, gpus.error());
  std::vector<GpuIdentity> identities;
  for (const NvmlGpu& gpu : *gpus) identities.push_back(gpu.identity);
  JC_ASSIGN_OR_RETURN(const GpuChoice choice, choose_gpus(identities, options.gpus, process_environment));
  for (const std::size_t index : choice.gpus) {
    if ((*gpus)[index].handle != nullptr) add_gpu((*gpus)[index], options, found);
  }
  if (choice.gpus.empty() && !gpus->empty()) {
    found.missing.push_back({"NVIDIA GPUs", fmt::format("{} shows none of the {} here", choice.reason, gpus->size()),
                             "--gpu all measures them all the same"});
  }
  found.choice = choice.reason;
  for (const std::string& doubt : choice.doubts) found.doubts.push_back(doubt);
  return found;
}

}  // namespace joulecast
