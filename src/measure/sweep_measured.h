// SPDX-License-Identifier: Apache-2.0
// What runs of a sweep measured, whoever recorded them.
#pragma once

#include <string>
#include <vector>

#include "analysis/summary.h"
#include "measure/sweep_load.h"

namespace joulecast {

// Time, energy, power and clock of all GPUs of the run together, by what its recording comes to.
void add_measured(SweepMeasurement& run, const RunSummary& summary);

// Those that are not there yet.
void add_once(const std::vector<std::string>& sentences, std::vector<std::string>& out);

// Runs are compared with others of their group by what all of them have: one without energy is left out where others
// have some.
void settle_energy(LoadedSweep& sweep);

}  // namespace joulecast
