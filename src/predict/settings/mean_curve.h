// SPDX-License-Identifier: Apache-2.0
// From weighted hypotheses to one curve, and through what was measured.
#pragma once

#include <span>
#include <vector>

#include "joulecast/predict.h"
#include "predict/settings/hypotheses.h"

namespace joulecast::settings {

// One entry a setting.
struct MeanCurve {
  std::vector<double> log_time, log_power;
};
MeanCurve mean_curve(const Curves& curves, const Weights& weights);

// Shifts the curve to the known settings: by the difference at the nearest ones, interpolated between them. From three
// on a Gaussian process takes up what the law cannot follow (length 0.18 of clock * limit, 4 %; noise 1 % of time, 1.5
// % of power).
MeanCurve through_known(MeanCurve curve, std::span<const OperatingPoint> points, std::span<const Known> known);

// The hypotheses' curves, each moved as the mean of them was when it was led through what is known.
Curves moved(Curves curves, const MeanCurve& from, const MeanCurve& to);

// How far a setting is from the nearest of those known: the changes of ln time and ln power between them, at least
// 0.05.
double distance(const MeanCurve& curve, std::size_t point, std::span<const std::size_t> known);

// The index of the setting with the least root mean square regret over the hypotheses: losing much is worse than losing
// a little twice, and the side of low settings is a cliff. Only `allowed` settings. Requires: some are.
std::size_t recommended(const Curves& curves, const Weights& weights, Objective objective,
                        std::span<const std::size_t> allowed);

// How likely `setting` takes less than `share` of what `reference` takes.
double chance_of_saving(const Curves& curves, const Weights& weights, Objective objective, std::size_t setting,
                        std::size_t reference, double share);

// Of the default limit, half but for the steps that limits come in: below it nothing is recommended on a GPU that was
// not swept, unless a limit as low as kShowsTheFall was measured of the workload, which shows how far the clock falls.
inline constexpr double kUnsweptFloor = 0.475;
inline constexpr double kShowsTheFall = 0.6;
// A setting that does not save more is none to change for.
inline constexpr double kNoGain = 0.02;

}  // namespace joulecast::settings
