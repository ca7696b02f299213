// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/setting_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "dataset/possible.h"
#include "predict/board_power.h"

namespace joulecast::settings {
namespace {

// Of sweeps of limits down to 0.4 of the default the mean then lies within 0.5 % of the whole grid's (root mean square)
// where the default setting was measured, within 2 % where nothing was.
constexpr std::size_t kRows = 36;
// From which those are chosen that agree with a predicted power: a fraction of what weighing the whole grid costs.
constexpr std::size_t kCandidates = 2 * kRows;

Result<double> clock_share(const Gpu& gpu, Hertz clock) {
  // Boards go down to a seventh (A30: 210 of 1440 MHz) or less; nobody lists it.
  constexpr double kLowestShare = 0.1;
  const std::optional<Hertz> highest = gpu.boost_clock ? gpu.boost_clock : gpu.base_clock;
  if (!highest) return unsupported(fmt::format("GPU '{}': the catalogue has no boost_clock_mhz", gpu.id));
  const double share = clock / *highest;
  if (!(share >= kLowestShare && share <= 1.0005)) {
    return invalid(fmt::format("GPU '{}' has no SM clock of {:g} MHz: {:.0f} to {:g} MHz", gpu.id, clock.value() / 1e6,
                               kLowestShare * highest->value() / 1e6, highest->value() / 1e6));
  }
  return std::min(share, 1.0);
}

Result<double> limit_share(const Gpu& gpu, Watts limit) {
  constexpr double kLowestShare = 0.3;  // where the catalogue does not say
  const Watts lowest = gpu.min_power_limit.value_or(gpu.power_limit * kLowestShare);
  const Watts highest = highest_limit(gpu);
  if (!(limit >= lowest && limit <= highest)) {
    return invalid(fmt::format("GPU '{}' has no power limit of {:g} W: {:g} to {:g} W", gpu.id, limit.value(),
                               lowest.value(), highest.value()));
  }
  return limit / gpu.power_limit;
}

Result<Known> known_run(const Gpu& gpu, const MeasuredRun& run, std::size_t point) {
  Known out{.point = point};
  if (!run.time && !run.power) return invalid("a measured setting has neither time nor power");
  if (run.time) {
    const PossibleRange range = possible(Seconds{});
    const double time = run.time->value();
    if (!(time >= range.least && time <= range.most))
      return invalid(
          fmt::format("a measured time of {:g} s is not between {:g} and {:g} s", time, range.least, range.most));
    out.log_time = std::log(time);
  }
  if (run.power) {
    JC_RETURN_IF_ERROR(check_mean_power(gpu, *run.power));
    out.log_power = std::log(*run.power / gpu.power_limit);
  }
  return out;
}

}  // namespace

Result<OperatingPoint> operating_point(const Gpu& gpu, const Setting& setting) {
  OperatingPoint out;
  if (setting.sm_clock) {
    JC_ASSIGN_OR_RETURN(out.clock, clock_share(gpu, *setting.sm_clock));
  }
  if (setting.power_limit) {
    JC_ASSIGN_OR_RETURN(out.limit, limit_share(gpu, *setting.power_limit));
  }
  return out;
}

Result<SettingCurve> SettingCurve::make(const SettingsModel& model, const Gpu& gpu, const HiddenEstimate& hidden,
                                        const BasePrediction& base, std::span<const MeasuredRun> measured) {
  SettingCurve out(model.constants(gpu));
  out.limit_w_ = gpu.power_limit.value();
  for (const MeasuredRun& run : measured) {
    JC_ASSIGN_OR_RETURN(out.known_points_.emplace_back(), operating_point(gpu, run.setting));
    JC_ASSIGN_OR_RETURN(out.known_.emplace_back(), known_run(gpu, run, out.known_points_.size() - 1));
  }
  out.merge_repeats();
  HiddenEstimate estimate = hidden;
  // Where power was measured the demand follows from it, and better than from the operations.
  out.settings_ = static_cast<std::size_t>(
      std::count_if(out.known_.begin(), out.known_.end(), [](const Known& one) { return one.log_power.has_value(); }));
  if (out.settings_ > 0) estimate.dynamic_sigma = HUGE_VAL;
  const Weights weights = grid_prior_with(model.prior(), estimate);
  if (measured.empty()) {
    out.start_at(base, weights);
  } else {
    out.sharpen(base, weights);
  }
  const auto any_known = [&](auto which) {
    return std::any_of(out.known_points_.begin(), out.known_points_.end(), which);
  };
  out.widths_ = model.widths(gpu, any_known([](const OperatingPoint& p) { return p.clock != 1.0 || p.limit != 1.0; }));
  const bool fall = any_known([](const OperatingPoint& p) { return p.limit <= kShowsTheFall; });
  if (!model.limited(gpu) && !fall) out.lowest_limit_ = kUnsweptFloor;
  return out;
}

// Runs at the same setting become one, with the mean of what each has (of logarithms).
void SettingCurve::merge_repeats() {
  std::vector<Known> merged;
  std::vector<std::array<double, 2>> counts;
  const auto add = [](std::optional<double>& mean, const std::optional<double>& value, double& count) {
    if (!value) return;
    count += 1.0;
    mean = mean.value_or(0.0) + (*value - mean.value_or(0.0)) / count;
  };
  for (const Known& one : known_) {
    const auto same = std::find_if(merged.begin(), merged.end(), [&](const Known& other) {
      return known_points_[other.point] == known_points_[one.point];
    });
    const auto at = static_cast<std::size_t>(same - merged.begin());
    if (same == merged.end()) {
      merged.push_back({.point = one.point});
      counts.push_back({});
    }
    add(merged[at].log_time, one.log_time, counts[at][0]);
    add(merged[at].log_power, one.log_power, counts[at][1]);
  }
  known_ = std::move(merged);
}

// From the prediction at the default setting alone.
void SettingCurve::start_at(const BasePrediction& base, const Weights& weights) {
  known_points_.emplace_back();
  known_.push_back({.point = 0, .log_time = std::log(base.time), .log_power = std::log(base.power / limit_w_)});
  Known predicted = known_.front();
  predicted.power_sigma = base.power_sigma;
  keep_likely(representatives(weights, kCandidates), predicted);
}

// By what was measured. A quantity that nobody measured stays at the prediction of the default setting.
void SettingCurve::sharpen(const BasePrediction& base, const Weights& weights) {
  const Curves curves = curves_of(law_, hypothesis_grid(), known_points_);
  const Weights likely = posterior(weights, misfits(curves, known_));
  const auto lacks = [&](auto quantity) {
    return std::none_of(known_.begin(), known_.end(), [&](const Known& k) { return (k.*quantity).has_value(); });
  };
  Known rest{.point = known_points_.size()};
  if (lacks(&Known::log_time)) rest.log_time = std::log(base.time);
  if (lacks(&Known::log_power)) rest.log_power = std::log(base.power / limit_w_);
  if (rest.log_time || rest.log_power) {
    known_points_.emplace_back();
    known_.push_back(rest);
  }
  keep(representatives(likely, kRows));
}

// Rows that come several times are computed once.
void SettingCurve::keep(const std::vector<std::uint32_t>& rows) {
  const double weight = 1.0 / static_cast<double>(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i > 0 && rows[i] == rows[i - 1]) {
      weights_.back() += weight;
      continue;
    }
    rows_.push_back(hypothesis_grid()[rows[i]]);
    weights_.push_back(weight);
  }
}

// Chosen among rows of equal weight by how well they agree with what is known at one setting.
void SettingCurve::keep_likely(const std::vector<std::uint32_t>& rows, const Known& known) {
  std::vector<Hypothesis> hypotheses;
  hypotheses.reserve(rows.size());
  for (const std::uint32_t row : rows) hypotheses.push_back(hypothesis_grid()[row]);
  const Curves curves = curves_of(law_, hypotheses, known_points_);
  const Weights even(rows.size(), 1.0);
  std::vector<std::uint32_t> chosen = at_equal_steps(posterior(even, misfits(curves, std::span(&known, 1))), kRows);
  for (std::uint32_t& row : chosen) row = rows[row];
  keep(chosen);
}

SettingCurve::Outlook SettingCurve::outlook(std::span<const OperatingPoint> points) const {
  Outlook out{.points = known_points_, .curves = {}, .law = {}, .curve = {}};
  out.points.insert(out.points.end(), points.begin(), points.end());
  out.curves = curves_of(law_, rows_, out.points);
  out.law = mean_curve(out.curves, weights_);
  out.curve = through_known(out.law, out.points, known_);
  return out;
}

std::vector<SettingPrediction> SettingCurve::at(const Outlook& all) const {
  const MeanCurve& curve = all.curve;
  const auto settings_with = [&](std::optional<double> Known::*quantity) {
    std::vector<std::size_t> out;
    for (const Known& k : known_) {
      if (k.*quantity) out.push_back(k.point);
    }
    return out;
  };
  const std::vector<std::size_t> timed = settings_with(&Known::log_time), metered = settings_with(&Known::log_power);
  std::vector<SettingPrediction> out;
  out.reserve(all.points.size() - known_points_.size());
  for (std::size_t i = known_points_.size(); i < all.points.size(); ++i) {
    const double from_timed = distance(curve, i, timed), from_metered = distance(curve, i, metered);
    out.push_back({.log_time = curve.log_time[i],
                   .log_power = curve.log_power[i] + std::log(limit_w_),
                   .time_width = widths_.time * from_timed,
                   .power_width = widths_.power * from_metered,
                   .energy_width = widths_.energy * std::max(from_timed, from_metered)});
  }
  return out;
}

SettingCurve::Choice SettingCurve::recommended(const Outlook& all, Objective objective,
                                               std::span<const std::size_t> open) const {
  const std::size_t first = known_points_.size();
  std::vector<std::size_t> allowed;
  for (const std::size_t i : open) {
    if (all.points[first + i].limit >= lowest_limit_) allowed.push_back(first + i);
  }
  if (allowed.empty()) {
    for (const std::size_t i : open) allowed.push_back(first + i);
  }
  // From three settings on the correction has a shape; between two it is a straight line that nobody measured.
  const Curves decided = settings_ > 2 ? moved(all.curves, all.law, all.curve) : all.curves;
  const std::size_t chosen = settings::recommended(decided, weights_, objective, allowed);
  return {.point = chosen - first,
          .chance = chance_of_saving(decided, weights_, objective, chosen, first, 1.0 - kNoGain),
          .floored = allowed.size() < open.size()};
}

}  // namespace joulecast::settings
