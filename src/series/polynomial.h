// SPDX-License-Identifier: Apache-2.0
// Polynomials through measurements, as of time or energy over a power limit, and what they are worth.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "series/least_squares.h"
#include "series/warning.h"

namespace joulecast::series {

struct PolynomialFit {
  // Of powers of (x - centre) / scale, lowest first: powers of watts or megahertz themselves are nearly dependent.
  LinearFit fit;
  double centre = 0, scale = 1;
  // Root mean square error at settings the fit did not see: all measurements of one x are left out together.
  // Repetitions of the same x make fit.leave_one_out look better than the curve between settings is. Absent where too
  // few x remain.
  std::optional<double> leave_one_x_out;
  Warnings warnings;  // kFewSamples: fewer than two degrees of freedom, where R2 says little

  [[nodiscard]] double at(double x) const;
  [[nodiscard]] std::vector<double> coefficients() const;  // of powers of x itself, lowest first
};
// Errors: least_squares()'s; kInvalidInput with fewer than degree + 1 different x.
Result<PolynomialFit> fit_polynomial(std::span<const double> x, std::span<const double> y, std::size_t degree);

}  // namespace joulecast::series
