// SPDX-License-Identifier: Apache-2.0
#include "series/polynomial.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "series/moments.h"

namespace joulecast::series {
namespace {

Result<PolynomialFit> fit_only(std::span<const double> x, std::span<const double> y, std::size_t degree) {
  PolynomialFit result;
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  result.centre = (*low + *high) / 2;
  result.scale = *high > *low ? (*high - *low) / 2 : 1;
  Design design{degree + 1, {}};
  for (const double value : x) {
    double power = 1;
    for (std::size_t k = 0; k <= degree; ++k, power *= (value - result.centre) / result.scale)
      design.values.push_back(power);
  }
  JC_ASSIGN_OR_RETURN(result.fit, least_squares(design, y));
  return result;
}

std::optional<double> leave_one_x_out(std::span<const double> x, std::span<const double> y, std::size_t degree) {
  const std::set<double> different(x.begin(), x.end());
  if (different.size() < degree + 2) return std::nullopt;
  CompensatedSum squares;
  for (const double out : different) {
    std::vector<double> kept_x, kept_y;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == out) continue;
      kept_x.push_back(x[i]);
      kept_y.push_back(y[i]);
    }
    const Result<PolynomialFit> fit = fit_only(kept_x, kept_y, degree);
    if (!fit) return std::nullopt;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (x[i] == out) squares.add(std::pow(y[i] - fit->at(out), 2));
    }
  }
  return std::sqrt(squares.value() / static_cast<double>(x.size()));
}

}  // namespace

double PolynomialFit::at(double x) const {
  double value = 0;
  for (auto c = fit.coefficients.rbegin(); c != fit.coefficients.rend(); ++c) value = value * (x - centre) / scale + *c;
  return value;
}

std::vector<double> PolynomialFit::coefficients() const {
  // Horner's scheme with the polynomial (x - centre) / scale for the variable.
  std::vector<double> plain;
  for (auto c = fit.coefficients.rbegin(); c != fit.coefficients.rend(); ++c) {
    std::vector<double> next(plain.size() + 1);
    for (std::size_t k = 0; k < plain.size(); ++k) {
      next[k + 1] += plain[k] / scale;
      next[k] -= plain[k] * centre / scale;
    }
    next[0] += *c;
    plain = std::move(next);
  }
  plain.resize(fit.coefficients.size());
  return plain;
}

Result<PolynomialFit> fit_polynomial(std::span<const double> x, std::span<const double> y, std::size_t degree) {
  if (x.size() != y.size()) return invalid(fmt::format("polynomial: {} x and {} y", x.size(), y.size()));
  if (std::any_of(x.begin(), x.end(), [](double value) { return !std::isfinite(value); })) {
    return invalid("polynomial: an x is not a number");
  }
  if (const std::size_t different = std::set<double>(x.begin(), x.end()).size(); different < degree + 1) {
    return invalid(fmt::format("polynomial of degree {}: {} different x; it needs {}", degree, different, degree + 1));
  }
  JC_ASSIGN_OR_RETURN(PolynomialFit result, fit_only(x, y, degree));
  result.leave_one_x_out = leave_one_x_out(x, y, degree);
  if (result.fit.degrees_of_freedom < 2) add(result.warnings, Warning::kFewSamples);
  return result;
}

}  // namespace joulecast::series
