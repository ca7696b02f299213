// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "predict/power_law.h"

namespace joulecast {

// One measured operation as the law sees it.
struct BusyRow {
  Physics physics;
  double time = 0;   // seconds, as the law will be asked
  double share = 0;  // of the power between waiting and limit, measured
  double weight = 1;
};

// That with the least weighted squared error, no part below 0. All 0 for no rows. Deterministic.
PowerLaw least_squares_law(const std::vector<BusyRow>& rows);

}  // namespace joulecast
