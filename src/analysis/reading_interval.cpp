// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading_interval.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/channel_series.h"
#include "analysis/sensor_check.h"
#include "series/moments.h"

namespace joulecast {
namespace {

// A gap of more than one and a half intervals has room for a reading.
constexpr double kGap = 1.5;
// Fewer missing ones change nothing.
constexpr double kWorthSaying = 0.01;
constexpr std::size_t kBlock = 20;  // gaps whose median is their pace
constexpr double kMilli = 1000;

std::vector<double> gaps_of(const std::vector<Reading>& readings) {
  std::vector<double> out;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    out.push_back(seconds_of(readings[i].time) - seconds_of(readings[i - 1].time));
  }
  return out;
}

bool dropped_by_driver(const Recording& recording, std::size_t channel) {
  return std::any_of(recording.absences.begin(), recording.absences.end(), [&](const AbsenceRecord& record) {
    return record.channel == channel && record.absence == Absence::kLost;
  });
}

// Of a source that has every value once. Registers are polled as often as somebody likes.
std::optional<double> pace_of_buffer(const Recording& recording, std::size_t channel) {
  const Channel& own = recording.channels[channel];
  if (!own.source.ends_with("-buffer") || dropped_by_driver(recording, channel)) return std::nullopt;
  if (sensor_class_of(recording, own) != series::SensorClass::kD) return std::nullopt;
  return series::meaning(series::SensorClass::kD).period->value();
}

std::optional<std::string> missing_text(const std::vector<double>& gaps, double interval) {
  std::size_t missing = 0;
  for (const double gap : gaps) {
    if (gap > kGap * interval) missing += static_cast<std::size_t>(std::round(gap / interval)) - 1;
  }
  const std::size_t all = gaps.size() + 1 + missing;
  if (static_cast<double>(missing) < kWorthSaying * static_cast<double>(all)) return std::nullopt;
  return fmt::format("{} of {} readings are missing, by one each {:.4g} ms", missing, all, interval * kMilli);
}

struct Pace {
  double seconds = 0;
  std::size_t from = 0;  // index of its first gap
};

std::optional<std::string> change_text(const std::vector<Reading>& readings, const std::vector<double>& gaps) {
  std::vector<Pace> paces;
  for (std::size_t i = 0; i + kBlock <= gaps.size(); i += kBlock) {
    const auto at = gaps.begin() + static_cast<std::ptrdiff_t>(i);
    paces.push_back({*series::median({at, at + kBlock}), i});
  }
  const auto slower = [](const Pace& a, const Pace& b) { return a.seconds < b.seconds; };
  const auto least = std::min_element(paces.begin(), paces.end(), slower);
  const auto first =
      std::find_if(paces.begin(), paces.end(), [&](const Pace& pace) { return pace.seconds > kGap * least->seconds; });
  if (first == paces.end()) return std::nullopt;
  const double at = seconds_of(readings[first->from].time) - seconds_of(readings.front().time);
  return fmt::format(
      "its readings come every {:.4g} ms in one part and every {:.4g} ms in another (from {:.4g} s on): "
      "some may be missing there; --expected-interval says how often it was read",
      least->seconds * kMilli, first->seconds * kMilli, at);
}

std::string pace_text(const Recording& recording, const Channel& channel, const std::vector<double>& gaps) {
  const double gap = *series::median(gaps);
  std::string out = fmt::format("a reading each {:.4g} ms", gap * kMilli);
  if (const auto sensor = sensor_class_of(recording, channel)) {
    const double period = series::meaning(*sensor).period.value_or(Seconds{gap}).value();
    if (gap > kGap * period) out += fmt::format(", of a sensor that has a new one each {:.4g} ms", period * kMilli);
  }
  return out +
         "; whether more were asked for, and regularly lost, no log says "
         "(--expected-interval does)";
}

std::optional<std::string> doubt_of(const Recording& recording, std::size_t channel, std::optional<Seconds> expected) {
  const std::vector<Reading>& readings = recording.readings[channel];
  const std::vector<double> gaps = gaps_of(readings);
  if (gaps.size() < 2) return std::nullopt;
  if (expected) return missing_text(gaps, expected->value());
  if (const auto pace = pace_of_buffer(recording, channel)) return missing_text(gaps, *pace);
  // Our own sensors are read at a pace that changes, and say what they lose.
  if (!recording.head.contains("imported")) return std::nullopt;
  if (auto changes = change_text(readings, gaps)) return changes;
  return pace_text(recording, recording.channels[channel], gaps);
}

}  // namespace

std::vector<std::string> interval_doubts(const Recording& recording, const std::vector<DeviceSummary>& devices,
                                         std::optional<Seconds> expected) {
  // GPUs of one log mostly have the same to say.
  std::vector<std::pair<std::string, std::string>> said;
  for (const DeviceSummary& device : devices) {
    if (device.runs.empty() || device.runs.front().energy.empty()) continue;
    const std::string& source = device.runs.front().energy.front().source;
    const auto channel = power_channel(recording, device.device, source);
    if (!channel || recording.channels[*channel].signal != Signal::kPower) continue;
    const auto doubt = doubt_of(recording, *channel, expected);
    if (!doubt) continue;
    const std::string text = fmt::format("{}: {}", source, *doubt);
    const auto at = std::find_if(said.begin(), said.end(), [&](const auto& one) { return one.second == text; });
    if (at == said.end()) {
      said.emplace_back(device.device, text);
    } else {
      at->first += ", " + device.device;
    }
  }
  std::vector<std::string> out;
  out.reserve(said.size());
  for (const auto& [names, text] : said) out.push_back(fmt::format("{}: {}", names, text));
  return out;
}

}  // namespace joulecast
