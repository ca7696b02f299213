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

// Means with standard deviations; of `dynamic` its logarithm's. The deviations are how far off these means were on 55
// sweeps of power limits in training (Zeus: ResNet-50, ShuffleNetV2, BERT on V100, P100, A40), beside the hypotheses
// that fit the sweeps. Of the low share operations say nothing: input that is late is no operation. It is no less than
// what a step is known to do beside them.
struct HiddenEstimate {
  double sensitivity = 0.5, sensitivity_sigma = 0.3;
  double dynamic = 0.5, dynamic_sigma = 0.5;
  double least_low_share = 0.0;
  double most_sensitivity = 1.1;  // were all of the GPU's time to follow the clock, beside what the host takes
};

// A whole step, of which the GPU is busy with the operations and otherwise waits for the host's next call, or for
// `beside` seconds of it for its input. `sharpness` is how host and GPU time meet: as in compose().
struct HiddenStep {
  std::span<const BusyOperation> operations;
  double time = 0;
  double sharpness = 6;
  double beside = 0;
};

// Gaps between calls are shorter than what a limit looks at, so the demand is the mean over the step. A clock of a half
// lengthens the step by less than the operations where they wait for the host: the sensitivity is what is left of it.
// Powers are taken as shares of `limit_w`. An operation at the limit hides its demand: it is what makes the law
// throttle to `held`, or a tenth more than fits.
HiddenEstimate hidden_of(const HiddenStep& step, double limit_w, const SettingLaw& law);

// The prior with the estimate: independent normal distributions over the axes of the grid. Not normalised.
Weights grid_prior_with(const Weights& prior, const HiddenEstimate& estimate);

}  // namespace joulecast::settings
