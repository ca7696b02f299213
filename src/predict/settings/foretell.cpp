// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/foretell.h"

#include <algorithm>
#include <utility>

namespace joulecast::settings {

Foretold foretell(const Sweep& sweep, const SettingLaw& law, std::span<const double> prior,
                  std::span<const std::size_t> given) {
  Curves curves = curves_of(law, hypothesis_grid(), sweep.points);
  const std::vector<Known> known = sweep.known(given);
  Weights weights = posterior(prior, misfits(curves, known));
  MeanCurve mean = mean_curve(curves, weights);
  MeanCurve curve = through_known(mean, sweep.points, known);
  return {std::move(curves), std::move(weights), std::move(mean), std::move(curve)};
}

std::vector<std::size_t> judged_settings(const Sweep& sweep, std::span<const std::size_t> given) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < sweep.points.size(); ++i) {
    const bool known =
        std::any_of(given.begin(), given.end(), [&](std::size_t g) { return sweep.points[g] == sweep.points[i]; });
    if (!known && sweep.points[i].limit >= kLowestJudged) out.push_back(i);
  }
  return out;
}

}  // namespace joulecast::settings
