// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "measure/sweep_bootstrap.h"
#include "measure/sweep_result.h"

namespace joulecast {

std::size_t SweepGroup::fewest_runs() const {
  std::size_t out = settings.front().estimates.front().count;
  for (const SweepSetting& setting : settings) out = std::min(out, setting.estimates.front().count);
  return out;
}

std::string SweepGroup::too_few_runs() const {
  const std::size_t runs = fewest_runs();
  if (settings.size() < 2 || runs >= kLeastRunsToDraw) return {};
  return fmt::format("{} of a setting {} too few to say how sure its place is: that takes {}",
                     runs == 1 ? "1 run" : fmt::format("{} runs", runs), runs == 1 ? "is" : "are", kLeastRunsToDraw);
}

std::string verdict_key(SweepVerdict verdict) {
  switch (verdict) {
    case SweepVerdict::kReferenceIsBest:
      return "reference_is_best";
    case SweepVerdict::kGain:
      return "gain";
    case SweepVerdict::kGainElsewhere:
      return "gain_elsewhere";
    case SweepVerdict::kNoMeasurableGain:
      return "no_measurable_gain";
    case SweepVerdict::kTooFewRuns:
      break;
  }
  return "too_few_runs";
}

std::string verdict_text(SweepVerdict verdict) {
  switch (verdict) {
    case SweepVerdict::kReferenceIsBest:
      return "the reference itself";
    case SweepVerdict::kGain:
      return "a gain";
    case SweepVerdict::kGainElsewhere:
      return "a gain at others, not surely here";
    case SweepVerdict::kNoMeasurableGain:
      return "no measurable gain";
    case SweepVerdict::kTooFewRuns:
      break;
  }
  return "too few runs to tell";
}

}  // namespace joulecast
