// SPDX-License-Identifier: Apache-2.0
#include "analysis/account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/averaged_power.h"
#include "analysis/channel_series.h"
#include "analysis/sensor_check.h"
#include "series/moments.h"

namespace joulecast {
namespace {

using series::Series;

constexpr double kSteppingError = 2.449489742783178;    // sqrt(6): both edges of a counter come up to a step late
constexpr std::uint64_t kPowerCapReasons = 0x4 | 0x80;  // NVML: SW power cap, HW power brake

// Part of [begin, end] inside the series' own time.
struct Overlap {
  double begin = 0, end = 0;
  [[nodiscard]] double length() const { return std::max(0.0, end - begin); }
};

Overlap overlap(const Series& series, double begin, double end) {
  if (series.time_s.empty()) return {};
  return {std::max(begin, series.time_s.front()), std::min(end, series.time_s.back())};
}

double longest_step(const Series& series, const Overlap& part) {
  double longest = 0;
  for (std::size_t i = 1; i < series.time_s.size(); ++i) {
    if (series.time_s[i] < part.begin || series.time_s[i - 1] > part.end) continue;
    longest = std::max(longest, series.time_s[i] - series.time_s[i - 1]);
  }
  return longest;
}

// How far `other` is off, as a share of `best`; absent where they agree.
std::optional<double> disagreement(const SourceEnergy& other, const SourceEnergy& best) {
  const double off = other.energy / best.energy - 1;
  const double noise = 2 * std::hypot(other.standard_error.value(), best.standard_error.value()) / best.energy.value();
  if (std::abs(off) > kAgreement + noise) return off;
  return std::nullopt;
}

// A meter that sees all of the time, far off a sensor that sees a part of it, is no second opinion: it is the answer.
std::string disagreement_text(const std::string& name, const SourceEnergy& other, const SourceEnergy& best,
                              double off) {
  constexpr double kFar = 0.25;
  std::string out = fmt::format("{} and {} disagree by {:+.0f} %", name, best.source, off * 100);
  const auto partly = [](const SourceEnergy& one) {
    return one.sensor == series::SensorClass::kA || one.sensor == series::SensorClass::kD;
  };
  if (std::abs(off) <= kFar || !partly(best) || partly(other)) return out;
  return out + fmt::format(": {} sees only a part of the time, and its energy may be worthless; believe {}",
                           best.source, name);
}

// An even spread from nothing to twice the mean deviates by the mean over the root of three.
void add_gaps(const std::vector<double>& gaps, double seconds, SourceEnergy& out) {
  double squares = std::pow(out.standard_error.value(), 2);
  for (const double gap : gaps) squares += std::pow(out.energy.value() * gap / seconds, 2) / 3;
  out.standard_error = Joules{std::sqrt(squares)};
}

double longest_covered(const Channel& channel, const Series& series) {
  if (channel.signal == Signal::kEnergy) return std::numeric_limits<double>::infinity();
  std::vector<double> gaps;
  for (std::size_t i = 1; i < series.time_s.size(); ++i) gaps.push_back(series.time_s[i] - series.time_s[i - 1]);
  return std::max(kUsualGapsBridged * series::median(gaps).value_or(0), kShortestUncovered.value());
}

// Lengths inside `part` of gaps longer than `longest`.
std::vector<double> uncovered(const Series& series, const Overlap& part, double longest) {
  std::vector<double> out;
  const auto& times = series.time_s;
  for (auto next = std::upper_bound(times.begin(), times.end(), part.begin); next != times.end(); ++next) {
    const double before = next == times.begin() ? *next : *(next - 1);
    if (before >= part.end) break;
    if (*next - before > longest)
      out.push_back(Overlap{std::max(before, part.begin), std::min(*next, part.end)}.length());
  }
  return out;
}

}  // namespace

Accountant::Accountant(const Recording& recording, std::vector<AppliedLine> lines)
    : recording_(recording), lines_(std::move(lines)) {
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    const Channel& channel = recording.channels[i];
    ChannelSeries own = series_of(recording, i);
    Prepared prepared{std::move(own.series), std::move(own.doubt), sensor_class_of(recording, channel), {}, 0};
    prepared.longest_covered_s = longest_covered(channel, prepared.series);
    if (prepared.sensor == series::SensorClass::kC) prepared.averaged.emplace(prepared.series);
    prepared_.push_back(std::move(prepared));
    if (std::find(devices_.begin(), devices_.end(), channel.device) == devices_.end())
      devices_.push_back(channel.device);
  }
}

Result<SourceEnergy> Accountant::energy(std::size_t channel, double begin, double end) const {
  const Prepared& prepared = prepared_[channel];
  const Series& own = prepared.series;
  const Overlap part = overlap(own, begin, end);
  if (own.time_s.size() < 2 || part.length() <= 0) return not_found("no readings");
  SourceEnergy out;
  out.source = recording_.channels[channel].source;
  out.sensor = prepared.sensor;
  const std::vector<double> gaps = uncovered(own, part, prepared.longest_covered_s);
  out.coverage = (part.length() - std::accumulate(gaps.begin(), gaps.end(), 0.0)) / (end - begin);
  if (out.coverage <= 0) return not_found("no readings");
  if (recording_.channels[channel].signal == Signal::kEnergy) {
    out.energy = Joules{value_at(own, Seconds{part.end}) - value_at(own, Seconds{part.begin})};
    out.standard_error = out.energy * (longest_step(own, part) / part.length() / kSteppingError);
  } else {
    JC_RETURN_IF_ERROR(integrate(channel, part.begin, part.end, out));
  }
  add_gaps(gaps, part.length(), out);
  // What the ends lack is taken to have been as the rest.
  const double whole = (end - begin) / part.length();
  out.energy = out.energy * whole;
  out.standard_error = out.standard_error * whole;
  calibrate(recording_.channels[channel], end - begin, out);
  return out;
}

Result<void> Accountant::integrate(std::size_t channel, double begin, double end, SourceEnergy& out) const {
  const Prepared& prepared = prepared_[channel];
  const auto take = [&](const series::Energy& energy, Correction correction) {
    out.method = energy.method;
    out.energy = energy.value;
    out.standard_error = energy.standard_error;
    out.correction = correction;
  };
  if (prepared.averaged) {
    JC_ASSIGN_OR_RETURN(const AveragedEnergy mended, prepared.averaged->energy(Seconds{begin}, Seconds{end}));
    take(mended.energy, mended.correction);
    return {};
  }
  JC_ASSIGN_OR_RETURN(const Series inside, series::cut(prepared.series, Seconds{begin}, Seconds{end}));
  if (prepared.sensor) {
    // Of classes that are estimated or trail the load for long: they are refused here.
    if (auto told = series::correct(inside, *prepared.sensor); !told) return tl::unexpected(std::move(told.error()));
  }
  JC_ASSIGN_OR_RETURN(const series::Energy integral, series::trapezoid_energy(inside));
  take(integral, Correction::kNone);
  return {};
}

void Accountant::calibrate(const Channel& channel, double seconds, SourceEnergy& out) const {
  const series::CalibrationLine* line = line_of(channel);
  if (line == nullptr) return;
  out.uncalibrated = out.energy;
  const series::Energy mended =
      series::true_energy(*line, {out.energy, out.standard_error, Seconds{seconds}, out.method, {}});
  out.energy = mended.value;
  out.standard_error = mended.standard_error;
}

const series::CalibrationLine* Accountant::line_of(const Channel& channel) const {
  if (!tells_energy(channel)) return nullptr;
  const auto line = std::find_if(lines_.begin(), lines_.end(), [&](const AppliedLine& one) {
    return one.device == channel.device && one.source == channel.source;
  });
  return line == lines_.end() ? nullptr : &line->line;
}

Series Accountant::power(std::size_t channel) const {
  const Series& own = prepared_[channel].series;
  Series out = recording_.channels[channel].signal == Signal::kEnergy ? power_of_counter(own) : own;
  const series::CalibrationLine* line = line_of(recording_.channels[channel]);
  return line == nullptr ? out : series::true_power(*line, std::move(out));
}

std::optional<ReadingRange> Accountant::range(const std::string& device, Signal signal, double begin,
                                              double end) const {
  // The best source of the signal; they come in no order.
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    const Channel& channel = recording_.channels[i];
    if (channel.device != device || channel.signal != signal || prepared_[i].series.time_s.empty()) continue;
    if (!best || source_rank(channel) < source_rank(recording_.channels[*best])) best = i;
  }
  if (!best) return std::nullopt;
  const Series& own = prepared_[*best].series;
  ReadingRange out;
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < own.time_s.size(); ++i) {
    if (own.time_s[i] < begin || own.time_s[i] > end) continue;
    out.low = count == 0 ? own.value[i] : std::min(out.low, own.value[i]);
    out.high = count == 0 ? own.value[i] : std::max(out.high, own.value[i]);
    sum += own.value[i];
    ++count;
  }
  if (count == 0) return std::nullopt;
  out.mean = sum / static_cast<double>(count);
  if (const series::CalibrationLine* line = line_of(recording_.channels[*best])) {
    for (double* watts : {&out.low, &out.mean, &out.high}) *watts = series::true_power(*line, Watts{*watts}).value();
  }
  return out;
}

void Accountant::add_reasons(DeviceAccount& account, double begin, double end) const {
  std::size_t readings = 0;
  std::size_t capped = 0;
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    const Channel& channel = recording_.channels[i];
    if (channel.device != account.device || channel.signal != Signal::kEventReasons) continue;
    for (const Reading& reading : recording_.readings[i]) {
      if (seconds_of(reading.time) < begin || seconds_of(reading.time) > end) continue;
      const auto bits = static_cast<std::uint64_t>(reading.value);
      account.event_reasons = account.event_reasons.value_or(0) | bits;
      ++readings;
      if ((bits & kPowerCapReasons) != 0) ++capped;
    }
  }
  if (readings > 0) account.capped_share = static_cast<double>(capped) / static_cast<double>(readings);
}

void Accountant::add_doubts(DeviceAccount& account, MonotonicUs begin, MonotonicUs end) const {
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    if (recording_.channels[i].device == account.device && !prepared_[i].doubt.empty()) {
      account.doubts.push_back(prepared_[i].doubt);
    }
  }
  for (const AbsenceRecord& record : recording_.absences) {
    const Channel& channel = recording_.channels[record.channel];
    const bool inside = record.time >= begin && record.time <= end;
    if (!inside || channel.device != account.device || !tells_energy(channel)) continue;
    const std::string text = fmt::format("{}: readings are missing: {}", channel.source, record.text);
    if (std::find(account.doubts.begin(), account.doubts.end(), text) == account.doubts.end()) {
      account.doubts.push_back(text);
    }
  }
  if (account.energy.empty()) return;
  const SourceEnergy& best = account.energy.front();
  const auto compare = [&](const SourceEnergy& other, const std::string& name) {
    if (const auto off = disagreement(other, best))
      account.doubts.push_back(disagreement_text(name, other, best, *off));
  };
  for (std::size_t i = 1; i < account.energy.size(); ++i) compare(account.energy[i], account.energy[i].source);
  if (best.coverage < kLeastCoverage) return;
  for (const std::string& meter : devices_) {
    if (!meter.starts_with(account.device + "-")) continue;
    const DeviceAccount metered = this->account(meter, begin, end);
    if (!metered.energy.empty() && metered.energy.front().coverage >= kLeastCoverage)
      compare(metered.energy.front(), meter);
  }
}

DeviceAccount Accountant::account(const std::string& device, MonotonicUs begin, MonotonicUs end) const {
  DeviceAccount out;
  out.device = device;
  const double from = seconds_of(begin);
  const double to = seconds_of(end);
  std::vector<std::pair<int, SourceEnergy>> ranked;
  for (std::size_t i = 0; i < prepared_.size(); ++i) {
    const Channel& channel = recording_.channels[i];
    if (channel.device != device || !tells_energy(channel)) continue;
    // A source that saw little of the time ranks behind every one that saw it all.
    constexpr int kBehindAll = 100;
    auto found = energy(i, from, to);
    if (found) {
      const int behind = found->coverage < kLeastCoverage ? kBehindAll : 0;
      ranked.emplace_back(source_rank(channel) + behind, *std::move(found));
    } else if (found.error().code() == ErrorCode::kUnsupported) {
      out.refused.push_back({channel.source, prepared_[i].sensor, found.error().text()});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [place, energy] : ranked) out.energy.push_back(std::move(energy));
  out.power_w = range(device, Signal::kPower, from, to);
  if (out.power_w && !out.energy.empty()) out.power_w->mean = out.energy.front().energy.value() / (to - from);
  out.sm_clock_hz = range(device, Signal::kSmClock, from, to);
  out.temperature_c = range(device, Signal::kTemperature, from, to);
  out.utilization_ratio = range(device, Signal::kUtilization, from, to);
  out.memory_used_bytes = range(device, Signal::kMemoryUsed, from, to);
  add_reasons(out, from, to);
  add_doubts(out, begin, end);
  return out;
}

}  // namespace joulecast
