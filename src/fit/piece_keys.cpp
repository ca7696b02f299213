// SPDX-License-Identifier: Apache-2.0
#include "fit/piece_keys.h"

#include <array>
#include <span>

#include "fit/checkpoint.h"

namespace joulecast {

std::uint64_t key_of(Group group, const std::vector<Sample>& samples, std::string_view how) {
  ContentKey key;
  key.add_program();
  key.add(name(group));
  key.add(how);
  std::array<float, kMaxFeatures> features{};
  for (const Sample& s : samples) {
    const Physics p = physics_of(s.work, s.device, s.situation, features);
    key.add(std::span<const float>(features).first(feature_names(group).size()));
    key.add(s.key);
    key.add(s.gpu->id);
    key.add(s.table);
    // The bound, the power features and those of the GPU are made of these.
    const double numbers[] = {p.bound,
                              p.gpu,
                              p.host,
                              p.compute,
                              p.mean_compute,
                              p.memory,
                              p.peak,
                              p.bytes,
                              p.filling,
                              s.device.awake,
                              s.device.least,
                              s.device.limit,
                              s.time,
                              s.weight,
                              s.power_weight,
                              s.seen_weight[0],
                              s.seen_weight[1],
                              static_cast<double>(s.situation.bench()),
                              s.for_any_gpu ? 1.0 : 0.0,
                              s.for_modules ? 1.0 : 0.0,
                              s.device.sm,
                              s.device.clock,
                              s.device.bandwidth,
                              s.device.l2,
                              s.power.value_or(-1.0),
                              s.power_from_own_time ? 1.0 : 0.0,
                              s.primary ? 1.0 : 0.0};
    key.add(std::span<const double>(numbers));
  }
  return key.value();
}

std::uint64_t key_of(const settings::SweepSet& set, std::string_view how) {
  ContentKey key;
  key.add_program();
  key.add(how);
  for (const settings::Sweep& sweep : set.sweeps) {
    for (const std::string_view text : {sweep.gpu->id, std::string_view(sweep.layout), std::string_view(sweep.workload),
                                        std::string_view(sweep.variant)})
      key.add(text);
    key.add(sweep.whole_run ? 1.0 : 0.0);
    key.add(sweep.limit_w);
    for (std::size_t i = 0; i < sweep.points.size(); ++i) {
      const auto& time = sweep.log_time[i];
      const double numbers[] = {sweep.points[i].clock, sweep.points[i].limit, time ? 1.0 : 0.0, time.value_or(0.0),
                                sweep.log_power[i].value_or(0.0)};
      key.add(std::span<const double>(numbers));
    }
  }
  return key.value();
}

}  // namespace joulecast
