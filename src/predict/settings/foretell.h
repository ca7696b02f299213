// SPDX-License-Identifier: Apache-2.0
// What the settings law makes of a sweep of which only some settings are known.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "predict/settings/hypotheses.h"
#include "predict/settings/law.h"
#include "predict/settings/mean_curve.h"
#include "predict/settings/sweep.h"

namespace joulecast::settings {

// Lower limits are given for anyone to look at, and count in no figure: hardly any was measured.
inline constexpr double kLowestJudged = 0.499;  // of the default limit

struct Foretold {
  Curves curves;    // of every hypothesis
  Weights weights;  // of the hypotheses, by what is known
  MeanCurve law;    // their mean
  MeanCurve curve;  // led through what is known; its times have the level of the known ones
};
// `given`: indices of the settings that are known.
Foretold foretell(const Sweep& sweep, const SettingLaw& law, std::span<const double> prior,
                  std::span<const std::size_t> given);

// The settings that a figure is made of: those from kLowestJudged up that are none of the given ones, nor equal to one.
std::vector<std::size_t> judged_settings(const Sweep& sweep, std::span<const std::size_t> given);

}  // namespace joulecast::settings
