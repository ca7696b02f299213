// SPDX-License-Identifier: Apache-2.0
// Fits the settings law: the constants of each swept GPU, and what workloads are like (the prior over hypotheses).
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "predict/settings/settings_model.h"
#include "predict/settings/sweep.h"

namespace joulecast::settings {

using SweepViews = std::vector<const Sweep*>;

// The constants under which each sweep's best hypothesis fits best, held by a Gaussian around the defaults of
// GpuConstants. Requires: sweeps of one GPU.
GpuConstants fit_constants(std::span<const Sweep* const> sweeps);

// Fits every GPU of the sweeps, then the prior: rows that stand for what the sweeps with times say about their
// workloads, every network counting the same.
SettingsModel fit_settings(std::span<const Sweep* const> sweeps);

// The same for a part of the sweeps, taking the constants of their GPUs from a model that has them.
SettingsModel restricted(const SettingsModel& model, std::span<const Sweep* const> sweeps);

// Posterior of a sweep over the hypothesis grid, all its settings known.
Weights posterior_of(const Sweep& sweep, const SettingLaw& law, std::span<const double> prior);

}  // namespace joulecast::settings
