// SPDX-License-Identifier: Apache-2.0
#include "analysis/sensor_doubts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "analysis/channel_series.h"
#include "analysis/sensor_check.h"
#include "series/aliasing.h"
#include "series/sampling.h"

namespace joulecast {
namespace {

using series::SensorClass;
using series::Series;
using series::Warning;

// Time at which phases of one name are begun, one after the other.
struct Marks {
  std::string name;
  std::vector<double> begins_s;
  double marked_s = 0;
  double steps_each = 1;  // of loops that are marked many at a time
};

std::string what(const std::string& source, SensorClass sensor) {
  return fmt::format("{} is of class {} ({})", source, series::letter(sensor), series::text(sensor));
}

std::string advice(Warning warning) {
  return std::string(series::warning_advice(warning));
}

// The source of power that gives the device's energy, with the class of its sensor.
std::optional<SourceEnergy> classed_answer(const DeviceSummary& device) {
  for (const DeviceAccount& run : device.runs) {
    if (run.energy.empty() || run.energy.front().coverage < kLeastCoverage) continue;
    if (run.energy.front().sensor) return run.energy.front();
  }
  return std::nullopt;
}

std::vector<std::string> meters_of(const Recording& recording, const std::string& device) {
  std::set<std::string> gpus;
  std::set<std::string> others;
  for (const Channel& channel : recording.channels) {
    if (!tells_energy(channel)) continue;
    (names_a_gpu(channel.device) ? gpus : others).insert(channel.device);
  }
  std::vector<std::string> out;
  for (const std::string& other : others) {
    const bool processor = other.starts_with("cpu");
    if (!processor && (gpus.size() == 1 || other.starts_with(device + "-"))) out.push_back(other);
  }
  return out;
}

// By readings that wander while the meter stays.
std::optional<std::string> aliased_by_meter(const Recording& recording, const std::string& device,
                                            const std::string& source) {
  const auto channel = power_channel(recording, device, source);
  if (!channel) return std::nullopt;
  const Series reading = power_series(recording, *channel);
  for (const std::string& meter : meters_of(recording, device)) {
    const auto other = power_channel(recording, meter);
    if (!other) continue;
    const Series reference = power_series(recording, *other);
    const auto sampling = series::sampling_of(reference);
    if (!sampling) continue;
    series::BlockOptions blocks;
    blocks.block = std::max(blocks.block, 2 * sampling->usual_gap);
    blocks.settle = std::max(blocks.settle, 2 * blocks.block);
    const auto compared = series::compare_sources(reading, reference, blocks);
    if (compared && series::has(compared->warnings, Warning::kAliasing)) {
      return fmt::format("it wanders by {:.0f} % while {} is steady; its energy is worthless", compared->wander * 100,
                         meter);
    }
  }
  return std::nullopt;
}

std::vector<Marks> marks_of(const std::vector<Phase>& phases) {
  std::map<std::pair<std::int64_t, std::string>, Marks> found;
  for (const Phase& phase : phases) {
    if (phase.track == kRecorderTrack || phase.open) continue;
    Marks& marks = found[{phase.track, phase.name}];
    marks.name = phase.name;
    marks.begins_s.push_back(seconds_of(phase.begin));
    marks.marked_s += phase.seconds();
    marks.steps_each = static_cast<double>(steps_of(phase));
  }
  std::vector<Marks> out;
  out.reserve(found.size());
  for (auto& [key, marks] : found) out.push_back(std::move(marks));
  return out;
}

// The least and the most of the readings between the first mark and the last; absent with fewer than two.
std::optional<std::pair<double, double>> levels_of(const Marks& marks, const Series& reading) {
  const auto from = std::lower_bound(reading.time_s.begin(), reading.time_s.end(), marks.begins_s.front());
  const auto to = std::upper_bound(reading.time_s.begin(), reading.time_s.end(), marks.begins_s.back());
  if (to - from < 2) return std::nullopt;
  const auto [low, high] = std::minmax_element(reading.value.begin() + (from - reading.time_s.begin()),
                                               reading.value.begin() + (to - reading.time_s.begin()));
  return std::pair{*low, *high};
}

bool stands_still(const Marks& marks, const Series& reading) {
  constexpr double kNoise = 0.05;
  const auto levels = levels_of(marks, reading);
  return levels && levels->second - levels->first <= kNoise * levels->second;
}

// The levels that readings show; phases that fill their period may be anything inside.
std::optional<series::PeriodicLoad> load_of(const Marks& marks, const Series& reading) {
  const auto period = series::period_of_marks(marks.begins_s, 1);
  const auto levels = levels_of(marks, reading);
  if (!period || !levels || !(levels->second > levels->first)) return std::nullopt;
  constexpr double kFills = 0.95;
  const double duty = marks.marked_s / static_cast<double>(marks.begins_s.size()) / period->value();
  const bool told = duty > 0 && duty < kFills && marks.steps_each == 1;
  return series::PeriodicLoad{*period / marks.steps_each, told ? std::optional(duty) : std::nullopt,
                              Watts{levels->first}, Watts{levels->second}};
}

// Readings that stand still where every one, or every second or third, shows the same moment of the load: what it does
// while the sensor does not look shows in none. With more moments in turn, a load that changes would have been seen to.
// The period of a sensor whose value stands still cannot be seen; its class' is a few percent off on single cards.
std::optional<std::string> still_in_step(const Marks& marks, const Series& reading,
                                         const series::SensorMeaning& sensor) {
  constexpr double kMostMoments = 3;
  constexpr double kMostOff = 0.03;
  const auto repeats = series::period_of_marks(marks.begins_s, 1);
  if (!repeats || !sensor.period || !sensor.window || *sensor.window >= *sensor.period) return std::nullopt;
  const Seconds period = *repeats / marks.steps_each;
  if (period <= *sensor.window || !stands_still(marks, reading)) return std::nullopt;
  const double ratio = period / *sensor.period;
  const double whole = ratio >= 1 ? std::round(ratio) : 1 / std::round(1 / ratio);
  if (whole > kMostMoments || std::abs(ratio / whole - 1) > kMostOff) return std::nullopt;
  return fmt::format(
      "{} repeats every {:.4g} ms, in step with the sensor's {:.4g} ms, and the readings stand still: what it draws "
      "between them cannot be told; its energy is worthless",
      marks.name, period.value() * 1e3, sensor.period->value() * 1e3);
}

// By phases that repeat in step with the sensor.
std::optional<std::string> aliased_by_marks(const Recording& recording, const std::vector<Phase>& phases,
                                            const std::string& device, const SourceEnergy& answer) {
  const auto channel = power_channel(recording, device, answer.source);
  if (!channel) return std::nullopt;
  const Series reading = power_series(recording, *channel);
  series::SensorMeaning sensor = series::meaning(*answer.sensor);
  if (const auto measured = update_period_of(recording, *channel)) sensor.period = Seconds{*measured};
  for (const Marks& marks : marks_of(phases)) {
    if (auto still = still_in_step(marks, reading, sensor)) return still;
    const auto load = load_of(marks, reading);
    if (!load) continue;
    const Seconds time{marks.begins_s.back() - marks.begins_s.front()};
    const auto doubt = series::aliasing_by_period(*load, sensor, time);
    if (doubt && series::has(doubt->warnings, Warning::kAliasing)) {
      return fmt::format(
          "{} repeats every {:.4g} ms, in step with the sensor's {:.4g} ms; its energy may be up to {:.0f} % off",
          marks.name, load->period.value() * 1e3, sensor.period->value() * 1e3, std::min(1.0, doubt->mean_error) * 100);
    }
  }
  return std::nullopt;
}

class Doubter {
 public:
  Doubter(const Recording& recording, const std::vector<Phase>& phases, const DeviceSummary& device)
      : recording_(recording), phases_(phases), device_(device) {}

  std::vector<SensorDoubt> doubts() {
    if (const auto answer = classed_answer(device_)) {
      of_answer(*answer);
    } else if (!device_.energy_j) {
      of_refused();
    }
    return std::move(out_);
  }

 private:
  void add(const std::string& source, SensorClass sensor, Warning warning, std::string text) {
    out_.push_back({device_.device, source, series::letter(sensor), warning, std::move(text)});
  }

  void of_answer(const SourceEnergy& answer) {
    const SensorClass sensor = *answer.sensor;
    if (sensor == SensorClass::kA || sensor == SensorClass::kD) {
      add(answer.source, sensor, Warning::kPartlySeen,
          fmt::format("{}. {}", what(answer.source, sensor), advice(Warning::kPartlySeen)));
      aliasing(answer);
    } else if (sensor == SensorClass::kC) {
      add(answer.source, sensor, Warning::kOneSecondAverage,
          fmt::format("{}; {}. {}", what(answer.source, sensor),
                      answer.correction == Correction::kDesmeared
                          ? "the mean was undone"
                          : "the first second was left out and taken to have been as the rest",
                      "Measure long against a second, or read the instantaneous field"));
    } else if (sensor == SensorClass::kE || sensor == SensorClass::kF) {
      add(answer.source, sensor, Warning::kSlowSensor,
          fmt::format("{}. {}", what(answer.source, sensor), advice(Warning::kSlowSensor)));
    }
  }

  void aliasing(const SourceEnergy& answer) {
    auto shown = aliased_by_meter(recording_, device_.device, answer.source);
    if (!shown) shown = aliased_by_marks(recording_, phases_, device_.device, answer);
    if (!shown) return;
    add(answer.source, *answer.sensor, Warning::kAliasing,
        fmt::format("{} aliases: {}. {}", answer.source, *shown, advice(Warning::kAliasing)));
  }

  // Nothing gave the energy; what was refused says why.
  void of_refused() {
    for (const DeviceAccount& run : device_.runs) {
      for (const RefusedSource& source : run.refused) {
        if (!source.sensor || told_.contains(source.source)) continue;
        told_.insert(source.source);
        add(source.source, *source.sensor, warning_of(*source.sensor),
            fmt::format("{}: no energy is given: {}", what(source.source, *source.sensor), source.why));
      }
    }
  }

  static Warning warning_of(SensorClass sensor) {
    if (sensor == SensorClass::kG) return Warning::kEstimatedSensor;
    return sensor == SensorClass::kC ? Warning::kShortWindow : Warning::kSlowSensor;
  }

  const Recording& recording_;
  const std::vector<Phase>& phases_;
  const DeviceSummary& device_;
  std::set<std::string> told_;
  std::vector<SensorDoubt> out_;
};

}  // namespace

std::vector<SensorDoubt> sensor_doubts(const Recording& recording, const std::vector<Phase>& phases,
                                       const std::vector<DeviceSummary>& devices) {
  std::vector<SensorDoubt> out;
  for (const DeviceSummary& device : devices) {
    for (SensorDoubt& doubt : Doubter(recording, phases, device).doubts()) out.push_back(std::move(doubt));
  }
  return out;
}

}  // namespace joulecast
