// SPDX-License-Identifier: Apache-2.0
// Mean curves of power and cumulative energy over repeated runs, on times relative to each run's begin. Runs end at
// different times: each moment is of the runs that reach it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/account.h"
#include "analysis/phases.h"
#include "series/resample.h"
#include "series/runs.h"

namespace joulecast {

struct CurveRun {
  const Recording* recording = nullptr;
  const Accountant* accountant = nullptr;
  Phase command;
};

struct DeviceCurves {
  std::string device;
  series::MeanCurve power_w, energy_j;  // on the same moments
  std::size_t left_out = 0;             // runs without enough readings of this device
  series::Warnings warnings;
};

struct CurveOptions {
  Hertz rate{10};
  series::Interpolation interpolation = series::Interpolation::kLinear;  // of power; energy is always read linearly
};

// One entry a device that any of the runs has readings of. Energy is that of the best source: a counter's own steps, or
// the integral of power. Errors: mean_curve()'s and resample()'s; kNotFound where nothing has readings.
Result<std::vector<DeviceCurves>> mean_curves(const std::vector<CurveRun>& runs, const CurveOptions& options = {});

}  // namespace joulecast
