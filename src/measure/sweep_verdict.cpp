// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep_result.h"

namespace joulecast {

std::string verdict_key(SweepVerdict verdict) {
  switch (verdict) {
    case SweepVerdict::kReferenceIsBest:
      return "reference_is_best";
    case SweepVerdict::kGain:
      return "gain";
    case SweepVerdict::kNoMeasurableGain:
      return "no_measurable_gain";
    case SweepVerdict::kOneRunOnly:
      break;
  }
  return "one_run_only";
}

std::string verdict_text(SweepVerdict verdict) {
  switch (verdict) {
    case SweepVerdict::kReferenceIsBest:
      return "the reference itself";
    case SweepVerdict::kGain:
      return "a gain";
    case SweepVerdict::kNoMeasurableGain:
      return "no measurable gain";
    case SweepVerdict::kOneRunOnly:
      break;
  }
  return "of one run: unsure";
}

}  // namespace joulecast
