// SPDX-License-Identifier: Apache-2.0
// A prediction carried over to another setting.
#pragma once

#include <span>

#include "joulecast/predict.h"
#include "predict/settings/setting_curve.h"

namespace joulecast::settings {

// Widths of an interval to either side, as logarithms.
struct Sides {
  double down = 0, up = 0;
};
// At the default setting.
struct BaseWidths {
  Sides time, power, energy;
};
// Those of the prediction, of power upwards no less than `power_up`: the limit cuts the upper bound off at the default
// setting, not at lower ones. Of what was measured only the error of measuring is left (2 % of time, 3 % of power).
BaseWidths base_widths(const Prediction& base, double power_up, std::span<const MeasuredRun> measured);

// `base` with time, power and energy of `at`; its breakdown is dropped, memory and the rest stay. What the base does
// not know and what the settings add are independent: half-widths add up as squares.
Prediction applied(const Prediction& base, const BaseWidths& widths, const SettingPrediction& at,
                   const Setting& setting);

}  // namespace joulecast::settings
