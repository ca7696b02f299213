// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "cli/json.h"
#include "joulecast/predict.h"

namespace joulecast::cli {

template <typename Unit>
Json interval_json(const Interval<Unit>& interval) {
  return {{"value", json_number(interval.value.value())},
          {"lo", json_number(interval.lo.value())},
          {"hi", json_number(interval.hi.value())},
          {"level", kIntervalLevel}};
}

inline Interval<Bytes> whole_bytes(const Interval<Bytes>& interval) {
  const auto whole = [](Bytes bytes) { return Bytes{std::round(bytes.value())}; };
  return {whole(interval.value), whole(interval.lo), whole(interval.hi)};
}

inline Json setting_json(const Setting& setting) {
  return {{"sm_clock_mhz", json_number(setting.sm_clock->value() / 1e6)},
          {"power_limit_w", json_number(setting.power_limit->value())}};
}

}  // namespace joulecast::cli
