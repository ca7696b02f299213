// SPDX-License-Identifier: Apache-2.0
#include "fit/power_law_fit.h"

#include <cmath>

#include "fit/settings/nelder_mead.h"

namespace joulecast {
namespace {

PowerLaw law_of(const std::vector<double>& parts) {
  return {.compute = std::abs(parts[0]), .memory = std::abs(parts[1]), .gpu = std::abs(parts[2])};
}

double error_of(const PowerLaw& law, const std::vector<BusyRow>& rows) {
  double sum = 0.0;
  for (const BusyRow& row : rows) {
    const double off = law.share(row.physics, row.time) - row.share;
    sum += row.weight * off * off;
  }
  return sum;
}

}  // namespace

PowerLaw least_squares_law(const std::vector<BusyRow>& rows) {
  if (rows.empty()) return {};
  const auto error = [&](const std::vector<double>& parts) { return error_of(law_of(parts), rows); };
  const std::vector<double> start{0.5, 0.5, 0.3};
  const settings::NelderMead options{.step = 0.3, .width = 1e-4, .tolerance = 1e-9 * error(start), .evaluations = 2000};
  return law_of(settings::minimised(error, start, options));
}

}  // namespace joulecast
