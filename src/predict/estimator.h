// SPDX-License-Identifier: Apache-2.0
// Time and power of single operations: the physical bound, corrected by trees.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/correction.h"
#include "predict/pack/pack.h"
#include "predict/physics.h"
#include "predict/power_law.h"
#include "predict/trees/forest.h"

namespace joulecast {

struct OperationPrediction {
  Physics physics;
  double time = 0;   // seconds, of one execution alone
  double power = 0;  // watts, mean over `time`
};

// What the power trees see besides the group's own features: how busy the parts are, once the time is known.
inline constexpr std::array<std::string_view, 8> kPowerFeatures{"busy_compute",      "busy_memory", "busy_host",
                                                                "time_us",           "awake_share", "tflops_per_watt",
                                                                "gb_per_s_per_watt", "memory_us"};

// What tells GPUs apart. Models of measured GPUs see them; those that answer for other GPUs must not.
inline constexpr std::array<std::string_view, 6> kGpuFeatures{"gpu_sm",    "gpu_ghz",    "gpu_gb_per_s",
                                                              "gpu_l2_mb", "gpu_tflops", "gpu_limit_w"};
// Requires: room for kGpuFeatures.
void write_gpu_features(const Physics& physics, const Device& device, std::span<float> features);

// Writes those of an operation whose time is `time`. Requires: room for kPowerFeatures.
void write_power_features(const Physics& physics, const Device& device, double time, std::span<float> features);

// A row of features: the group's own, kGpuFeatures, kPowerFeatures. Time models read all but the last.
std::vector<std::string_view> row_names(Group group);

// The scale power is learnt on: 0 for a GPU that waits (Device::awake), 1 at the limit.
double power_share(double watts, const Device& device);
double power_from_share(double share, const Device& device);

// That the chip has no units of that kind: kUnsupported.
tl::unexpected<Error> lacks_units(const Gpu& gpu, Arithmetic arithmetic);

// On Maxwell and Pascal cuBLAS and cuDNN multiply FP16 in FP32, as frameworks call them, the P100's packed halves too;
// before they don't at all (cublasGemmEx: from compute capability 5.0).
bool multiplies_halves_in_fp32(const Gpu& gpu);

// TF32 work, and that of integers of 8 bits, runs in FP32 where the chip has no units for it, and so does FP16 on
// Maxwell and Pascal. Errors: kUnsupported for other units the chip lacks.
// MIOpen's convolutions and recurrent layers run in FP32: TF32 is hipBLASLt's alone.
bool runs_in_fp32_on(const Gpu& gpu, const Work& work);
Result<void> fit_to_device(Work& work, const Gpu& gpu, const Device& device);

class Estimator {
 public:
  // Of each group the models of all GPUs, and those of GPUs measured on each bench.
  static constexpr std::size_t kModelsOfGroup = 1 + kBenches, kBuckets = kModelsOfGroup * kGroups;

  // Requires: the pack outlives the estimator and stays where it is. Forests are opened, and checked, when first asked.
  static Result<Estimator> from(const Pack& pack);

  // Predicts as if nothing had corrected the GPUs' levels.
  void forget_corrections();

  // What is known of a GPU: what was measured on it has models of its own; elsewhere models of all GPUs answer, whose
  // trees are trusted less, for they cannot know its level; some groups have none of time there.
  struct Trust {
    std::array<double, kGroups> trees{};  // how far, 1 for groups measured on it
    // By group a bit for each Arithmetic that was measured, and kPlain for work without one.
    std::array<std::uint8_t, kGroups> measured{};
    std::array<std::uint8_t, kGroups> in_loops{};  // of these, what was measured in loops alone
    static constexpr std::uint8_t kPlain = 0x80;
    std::optional<GpuCorrection> correction;  // what its own measurements say beside

    [[nodiscard]] bool seen(Group group, std::optional<Arithmetic> arithmetic) const;
    // Whose models answer; null: those of all GPUs.
    [[nodiscard]] std::optional<Bench> bench(Group group, std::optional<Arithmetic> arithmetic) const;
  };
  [[nodiscard]] const Trust& trust(std::string_view gpu_id) const;
  // False where no row of the group had power: then all of its operations draw what a GPU that waits draws.
  [[nodiscard]] bool knows_power(Group group) const;

  // out[i] for works[i]. Requires: equal lengths; the device has the units each work's arithmetic needs.
  // Errors: kInvalidInput where a forest is damaged or wants other features than this program computes.
  Result<void> predict(std::span<const Work> works, const Device& device, Situation situation, const Trust& trust,
                       std::span<OperationPrediction> out) const;

 private:
  Result<void> read_trust(const Pack& pack);
  Result<void> read_laws(const Pack& pack);

  struct Models {
    ForestView time, power;
    PowerLaw law;  // what the trees of power correct
  };
  struct Lazy {
    std::once_flag once;
    Result<Models> models;
  };
  [[nodiscard]] const Result<Models>& models(std::size_t bucket) const;
  // The works of one group that the same models answer for.
  struct Rows {
    Group group;
    const Models& models;
    const Trust& trust;
    std::span<const std::uint32_t> rows;
  };
  // How much of the trees counts.
  static double trees_of(const Rows& rows, const Device& device);
  // Requires: room for a row of features and one answer a work in `scratch`.
  static void predict_rows(const Rows& rows, std::span<const Work> works, const Device& device, Situation situation,
                           std::span<float> scratch, std::span<OperationPrediction> out);

  const Pack* pack_ = nullptr;
  std::unique_ptr<std::array<Lazy, kBuckets>> lazy_;
  std::array<PowerLaw, kGroups> laws_{};  // of measured GPUs
  Trust unseen_;                          // on a GPU without rows
  std::map<std::string, Trust, std::less<>> known_;
};

}  // namespace joulecast
