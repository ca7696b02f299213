// SPDX-License-Identifier: Apache-2.0
// Rows for tests of what is fitted to them.
#pragma once

#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <string_view>

#include "fit/booster.h"

namespace joulecast {

inline constexpr std::string_view kFriedmanNames[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};

// Friedman's first function (Annals of Statistics 19, 1991) over 400 rows of ten columns, five of them noise.
// tools/fit/forests.py makes the same rows.
struct Friedman {
  TrainingSet learn, judge;
};
inline Friedman friedman() {
  Friedman out;
  std::uint32_t state = 1;
  const auto next = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) / 16777216.0F;
  };
  for (int i = 0; i < 400; ++i) {
    float x[10];
    for (float& value : x) value = next();
    const double noise = 2.0 * (static_cast<double>(next()) - 0.5);
    const double y = 10.0 * std::sin(std::numbers::pi * double{x[0]} * double{x[1]}) +
                     20.0 * (double{x[2]} - 0.5) * (double{x[2]} - 0.5) + 10.0 * double{x[3]} + 5.0 * double{x[4]};
    TrainingSet& set = i < 200 ? out.learn : out.judge;
    set.width = 10;
    set.features.insert(set.features.end(), std::begin(x), std::end(x));
    set.targets.push_back(static_cast<float>(y + noise));
    set.weights.push_back(1.0F);
  }
  return out;
}

}  // namespace joulecast
