// SPDX-License-Identifier: Apache-2.0
#include "predict/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "predict/pack_names.h"

namespace joulecast {

Result<void> fit_to_device(Work& work, const Gpu& gpu, const Device& device) {
  return std::visit(
      [&](auto& w) -> Result<void> {
        if constexpr (requires { w.arithmetic; }) {
          if (w.arithmetic == Arithmetic::kTf32 && device.tf32 <= 0.0) w.arithmetic = Arithmetic::kFp32;
          if (device.peak(w.arithmetic) <= 0.0) {
            return unsupported(fmt::format("GPU '{}' has no {} units in the catalogue; try another precision", gpu.id,
                                           name(w.arithmetic)));
          }
        }
        return {};
      },
      work);
}

void append_power_features(const Physics& physics, const Device& device, double time, FeatureRow& features) {
  // Elementwise work has compute time 0: it never decides.
  const double values[] = {physics.compute / time,
                           physics.memory / time,
                           physics.host / time,
                           time * 1e6,
                           device.idle / device.limit,
                           physics.peak / 1e12 / device.limit,
                           device.bandwidth / 1e9 / device.limit,
                           physics.memory * 1e6};
  static_assert(std::size(values) == kPowerFeatures.size());
  for (const double value : values) features.push_back(static_cast<float>(value));
}

double power_share(double watts, const Device& device) {
  return (watts - device.idle) / (device.limit - device.idle);
}

double power_from_share(double share, const Device& device) {
  return device.idle + std::clamp(share, 0.0, 1.0) * (device.limit - device.idle);
}

namespace {

bool same_names(const ForestView& forest, std::span<const std::string_view> wanted,
                std::span<const std::string_view> more) {
  const std::vector<std::string_view> have = forest.feature_names();
  if (have.size() != wanted.size() + more.size()) return false;
  return std::equal(wanted.begin(), wanted.end(), have.begin()) &&
         std::equal(more.begin(), more.end(), have.begin() + static_cast<std::ptrdiff_t>(wanted.size()));
}

Result<ForestView> checked(const Pack& pack, std::string_view what, Group group,
                           std::span<const std::string_view> more) {
  const std::string section = fmt::format("{}/{}", what, name(group));
  JC_ASSIGN_OR_RETURN(ForestView forest, pack.forest(section));
  if (!same_names(forest, feature_names(group), more)) {
    return invalid(fmt::format(
        "forest '{}' wants other features than this program computes; use the pack it was shipped with", section));
  }
  return forest;
}

}  // namespace

Result<Estimator> Estimator::from(const Pack& pack) {
  Estimator out;
  for (std::size_t g = 0; g < kGroups; ++g) {
    const auto group = static_cast<Group>(g);
    JC_ASSIGN_OR_RETURN(out.models_[g].time, checked(pack, "time", group, {}));
    JC_ASSIGN_OR_RETURN(out.models_[g].power, checked(pack, "power", group, kPowerFeatures));
  }
  JC_RETURN_IF_ERROR(out.read_trust(pack));
  return out;
}

bool Estimator::seen(Group group, std::string_view gpu_id) const {
  return seen_.contains(fmt::format("seen/{}/{}", name(group), gpu_id));
}

// Keys "seen/<group>/<gpu id>" name what was measured where.
Result<void> Estimator::read_trust(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(const TableView trust, pack.table(pack_names::kTrust));
  JC_ASSIGN_OR_RETURN(const TableView gpus, pack.table(pack_names::kGpus));
  for (std::size_t g = 0; g < kGroups; ++g) unseen_[g] = trust.find(name(static_cast<Group>(g))).value_or(0.0);
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string_view key = gpus.key(i);
    for (std::size_t g = 0; g < kGroups; ++g) {
      const std::string prefix = fmt::format("seen/{}/", name(static_cast<Group>(g)));
      if (!key.starts_with(prefix)) continue;
      known_.try_emplace(std::string(key.substr(prefix.size())), unseen_).first->second[g] = 1.0;
      seen_.insert(std::string(key));
    }
  }
  return {};
}

const Estimator::Trust& Estimator::trust(std::string_view gpu_id) const {
  const auto known = known_.find(gpu_id);
  return known == known_.end() ? unseen_ : known->second;
}

void Estimator::predict(std::span<const Work> works, const Device& device, Situation situation, const Trust& trust,
                        std::span<OperationPrediction> out) const {
  std::array<std::vector<std::uint32_t>, kGroups> rows;
  for (std::size_t i = 0; i < works.size(); ++i)
    rows[static_cast<std::size_t>(group_of(works[i]))].push_back(static_cast<std::uint32_t>(i));
  for (std::size_t g = 0; g < kGroups; ++g) {
    if (!rows[g].empty()) predict_group(static_cast<Group>(g), rows[g], works, device, situation, trust[g], out);
  }
}

void Estimator::predict_group(Group group, std::span<const std::uint32_t> rows, std::span<const Work> works,
                              const Device& device, Situation situation, double trust,
                              std::span<OperationPrediction> out) const {
  const Models& models = models_[static_cast<std::size_t>(group)];
  const std::size_t width = feature_names(group).size();
  const std::size_t power_width = width + kPowerFeatures.size();
  std::vector<float> features;
  std::vector<float> wide;
  features.reserve(rows.size() * width);
  wide.reserve(rows.size() * power_width);
  for (const std::uint32_t row : rows) {
    FeatureRow values;
    out[row].physics = physics_of(works[row], device, situation, values);
    features.insert(features.end(), values.begin(), values.end());
  }
  std::vector<float> result(rows.size());
  models.time->predict(features, rows.size(), result);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    OperationPrediction& p = out[rows[i]];
    p.time = p.physics.bound * std::exp(trust * static_cast<double>(result[i]));
    FeatureRow more;
    append_power_features(p.physics, device, p.time, more);
    const auto own = features.begin() + static_cast<std::ptrdiff_t>(i * width);
    wide.insert(wide.end(), own, own + static_cast<std::ptrdiff_t>(width));
    wide.insert(wide.end(), more.begin(), more.end());
  }
  models.power->predict(wide, rows.size(), result);
  for (std::size_t i = 0; i < rows.size(); ++i)
    out[rows[i]].power = power_from_share(static_cast<double>(result[i]), device);
}

}  // namespace joulecast
