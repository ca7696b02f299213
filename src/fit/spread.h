// SPDX-License-Identifier: Apache-2.0
// Learns from the errors of rows that were left out how far off the predictions of such rows are.
#pragma once

#include <array>
#include <vector>

#include "fit/fit.h"
#include "fit/samples.h"
#include "joulecast/result.h"
#include "predict/spread.h"
#include "predict/trees/forest.h"

namespace joulecast {

// By sample, from models of the other half of the operations: what factors are calibrated with. Empty: 1 each.
struct HeldOutSpread {
  std::vector<double> time, power, energy;
};

struct SpreadFit {
  Forest time, power, energy;
  HeldOutSpread held_out;
};

// `held`: predictions of models that had not seen the sample. Primary rows only are learnt from. A quantity that fewer
// than kSpreadRows of them have gets a spread of 1. Errors: those of fit_forest().
Result<SpreadFit> fit_spread(Group group, const std::vector<Sample>& samples, const HeldOut& held);
inline constexpr std::size_t kSpreadRows = 200;
// From so many rows on the spread is what so large a share of errors is below, else their geometric mean.
inline constexpr std::size_t kQuantileRows = 20'000;
inline constexpr double kSpreadLevel = 0.9;

}  // namespace joulecast
