// SPDX-License-Identifier: Apache-2.0
#include "predict/estimator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "predict/law.h"
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

void write_power_features(const Physics& physics, const Device& device, double time, std::span<float> features) {
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
  write_features(values, features);
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

namespace {

// Which works belong to which group, without a list for each: order[first[g]] .. order[first[g + 1] - 1].
struct ByGroup {
  std::vector<std::uint32_t> order;
  std::array<std::uint32_t, kGroups + 1> first{};

  [[nodiscard]] std::span<const std::uint32_t> rows(std::size_t group) const {
    return std::span(order).subspan(first[group], first[group + 1] - first[group]);
  }
};

ByGroup by_group(std::span<const Work> works) {
  ByGroup out;
  out.order.resize(works.size());
  for (const Work& work : works) ++out.first[static_cast<std::size_t>(group_of(work)) + 1];
  for (std::size_t g = 0; g < kGroups; ++g) out.first[g + 1] += out.first[g];
  std::array<std::uint32_t, kGroups + 1> next = out.first;
  for (std::uint32_t i = 0; i < works.size(); ++i) out.order[next[static_cast<std::size_t>(group_of(works[i]))]++] = i;
  return out;
}

}  // namespace

void Estimator::predict(std::span<const Work> works, const Device& device, Situation situation, const Trust& trust,
                        std::span<OperationPrediction> out) const {
  const ByGroup groups = by_group(works);
  const std::size_t most = works.size() * (kMaxFeatures + kPowerFeatures.size() + 1);
  const auto scratch = std::make_unique_for_overwrite<float[]>(most);
  for (std::size_t g = 0; g < kGroups; ++g) {
    const std::span<const std::uint32_t> rows = groups.rows(g);
    if (rows.empty()) continue;
    const std::size_t columns = feature_names(static_cast<Group>(g)).size() + kPowerFeatures.size();
    predict_group({static_cast<Group>(g), rows, columns}, works, device, situation, trust[g], {scratch.get(), most},
                  out);
  }
}

// A row of features is what the time model sees, then what the power model sees besides; the models' answers come
// after the last row.
void Estimator::predict_group(const GroupRows& group, std::span<const Work> works, const Device& device,
                              Situation situation, double trust, std::span<float> scratch,
                              std::span<OperationPrediction> out) const {
  const Models& models = models_[static_cast<std::size_t>(group.group)];
  const std::size_t count = group.rows.size();
  const std::span<float> features = scratch.first(count * group.columns);
  const std::span<float> answers = scratch.subspan(features.size(), count);
  const auto row = [&](std::size_t i) { return features.subspan(i * group.columns, group.columns); };
  for (std::size_t i = 0; i < count; ++i) {
    out[group.rows[i]].physics = physics_of(works[group.rows[i]], device, situation, row(i));
  }
  models.time->predict(features, count, answers);
  for (std::size_t i = 0; i < count; ++i) {
    OperationPrediction& p = out[group.rows[i]];
    p.time = p.physics.bound * std::exp(trust * static_cast<double>(answers[i]));
    write_power_features(p.physics, device, p.time, row(i).last(kPowerFeatures.size()));
  }
  models.power->predict(features, count, answers);
  for (std::size_t i = 0; i < count; ++i)
    out[group.rows[i]].power = power_from_share(static_cast<double>(answers[i]), device);
}

}  // namespace joulecast
