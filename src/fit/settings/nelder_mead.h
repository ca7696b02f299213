// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace joulecast::settings {

// Minimises a function of a few variables without derivatives (Nelder and Mead, The Computer Journal 7, 1965).
// Deterministic. Stops when the simplex is narrower than `width` and its values closer than `tolerance`, or after
// `evaluations`.
struct NelderMead {
  double step = 0.7;  // size of the first simplex
  double width = 0.01, tolerance = 0.1;
  std::size_t evaluations = 1000;
};
std::vector<double> minimised(const std::function<double(const std::vector<double>&)>& cost,
                              const std::vector<double>& start, const NelderMead& options);

}  // namespace joulecast::settings
