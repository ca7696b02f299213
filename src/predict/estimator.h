// SPDX-License-Identifier: Apache-2.0
// Time and power of single operations: the physical bound, corrected by trees.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "predict/pack/pack.h"
#include "predict/physics.h"
#include "predict/trees/forest.h"

namespace joulecast {

struct OperationPrediction {
  Physics physics;
  double time = 0;   // seconds, of one execution alone
  double power = 0;  // watts, mean over `time`
};

// What the power trees see besides the group's own features: how busy the parts are, once the time is known.
inline constexpr std::array<std::string_view, 8> kPowerFeatures{"busy_compute",      "busy_memory", "busy_host",
                                                                "time_us",           "idle_share",  "tflops_per_watt",
                                                                "gb_per_s_per_watt", "memory_us"};
// Writes those of an operation whose time is `time`. Requires: room for kPowerFeatures.
void write_power_features(const Physics& physics, const Device& device, double time, std::span<float> features);

// The scale power is learnt on: 0 at idle, 1 at the limit.
double power_share(double watts, const Device& device);
double power_from_share(double share, const Device& device);

// TF32 work runs in FP32 where the chip has no TF32. Errors: kUnsupported for units the chip lacks.
Result<void> fit_to_device(Work& work, const Gpu& gpu, const Device& device);

class Estimator {
 public:
  // Errors: kInvalidInput where the pack's features are not those this program computes.
  static Result<Estimator> from(const Pack& pack);

  // How far the trees are trusted on a GPU: 1 for groups measured on it, less for others, whose level they cannot know.
  using Trust = std::array<double, kGroups>;
  [[nodiscard]] const Trust& trust(std::string_view gpu_id) const;
  // Whether rows of this group were measured on it.
  [[nodiscard]] bool seen(Group group, std::string_view gpu_id) const;

  // out[i] for works[i]. Requires: equal lengths; the device has the units each work's arithmetic needs.
  void predict(std::span<const Work> works, const Device& device, Situation situation, const Trust& trust,
               std::span<OperationPrediction> out) const;

 private:
  Result<void> read_trust(const Pack& pack);

  struct Models {
    std::optional<ForestView> time, power;
  };
  // The works of one group and how many features a row of them has, those of the power model included.
  struct GroupRows {
    Group group;
    std::span<const std::uint32_t> rows;
    std::size_t columns;
  };
  // Requires: room for a row of features and one answer a work in `scratch`.
  void predict_group(const GroupRows& group, std::span<const Work> works, const Device& device, Situation situation,
                     double trust, std::span<float> scratch, std::span<OperationPrediction> out) const;

  std::array<Models, kGroups> models_;
  Trust unseen_{};                                   // on a GPU without rows
  std::set<std::string, std::less<>> seen_;          // keys of the pack: "seen/<group>/<gpu id>"
  std::map<std::string, Trust, std::less<>> known_;  // 1 for the groups measured on a GPU
};

}  // namespace joulecast
