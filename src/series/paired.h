// SPDX-License-Identifier: Apache-2.0
// Did a setting change anything? Student's test of paired measurements, and Pearson's correlation.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "joulecast/result.h"
#include "series/warning.h"

namespace joulecast::series {

struct PairedTest {
  std::size_t pairs = 0;
  double mean_difference = 0;  // second minus first
  double standard_error = 0;
  double low = 0, high = 0;  // of the mean difference, by Student's t
  // Absent where all differences are equal: then there is no scatter to judge by.
  std::optional<double> t, p;
  Warnings warnings;
};
// Pairs belong together: the same repetition, the same order of measuring. Errors: kInvalidInput for unequal lengths,
// fewer than two pairs, values that are no numbers and unless 0 < confidence < 1.
Result<PairedTest> paired_test(std::span<const double> first, std::span<const double> second, double confidence = 0.95);

struct Correlation {
  std::size_t pairs = 0;
  double r = 0;
  std::optional<double> p;  // that no correlation looks like this; absent with fewer than three pairs
  Warnings warnings;
};
// Errors: kInvalidInput as above, and where one side does not vary.
Result<Correlation> pearson(std::span<const double> first, std::span<const double> second);

}  // namespace joulecast::series
