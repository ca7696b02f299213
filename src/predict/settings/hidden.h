// SPDX-License-Identifier: Apache-2.0
// What the estimates of a network's operations say about the hidden quantities of the settings law.
#pragma once

#include <span>

#include "predict/settings/settings_model.h"

namespace joulecast::settings {

// One kind of operation of the network at the default setting.
struct BusyOperation {
  double busy = 0;     // seconds the GPU works on all of them
  double power = 0;    // watts while it does
  double compute = 0;  // seconds of one, if only arithmetic took time
  double memory = 0;   // the same of memory traffic
  double held = 1.0;   // the share of the clock that large work of this arithmetic keeps under the default limit
};

// Means with standard deviations; of `dynamic` its logarithm's.
struct HiddenEstimate {
  double sensitivity = 0.5, sensitivity_sigma = 0.2;
  double low_share = 0.1, low_sigma = 0.07;
  double dynamic = 0.5, dynamic_sigma = 0.25;
};

// `time` is the network's; what the GPU is not busy of it is the low phase. Powers are taken as shares of `limit_w`.
// An operation at the limit hides its demand: it is what makes the law throttle to `held`, or a tenth more than fits.
HiddenEstimate hidden_of(std::span<const BusyOperation> operations, double time, double limit_w, const SettingLaw& law);

// The prior with the estimate: independent normal distributions over the grid's axes. Not normalised.
Weights grid_prior_with(const Weights& prior, const HiddenEstimate& estimate);

}  // namespace joulecast::settings
