// SPDX-License-Identifier: Apache-2.0
// The catalogue of GPUs: specifications, each figure with its source.
//
//   const Catalogue& catalogue = Catalogue::shipped();
//   JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue.find("a100"));
//   FlopsPerSecond peak = gpu->fp32_peak.value();
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "joulecast/units.h"

namespace joulecast {

// One way to slice a GPU (NVIDIA MIG).
struct MigProfile {
  std::string name;  // "1g.5gb"
  int compute_slices = 0, memory_slices = 0, max_instances = 0;
  Bytes memory;  // what a process on the slice can use at most
  std::optional<int> sm_count;
};

// Where a figure comes from. `confirmed` is false where nobody has checked it against a second source.
struct FigureSource {
  std::string figure;  // key in the file, unit included: "power_limit_w"
  std::string source;
  bool confirmed = true;
};

// One device. A figure that is not known is absent, never 0. Peaks are dense; GeForce fp16 accumulates in fp32.
struct Gpu {
  std::string id;    // "a100-sxm4-40gb"
  std::string name;  // as nvidia-smi prints it
  std::string vendor, architecture, compute_capability, memory_type;
  std::vector<std::string> aliases;
  int sm_count = 0;
  std::optional<int> cuda_core_count, release_year, pcie_generation;
  Bytes memory;  // installed, as marketed (GB = 1e9 or GiB as the file says)
  BytesPerSecond memory_bandwidth;
  std::optional<Bytes> l2_cache, shared_memory_per_sm;
  std::optional<Hertz> base_clock, boost_clock, memory_clock;
  Watts power_limit;  // default limit (TDP, TGP)
  std::optional<Watts> min_power_limit, idle_power;
  std::optional<FlopsPerSecond> fp64_peak, fp32_peak, tf32_peak, fp16_peak, bf16_peak, fp8_peak, int8_peak, fp4_peak;
  std::optional<BytesPerSecond> nvlink_bandwidth;
  std::vector<MigProfile> mig_profiles;  // smallest first
  std::vector<FigureSource> sources;
};

class Catalogue {
 public:
  // The GPUs in data/gpus, compiled in. Never fails, lives as long as the program.
  static const Catalogue& shipped();

  // Adds or replaces one GPU from a TOML file laid out like those in data/gpus (docs/formats/gpu.md).
  // Errors name file, key and line.
  Result<void> add_file(const std::string& path);

  // By id, alias or product name; case, spaces, '_' and '-' make no difference.
  // Error kNotFound names the closest ones.
  [[nodiscard]] Result<const Gpu*> find(std::string_view name) const;

  // Sorted by id.
  [[nodiscard]] std::span<const Gpu> all() const { return gpus_; }

 private:
  std::vector<Gpu> gpus_;
};

}  // namespace joulecast
