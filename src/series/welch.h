// SPDX-License-Identifier: Apache-2.0
// Welch's test: two sets of measurements that do not belong together in pairs and may scatter differently.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/result.h"
#include "series/warning.h"

namespace joulecast::series {

struct WelchTest {
  double mean_difference = 0;  // second minus first
  double standard_error = 0;
  double degrees_of_freedom = 0;
  double low = 0, high = 0;  // of the mean difference
  std::optional<double> t;   // absent without scatter
  double p = 1;              // without scatter 0 where the means differ, else 1
  Warnings warnings;
};
// Errors: kInvalidInput for fewer than two values on a side, values that are no numbers, unless 0 < confidence < 1.
Result<WelchTest> welch_test(std::span<const double> first, std::span<const double> second, double confidence = 0.95);

// Holm's adjustment of probabilities of several tests that are looked at together, such as all settings of a sweep
// against one: each may be held against the usual bound. In the order of the input.
std::vector<double> holm(std::span<const double> p);

}  // namespace joulecast::series
