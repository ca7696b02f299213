// SPDX-License-Identifier: Apache-2.0
#include "profile/sensor_span.h"

#include <fmt/format.h>

#include "analysis/channel_series.h"
#include "analysis/sensor_check.h"
#include "series/sensor_class.h"

namespace joulecast::profile {
namespace {

constexpr double kBothEdges = 2.449489742783178;  // sqrt(6): the deviation of the difference of two even spreads
constexpr Seconds kUsualUpdate{0.1};
constexpr Seconds kTrailing{10};

Seconds seen_often(Seconds update) {
  return Seconds{update.value() / (kBothEdges * kPowerTarget)};
}

SensorSpan span_of(const Channel& channel, const std::optional<series::SensorClass>& sensor) {
  if (!sensor) return {seen_often(kUsualUpdate), channel.source};
  const series::SensorMeaning means = series::meaning(*sensor);
  SensorSpan out{seen_often(means.period.value_or(kUsualUpdate)),
                 fmt::format("{}, class {}: {}", channel.source, series::letter(*sensor), series::text(*sensor))};
  if (const auto seen = means.seen()) out.span = Seconds{out.span.value() / *seen};
  if (means.rise == series::Rise::kRamp) out.span = Seconds{out.span.value() + means.window->value()};
  if (means.rise == series::Rise::kCharge) out.span = kTrailing;
  if (means.rise == series::Rise::kEstimated) out.span = Seconds{0};
  return out;
}

}  // namespace

std::optional<SensorSpan> span_for_power(const Recording& recording, const std::string& device) {
  const Channel* best = nullptr;
  for (const Channel& channel : recording.channels) {
    if (channel.device != device || !tells_energy(channel)) continue;
    if (best == nullptr || source_rank(channel) < source_rank(*best)) best = &channel;
  }
  if (best == nullptr) return std::nullopt;
  return span_of(*best, best->signal == Signal::kEnergy ? std::nullopt : sensor_class_of(recording, *best));
}

}  // namespace joulecast::profile
