// SPDX-License-Identifier: Apache-2.0
#include "predict/spread.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predict/pack_names.h"

namespace joulecast {

std::vector<std::string_view> spread_row_names(Group group) {
  std::vector<std::string_view> names = row_names(group);
  names.emplace_back("correction");
  return names;
}

void write_spread_row(const Work& work, const Device& device, Situation situation, double time, std::span<float> row) {
  const std::size_t own = feature_names(group_of(work)).size();
  const Physics physics = physics_of(work, device, situation, row);
  write_gpu_features(physics, device, row.subspan(own));
  write_power_features(physics, device, time, row.subspan(own + kGpuFeatures.size()));
  row.back() = static_cast<float>(std::log(time / physics.bound));
}

namespace {

Result<ForestView> spread_forest(const Pack& pack, std::string_view what, Group group) {
  const std::string section = pack_names::spread(what, name(group));
  JC_ASSIGN_OR_RETURN(ForestView forest, pack.forest(section));
  if (forest.feature_names() != spread_row_names(group)) {
    return invalid(fmt::format(
        "forest '{}' wants other features than this program computes; use the pack it was shipped with", section));
  }
  return forest;
}

double spread_of(const ForestView& forest, std::span<const float> row) {
  float answer = 0.0F;
  forest.predict(row, 1, {&answer, 1});
  return std::exp(static_cast<double>(answer));
}

}  // namespace

Result<SpreadModels> SpreadModels::from(const Pack& pack) {
  SpreadModels out;
  const std::vector<std::string_view> forests = pack.forests();
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    const std::string wanted = pack_names::spread("time", name(group));
    if (std::find(forests.begin(), forests.end(), wanted) == forests.end()) continue;
    JC_ASSIGN_OR_RETURN(const ForestView time, spread_forest(pack, "time", group));
    JC_ASSIGN_OR_RETURN(const ForestView power, spread_forest(pack, "power", group));
    JC_ASSIGN_OR_RETURN(const ForestView energy, spread_forest(pack, "energy", group));
    out.models_.emplace(group, Models{time, power, energy});
  }
  return out;
}

SpreadFactors SpreadModels::of(const Work& work, const Device& device, Situation situation,
                               double predicted_time) const {
  const auto models = models_.find(group_of(work));
  if (models == models_.end()) return {};
  std::vector<float> row(spread_row_names(models->first).size());
  write_spread_row(work, device, situation, predicted_time, row);
  const Models& m = models->second;
  return {spread_of(m.time, row), spread_of(m.power, row), spread_of(m.energy, row)};
}

}  // namespace joulecast
