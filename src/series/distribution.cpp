// SPDX-License-Identifier: Apache-2.0
#include "series/distribution.h"

#include <cmath>

#include "base/check.h"

namespace joulecast::series {
namespace {

// The continued fraction of DLMF 8.17.22, evaluated by the modified method of Lentz. Converges quickly for
// x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr double kEnough = 1e-16;
  constexpr int kMostTerms = 10000;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double numerator = 1.0;
  double denominator = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = denominator;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    denominator = 1 / away_from_zero(1 + even * denominator);
    numerator = away_from_zero(1 + even / numerator);
    fraction *= denominator * numerator;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    denominator = 1 / away_from_zero(1 + odd * denominator);
    numerator = away_from_zero(1 + odd / numerator);
    fraction *= denominator * numerator;
    if (std::abs(denominator * numerator - 1) < kEnough) break;
  }
  return fraction;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  JC_CHECK(a > 0 && b > 0 && x >= 0 && x <= 1, "incomplete beta outside its domain");
  if (x == 0 || x == 1) return x;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

double t_two_sided(double t, double dof) {
  JC_CHECK(dof > 0, "degrees of freedom must be positive");
  return std::isinf(t) ? 0 : incomplete_beta(dof / 2, 0.5, dof / (dof + t * t));
}

double t_cumulative(double t, double dof) {
  const double tail = t_two_sided(t, dof) / 2;
  return t > 0 ? 1 - tail : tail;
}

// Halving: the function is monotone, and this is never the slow part.
double t_quantile(double p, double dof) {
  JC_CHECK(p > 0 && p < 1, "a quantile's share is within 0 to 1");
  if (p < 0.5) return -t_quantile(1 - p, dof);
  const double tail = 2 * (1 - p);
  double low = 0, high = 1;
  while (t_two_sided(high, dof) > tail && high < 1e300) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle == low || middle == high) break;
    (t_two_sided(middle, dof) > tail ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

}  // namespace joulecast::series
