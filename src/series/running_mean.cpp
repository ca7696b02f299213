// SPDX-License-Identifier: Apache-2.0
#include "series/running_mean.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace joulecast::series {
namespace {

constexpr double kLeastShareBelowZero = 0.05;

Result<std::size_t> updates_a_window(Seconds window, Seconds period) {
  const double ratio = window / period;
  const double whole = std::round(ratio);
  if (!(period > Seconds{0}) || !(whole >= 1) || std::abs(ratio - whole) > 0.02 * whole) {
    return unsupported(
        fmt::format("a running mean of {} s cannot be undone with an update every {} s: it must be a multiple",
                    window.value(), period.value()));
  }
  return static_cast<std::size_t>(whole);
}

Result<void> check_spacing(const Series& updates, Seconds period) {
  for (std::size_t i = 1; i < updates.time_s.size(); ++i) {
    const double gap = updates.time_s[i] - updates.time_s[i - 1];
    if (std::abs(gap - period.value()) > 0.25 * period.value()) {
      return unsupported(
          fmt::format("a running mean cannot be undone: {} s between updates at {} s, the period is {} s; "
                      "leave out 1 s after each edge of load instead",
                      gap, updates.time_s[i], period.value()));
    }
  }
  return {};
}

}  // namespace

Result<Desmeared> desmear(const Series& updates, Seconds window, Seconds period) {
  JC_RETURN_IF_ERROR(check(updates));
  JC_ASSIGN_OR_RETURN(const std::size_t n, updates_a_window(window, period));
  JC_RETURN_IF_ERROR(check_spacing(updates, period));
  Desmeared result{{updates.time_s, {updates.value.front()}}, {}};
  std::vector<double>& power = result.power.value;
  for (std::size_t k = 1; k < updates.value.size(); ++k) {
    const double leaving = k >= n ? power[k - n] : updates.value.front();
    power.push_back(leaving + static_cast<double>(n) * (updates.value[k] - updates.value[k - 1]));
  }
  const double highest = *std::max_element(updates.value.begin(), updates.value.end());
  const double lowest = *std::min_element(power.begin(), power.end());
  if (lowest < -kLeastShareBelowZero * highest) {
    return unsupported(
        fmt::format("undoing a running mean of {} updates gives {:.0f} W: the readings are no such mean, or "
                    "updates were missed; leave out 1 s after each edge of load instead",
                    n, lowest));
  }
  if (updates.time_s.size() < 2 * n) add(result.warnings, Warning::kFewSamples);
  return result;
}

Result<OffEdges> off_edges(const Series& series, std::span<const double> edges_s, Seconds settle) {
  JC_RETURN_IF_ERROR(check(series));
  std::vector<double> edges(edges_s.begin(), edges_s.end());
  std::sort(edges.begin(), edges.end());
  OffEdges result;
  double covered = series.time_s.front();  // up to here the exclusions are counted
  for (const double edge : edges) {
    const double from = std::max(edge, covered), to = std::min(edge + settle.value(), series.time_s.back());
    if (to <= from) continue;
    result.excluded += Seconds{to - from};
    covered = to;
  }
  for (std::size_t i = 0; i < series.time_s.size(); ++i) {
    const auto after = std::upper_bound(edges.begin(), edges.end(), series.time_s[i]);
    if (after != edges.begin() && series.time_s[i] - *(after - 1) <= settle.value()) {
      ++result.readings_excluded;
      continue;
    }
    result.kept.time_s.push_back(series.time_s[i]);
    result.kept.value.push_back(series.value[i]);
  }
  if (result.kept.time_s.empty()) {
    return invalid(fmt::format("nothing is left {} s after the edges of load; measure longer", settle.value()));
  }
  if (result.readings_excluded > 0) add(result.warnings, Warning::kGap);
  return result;
}

}  // namespace joulecast::series
