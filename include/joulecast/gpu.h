// SPDX-License-Identifier: Apache-2.0
// The catalogue of GPUs: specifications, each figure with its source.
//
//   const Catalogue& catalogue = Catalogue::shipped();
//   JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue.find("a100"));
//   FlopsPerSecond peak = *gpu->fp32_peak;
#pragma once

#include <memory>
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
  std::string_view name;  // "1g.5gb"
  int compute_slices = 0, memory_slices = 0, max_instances = 0;
  std::optional<Bytes> memory;  // what an instance really has (nvidia-smi mig -lgip)
  std::optional<int> sm_count;
  std::string_view source;
  bool confirmed = true;  // false where one of its figures has not been compared with a document
};

// Where a figure comes from. `confirmed` is false where nobody has compared it with a document.
struct FigureSource {
  std::string_view figure;  // key in the file, unit included: "power_limit_w"
  std::string_view source;
  std::string_view note;  // what one has to know about it; mostly empty
  bool confirmed = true;
};

// One device. A figure that is not known is absent, never 0. Peaks are dense; GeForce fp16 accumulates in fp32.
// Text and lists are views into the catalogue the GPU came from (shipped ones live as long as the program).
struct Gpu {
  std::string_view id;    // "a100-sxm4-40gb"
  std::string_view name;  // as nvidia-smi prints it
  std::string_view vendor, architecture;
  std::string_view compute_capability, gfx_target;  // "8.0" (NVIDIA) or "gfx90a" (AMD); the other one is empty
  std::string_view memory_type;
  std::string_view note;
  std::span<const std::string_view> aliases;
  int sm_count = 0;
  std::optional<int> cuda_core_count, pcie_generation, release_year;
  std::optional<Hertz> base_clock, boost_clock;
  std::optional<Hertz> tensor_clock;  // at which the tensor peaks hold, where that is not boost_clock
  std::optional<Hertz> memory_clock;
  Bytes memory;                         // as marketed, GB = 1e9
  std::optional<Bytes> memory_total;    // as nvidia-smi lists it
  std::optional<Bytes> memory_visible;  // what the CUDA runtime tells a process
  BytesPerSecond memory_bandwidth;
  std::optional<Bytes> l2_cache, shared_memory_per_sm;
  Watts power_limit;  // default limit (TDP, TGP)
  std::optional<Watts> min_power_limit, max_power_limit, idle_power;
  std::optional<FlopsPerSecond> fp64_peak, fp64_tensor_peak, fp32_peak, fp32_tensor_peak, tf32_peak, fp16_peak,
      bf16_peak, fp8_peak, fp4_peak, int8_peak;
  std::optional<BytesPerSecond> nvlink_bandwidth, infinity_fabric_bandwidth;  // all links, both directions added
  std::span<const MigProfile> mig_profiles;                                   // smallest first
  std::span<const FigureSource> sources;                                      // one entry a figure that is there
};

// What one file says, with the text its Gpu refers to.
struct GpuFile;

// The GPUs that can be asked for: those compiled in from data/gpus and the user's own. Copies share the text.
class Catalogue {
 public:
  // The GPUs in data/gpus. Never fails, costs nothing, lives as long as the program.
  static const Catalogue& shipped();

  // Adds one GPU from a TOML file laid out like those in data/gpus (docs/formats/gpu.md). It replaces a GPU of the same
  // id, and its names win over those of others. Errors: kNotFound, kIo, kInvalidInput; they name file, line and key.
  // Invalidates what find() and all() returned.
  Result<void> add_file(const std::string& path);
  // Adds every *.toml of the folder in the order of their names; a folder that does not exist has none.
  Result<void> add_folder(const std::string& path);

  // By id, alias or product name; case, spaces, '_' and '-' make no difference, nor does a leading vendor.
  // Error kNotFound names the closest ones.
  [[nodiscard]] Result<const Gpu*> find(std::string_view name) const;

  // Sorted by id.
  [[nodiscard]] std::span<const Gpu> all() const { return own_.empty() ? shipped_ : merged_; }

 private:
  std::span<const Gpu> shipped_;
  std::vector<std::shared_ptr<const GpuFile>> own_;  // later ones win
  std::vector<Gpu> merged_;                          // both, sorted by id; empty while there are none of our own
};

}  // namespace joulecast
