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
// What a board may draw in the mean under `limit`, whose default limit is `usual`: in Zeus' sweeps of V100, P100 and
// A40 hardly more down to half of the default, but at a third an A40 up to 1.21 times as much.
Watts most_drawn(Watts limit, Watts usual);

// Those of the prediction, of power upwards no less than `power_up`: the limit cuts the upper bound off at the default
// setting, not at lower ones. Of what was measured only the error of measuring is left (2 % of time, 3 % of power).
BaseWidths base_widths(const Prediction& base, double power_up, std::span<const MeasuredRun> measured);

// Of a step that host and GPU share side by side (compose()), the GPU's part; 0 where the host alone takes longer.
Seconds busy_part(Seconds step, Seconds host, double sharpness);

// `base` with time, power and energy of `at`; its breakdown is dropped, memory and the rest stay, what the GPU is busy
// for too. What the base does not know and what the settings add are independent: half-widths add up as squares.
Prediction applied(const Prediction& base, const BaseWidths& widths, const SettingPrediction& at,
                   const Setting& setting);

}  // namespace joulecast::settings
