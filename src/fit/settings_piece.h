// SPDX-License-Identifier: Apache-2.0
// The part of a pack that tells how GPUs follow clocks and power limits.
#pragma once

#include "fit/fit.h"
#include "predict/pack/writer.h"
#include "predict/settings/sweep.h"

namespace joulecast {

// The table and, as a text of the same name, its part of the report. Requires: at least one sweep.
Result<PackWriter> fit_settings_piece(const settings::SweepSet& set, Judging judging, const Step& step);

// In units of group_cost().
double settings_cost(const settings::SweepSet& set, Judging judging);

}  // namespace joulecast
