// SPDX-License-Identifier: Apache-2.0
#include "series/energy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "series/moments.h"

namespace joulecast::series {
namespace {

constexpr double kGapFactor = 1.5;            // a sample is missing
constexpr double kPeriodsForTwoPercent = 20;  // 1 / sqrt(6) of a period in 20 is 2 %

// Millijoules from `before` to `now`, both modulo 2^32 or 2^64.
std::vector<std::uint64_t> meanings_of_a_fall(std::uint64_t before, std::uint64_t now) {
  constexpr std::uint64_t kWrap32 = std::uint64_t{1} << 32;
  std::vector<std::uint64_t> meanings;
  if (before < kWrap32) meanings.push_back(kWrap32 - before + now);
  meanings.push_back(now - before);  // unsigned: modulo 2^64
  return meanings;
}

struct Step {
  double joules = 0;
  Warnings warnings;
};

Result<Step> counter_step(const CounterReading& before, const CounterReading& now, const CounterOptions& options) {
  const double since = now.time_s - before.time_s;
  if (!(since > 0)) {
    return invalid(fmt::format("energy counter: {} s does not come after {} s", now.time_s, before.time_s));
  }
  const double most = options.highest_power.value() * (since + options.update_period.value()) * 1e3;
  if (now.millijoules >= before.millijoules) {
    Step step{static_cast<double>(now.millijoules - before.millijoules) / 1e3, {}};
    if (step.joules * 1e3 > most) add(step.warnings, Warning::kImplausibleStep);
    return step;
  }
  for (const std::uint64_t meaning : meanings_of_a_fall(before.millijoules, now.millijoules)) {
    const auto millijoules = static_cast<double>(meaning);
    if (millijoules <= most) return Step{millijoules / 1e3, {Warning::kCounterWrapped}};
  }
  return invalid(fmt::format(
      "energy counter: fell from {} mJ to {} mJ at {} s, too far for a wrap: the driver was reloaded or the "
      "device reset; measure the parts before and after by themselves",
      before.millijoules, now.millijoules, now.time_s));
}

std::vector<double> gaps_of(const Series& series) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < series.time_s.size(); ++i) gaps.push_back(series.time_s[i] - series.time_s[i - 1]);
  return gaps;
}

// What the readings leave open: when changes between them came, and what happened while samples were missing.
Joules sampling_error(const Series& power, const std::vector<double>& gaps) {
  const double usual = *median(gaps);
  const double scatter = standard_deviation(power.value).value_or(0.0);
  CompensatedSum squares;
  for (std::size_t i = 0; i < gaps.size(); ++i) {
    const double change = (power.value[i + 1] - power.value[i]) * gaps[i];
    squares.add(change * change / 12);
    if (gaps[i] > kGapFactor * usual) squares.add(std::pow((gaps[i] - usual) * scatter, 2));
  }
  return Joules{std::sqrt(squares.value())};
}

// `height(i)` is the mean power between readings i and i + 1.
template <typename Height>
Result<Energy> integrate(const Series& power, EnergyMethod method, Height height) {
  JC_RETURN_IF_ERROR(check(power));
  if (power.time_s.size() < 2) return invalid("one reading has no duration: energy needs two");
  const std::vector<double> gaps = gaps_of(power);
  CompensatedSum sum;
  for (std::size_t i = 0; i < gaps.size(); ++i) sum.add(height(i) * gaps[i]);
  Energy energy{Joules{sum.value()}, sampling_error(power, gaps), duration(power), method, {}};
  if (gaps.size() < 10) add(energy.warnings, Warning::kFewSamples);
  if (*std::max_element(gaps.begin(), gaps.end()) > kGapFactor * *median(gaps)) add(energy.warnings, Warning::kGap);
  return energy;
}

}  // namespace

std::string_view method_name(EnergyMethod method) {
  switch (method) {
    case EnergyMethod::kCounter:
      return "counter";
    case EnergyMethod::kTrapezoid:
      return "trapezoid";
    case EnergyMethod::kSteps:
      return "steps";
  }
  return {};
}

Result<Energy> counter_energy(std::span<const CounterReading> readings, const CounterOptions& options) {
  if (readings.size() < 2) return invalid("energy counter: a difference needs two readings");
  Energy energy;
  CompensatedSum sum;
  for (std::size_t i = 1; i < readings.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const Step step, counter_step(readings[i - 1], readings[i], options));
    sum.add(step.joules);
    add(energy.warnings, step.warnings);
  }
  if (sum.value() == 0.0) {
    return invalid("energy counter: it did not step between the readings; measure longer than its update period");
  }
  energy.value = Joules{sum.value()};
  energy.duration = Seconds{readings.back().time_s - readings.front().time_s};
  energy.standard_error = energy.value / energy.duration * options.update_period / std::sqrt(6.0);
  if (energy.duration < kPeriodsForTwoPercent * options.update_period) add(energy.warnings, Warning::kShortWindow);
  return energy;
}

Result<Energy> trapezoid_energy(const Series& power_w) {
  return integrate(power_w, EnergyMethod::kTrapezoid,
                   [&](std::size_t i) { return (power_w.value[i] + power_w.value[i + 1]) / 2; });
}

Result<Energy> step_energy(const Series& power_w, Between between) {
  JC_CHECK(between != Between::kLinear, "steps are held or since the last reading");
  const std::size_t shift = between == Between::kHeld ? 0 : 1;
  return integrate(power_w, EnergyMethod::kSteps, [&](std::size_t i) { return power_w.value[i + shift]; });
}

Result<Series> cumulative_energy(const Series& power_w) {
  JC_RETURN_IF_ERROR(check(power_w));
  Series energy{power_w.time_s, {0.0}};
  CompensatedSum sum;
  for (std::size_t i = 1; i < power_w.time_s.size(); ++i) {
    sum.add((power_w.value[i - 1] + power_w.value[i]) / 2 * (power_w.time_s[i] - power_w.time_s[i - 1]));
    energy.value.push_back(sum.value());
  }
  return energy;
}

JouleSeconds energy_delay(const Energy& energy) {
  return energy.value * energy.duration;
}

JouleSecondsSquared energy_delay_squared(const Energy& energy) {
  return energy_delay(energy) * energy.duration;
}

IdleSplit split_idle(const Energy& energy, Watts idle, Watts idle_standard_error) {
  IdleSplit split;
  split.idle = idle * energy.duration;
  split.above_idle = energy.value - split.idle;
  const double idle_error = (idle_standard_error * energy.duration).value();
  split.above_idle_standard_error = Joules{std::hypot(energy.standard_error.value(), idle_error)};
  if (energy.value > Joules{0}) split.idle_share = split.idle / energy.value;
  return split;
}

}  // namespace joulecast::series
