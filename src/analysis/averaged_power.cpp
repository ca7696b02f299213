// SPDX-License-Identifier: Apache-2.0
#include "analysis/averaged_power.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "series/running_mean.h"
#include "series/sampling.h"

namespace joulecast {
namespace {

using series::Series;

std::optional<Series> undone(const Series& polls) {
  const auto period = series::update_period(polls);
  auto updates = series::changes(polls);
  if (!period || !updates) return std::nullopt;
  // When the first value came up is not known.
  updates->time_s.erase(updates->time_s.begin());
  updates->value.erase(updates->value.begin());
  // The window is a multiple of the nominal period; what was measured is a hair off.
  const double whole = std::round(kAveragingWindow / period->period);
  if (whole < 1) return std::nullopt;
  auto out = series::desmear(*updates, period->period * whole, period->period);
  if (!out || std::abs(period->period.value() * whole - kAveragingWindow.value()) > 0.05) return std::nullopt;
  return std::move(out->power);
}

}  // namespace

AveragedPower::AveragedPower(Series polls) : polls_(std::move(polls)), undone_(undone(polls_)) {}

Result<AveragedEnergy> AveragedPower::energy(Seconds begin, Seconds end) const {
  if (undone_ && undone_->time_s.front() <= begin.value() && undone_->time_s.back() >= end.value()) {
    JC_ASSIGN_OR_RETURN(const Series inside, series::cut(*undone_, begin, end, series::Between::kSinceLast));
    JC_ASSIGN_OR_RETURN(series::Energy energy, series::step_energy(inside, series::Between::kSinceLast));
    return AveragedEnergy{std::move(energy), Correction::kDesmeared};
  }
  if (end - begin < 2 * kAveragingWindow) {
    return unsupported(
        fmt::format("readings are means of the last second, and {:.2g} s are too short for them; measure at least 2 s",
                    (end - begin).value()));
  }
  JC_ASSIGN_OR_RETURN(const Series inside, series::cut(polls_, begin, end));
  JC_ASSIGN_OR_RETURN(const series::Energy read, series::trapezoid_energy(inside));
  JC_ASSIGN_OR_RETURN(const series::OffEdges settled,
                      series::off_edges(inside, std::array{begin.value()}, kAveragingWindow));
  JC_ASSIGN_OR_RETURN(series::Energy rest, series::trapezoid_energy(settled.kept));
  const double whole = (end - begin) / rest.duration;
  rest.value = rest.value * whole;
  // What the second was is a guess between what was read in it and what came after.
  const double guess = std::abs((rest.value - read.value).value()) / 2;
  rest.standard_error = Joules{std::hypot(rest.standard_error.value() * whole, guess)};
  rest.duration = end - begin;
  series::add(rest.warnings, settled.warnings);
  return AveragedEnergy{std::move(rest), Correction::kOffEdges};
}

}  // namespace joulecast
