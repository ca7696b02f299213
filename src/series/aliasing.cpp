// SPDX-License-Identifier: Apache-2.0
#include "series/aliasing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "series/moments.h"
#include "series/resample.h"

namespace joulecast::series {
namespace {

constexpr int kHarmonics = 50;
constexpr std::size_t kFewestPeriods = 8;
constexpr std::size_t kFewestBlocks = 4;
constexpr double kMostIrregular = 0.1;
constexpr double kLeastRegular = 2.0 / 3;  // as many are within one deviation
constexpr double kLeastCorrelation = 0.5;
constexpr double kMostDisagreement = 0.1;

using std::numbers::pi;

// What a mean over `window` leaves of a wave.
double damping(double frequency, double window) {
  const double x = pi * frequency * window;
  return x < 1e-9 ? 1 : std::abs(std::sin(x) / x);
}

// At most this of a wave is left in the mean of n readings, for any phase.
double left_in_mean(double frequency, double period, double n) {
  const double out_of_step = std::abs(std::sin(pi * frequency * period));
  return n * out_of_step <= 1 ? 1 : 1 / (n * out_of_step);
}

// Half the swing of the k-th line of a wave between two levels; the most that any duty makes it where that is not
// known.
double amplitude(const PeriodicLoad& load, int k) {
  const double most = 2 * (load.high - load.low).value() / (k * pi);
  return load.duty ? most * std::abs(std::sin(pi * k * *load.duty)) : most;
}

double duty_of(const PeriodicLoad& load) {
  constexpr double kUsual = 0.5;
  return load.duty.value_or(kUsual);
}

Result<void> check_load(const PeriodicLoad& load, Seconds duration) {
  const bool good = load.period > Seconds{0} && duty_of(load) > 0 && duty_of(load) < 1 && load.low >= Watts{0} &&
                    load.high > load.low && duration > Seconds{0};
  if (good) return {};
  return invalid(fmt::format("aliasing: a load of {} W to {} W, {} of every {} s, over {} s", load.low.value(),
                             load.high.value(), duty_of(load), load.period.value(), duration.value()));
}

// Of marks that come early or late, each for itself, while what they mark keeps its pace: the gaps between neighbours
// scatter twice, those between marks half of all apart hardly. Lengths that differ on their own lead off any grid.
std::optional<Seconds> period_of_grid(const std::vector<double>& marks_s) {
  const std::size_t apart = marks_s.size() / 2;
  std::vector<double> each;
  for (std::size_t i = apart; i < marks_s.size(); ++i) {
    each.push_back((marks_s[i] - marks_s[i - apart]) / static_cast<double>(apart));
  }
  const double period = *median(each);
  std::vector<double> places;
  for (std::size_t i = 0; i < marks_s.size(); ++i) places.push_back(marks_s[i] - static_cast<double>(i) * period);
  const double centre = *median(places);
  for (double& place : places) place = std::abs(place - centre);
  return *median(places) <= kMostIrregular * period ? std::optional(Seconds{period}) : std::nullopt;
}

double correlation_at(const std::vector<double>& values, std::size_t lag) {
  CompensatedSum products;
  for (std::size_t i = lag; i < values.size(); ++i) products.add(values[i] * values[i - lag]);
  return products.value() / static_cast<double>(values.size() - lag);
}

}  // namespace

std::optional<Seconds> period_of_marks(std::span<const double> marks_s, std::size_t marks_a_period) {
  if (marks_a_period == 0 || marks_s.size() < kFewestPeriods * marks_a_period + 1) return std::nullopt;
  std::vector<double> begins;
  std::vector<double> periods;
  for (std::size_t i = 0; i < marks_s.size(); i += marks_a_period) {
    if (!begins.empty()) periods.push_back(marks_s[i] - begins.back());
    begins.push_back(marks_s[i]);
  }
  const double usual = *median(periods);
  if (!(usual > 0)) return std::nullopt;
  if (const auto period = period_of_grid(begins)) return period;
  const std::size_t all = periods.size();
  // One that was long, such as the first, moves the mean by more than decides what is in step.
  std::erase_if(periods, [&](double period) { return std::abs(period - usual) > kMostIrregular * usual; });
  const bool regular = static_cast<double>(periods.size()) >= kLeastRegular * static_cast<double>(all);
  return regular ? std::optional(Seconds{*mean(periods)}) : std::nullopt;
}

Result<std::optional<Seconds>> period_of(const Series& load, Seconds shortest, Seconds longest) {
  JC_RETURN_IF_ERROR(check(load));
  if (!(shortest > Seconds{0}) || !(shortest < longest) || !(4 * longest < duration(load))) {
    return invalid(fmt::format("period of a load within {} s to {} s: needs a series four times as long as the longest",
                               shortest.value(), longest.value()));
  }
  const Hertz rate = static_cast<double>(load.time_s.size() - 1) / duration(load);
  constexpr double kMostProducts = 2e9;
  if (const double products = static_cast<double>(load.time_s.size()) * (longest * rate); products > kMostProducts) {
    return invalid(
        fmt::format("period of a load: {:.0e} products to add up; cut the series to some periods", products));
  }
  JC_ASSIGN_OR_RETURN(Resampled even, resample(load, rate));
  std::vector<double>& values = even.series.value;
  const double centre = *mean(values);
  for (double& value : values) value -= centre;
  const double whole = correlation_at(values, 0);
  const auto first = std::max<std::size_t>(1, static_cast<std::size_t>(shortest * rate));
  const auto last = static_cast<std::size_t>(longest * rate);
  if (whole <= 0) return std::nullopt;
  // A peak is one after a dip: of slow changes all short lags correlate.
  bool dipped = false;
  double before = 1;
  for (std::size_t lag = 1; lag <= last; ++lag) {
    const double here = correlation_at(values, lag) / whole;
    dipped = dipped || here < kLeastCorrelation / 2;
    const bool high = dipped && lag >= first && here > kLeastCorrelation;
    if (high && here >= before && correlation_at(values, lag + 1) / whole < here) {
      return Seconds{static_cast<double>(lag) / rate.value()};
    }
    before = here;
  }
  return std::nullopt;
}

Result<AliasingDoubt> aliasing_by_period(const PeriodicLoad& load, const SensorMeaning& sensor, Seconds duration,
                                         double tolerance) {
  JC_RETURN_IF_ERROR(check_load(load, duration));
  if (!sensor.period || !sensor.window) return unsupported("aliasing: this sensor's window is not known");
  const double period = sensor.period->value(), window = sensor.window->value();
  const double n = std::max(1.0, std::floor(duration.value() / period));
  const bool sees_all = window >= period;
  double off = 0, seen = 0, swing = 0;
  for (int k = 1; k <= kHarmonics; ++k) {
    const double frequency = k / load.period.value();
    const double line = amplitude(load, k);
    seen = std::max(seen, line * damping(frequency, window));
    swing = std::max(swing, line);
    // Windows that cover all of the time sum to the whole: only the first and the last are cut.
    if (!sees_all && frequency > 0.5 / period)
      off += line * damping(frequency, window) * left_in_mean(frequency, period, n);
  }
  const Watts mean_power = load.low + (load.high - load.low) * duty_of(load);
  AliasingDoubt doubt{off / mean_power.value(), seen / swing, {}};
  if (doubt.mean_error > tolerance) add(doubt.warnings, Warning::kAliasing);
  if (doubt.swing_seen < 0.5) add(doubt.warnings, Warning::kSwingHidden);
  return doubt;
}

Result<SourceComparison> compare_sources(const Series& reading, const Series& reference, const BlockOptions& options,
                                         double tolerance) {
  JC_ASSIGN_OR_RETURN(const Blocks blocks, steady_blocks(reading, reference, options));
  SourceComparison result;
  result.blocks = blocks.from_s.size();
  if (result.blocks < kFewestBlocks) {
    add(result.warnings, Warning::kFewSamples);
    return result;
  }
  result.mean_ratio = *mean(blocks.reading) / *mean(blocks.reference);
  CompensatedSum squares;
  for (std::size_t i = 0; i < result.blocks; ++i) {
    // Around the ratio of the blocks on the same level: a line's offset weighs more when idle.
    CompensatedSum readings, references;
    for (std::size_t j = 0; j < result.blocks; ++j) {
      if (std::abs(blocks.reference[j] - blocks.reference[i]) > options.tolerance * std::abs(blocks.reference[i]))
        continue;
      readings.add(blocks.reading[j]);
      references.add(blocks.reference[j]);
    }
    const double expected = readings.value() / references.value() * blocks.reference[i];
    squares.add(std::pow(blocks.reading[i] / expected - 1, 2));
  }
  result.wander = std::sqrt(squares.value() / static_cast<double>(result.blocks));
  if (result.wander > tolerance) add(result.warnings, Warning::kAliasing);
  if (std::abs(result.mean_ratio - 1) > kMostDisagreement) add(result.warnings, Warning::kSourcesDisagree);
  return result;
}

}  // namespace joulecast::series
