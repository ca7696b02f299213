// SPDX-License-Identifier: Apache-2.0
// Time and power of one workload on one GPU at any setting, from its prediction at the default one.
#pragma once

#include <span>
#include <vector>

#include "joulecast/predict.h"
#include "predict/settings/hidden.h"
#include "predict/settings/mean_curve.h"

namespace joulecast::settings {

// The setting as shares. Errors: kInvalidInput for a clock or limit that the GPU does not have, naming its range.
Result<OperatingPoint> operating_point(const Gpu& gpu, const Setting& setting);

// What is known at the default setting.
struct BasePrediction {
  double time = 1.0, power = 1.0;  // seconds, watts
  double power_sigma = 0.15;       // standard deviation of the power's logarithm
};

// Logarithms of seconds and watts, and half-widths of their 90 % interval that the settings alone cause.
struct SettingPrediction {
  double log_time = 0, log_power = 0;
  double time_width = 0, power_width = 0, energy_width = 0;
};

class SettingCurve {
 public:
  // `measured` sharpens it: curves go through them, and hypotheses that do not fit count less.
  // Errors: those of operating_point(); kInvalidInput for measured values that cannot be of this GPU.
  static Result<SettingCurve> make(const SettingsModel& model, const Gpu& gpu, const HiddenEstimate& hidden,
                                   const BasePrediction& base, std::span<const MeasuredRun> measured);

  // The hypotheses at what is known, then at what is asked for.
  struct Outlook {
    std::vector<OperatingPoint> points;
    Curves curves;
    MeanCurve law, curve;
  };
  [[nodiscard]] Outlook outlook(std::span<const OperatingPoint> points) const;
  [[nodiscard]] std::vector<SettingPrediction> at(std::span<const OperatingPoint> points) const {
    return at(outlook(points));
  }
  [[nodiscard]] std::vector<SettingPrediction> at(const Outlook& all) const;

  // The one of `open` among what was asked for that is to be chosen, and how likely it saves more than kNoGain against
  // the first. None below kUnsweptFloor where that holds, unless nothing else is open. Requires: `open` is not empty.
  struct Choice {
    std::size_t point = 0;
    double chance = 0.0;
    bool floored = false;  // lower limits of `open` were left out
  };
  [[nodiscard]] Choice recommended(const Outlook& all, Objective objective, std::span<const std::size_t> open) const;

 private:
  explicit SettingCurve(const GpuConstants& constants) : law_(constants) {}
  void start_at(const BasePrediction& base, const Weights& weights);
  void sharpen(const BasePrediction& base, const Weights& weights);
  void merge_repeats();
  void keep(const std::vector<std::uint32_t>& rows);
  void keep_likely(const std::vector<std::uint32_t>& rows, const Known& known);

  SettingLaw law_;
  std::vector<Hypothesis> rows_;
  Weights weights_;
  std::vector<OperatingPoint> known_points_;
  std::vector<Known> known_;
  double limit_w_ = 1.0;
  double lowest_limit_ = 0.0;  // a share; what is below is not recommended
  std::size_t settings_ = 0;   // whose power was measured
  SettingWidths widths_;
};

}  // namespace joulecast::settings
