// SPDX-License-Identifier: Apache-2.0
#include "series/sampling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "series/moments.h"

namespace joulecast::series {
namespace {

constexpr double kLostFactor = 1.5;

std::vector<double> gaps_of(const std::vector<double>& times) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < times.size(); ++i) gaps.push_back(times[i] - times[i - 1]);
  return gaps;
}

// How many of the sorted gaps lie within `width` of each, and where the crowd's middle is: the shortest gap with at
// least half as many neighbours as the commonest.
double common_gap(std::vector<double> gaps, double width) {
  std::sort(gaps.begin(), gaps.end());
  const auto neighbours = [&](double gap) {
    const auto first = std::lower_bound(gaps.begin(), gaps.end(), gap - width);
    return std::pair{first, std::upper_bound(first, gaps.end(), gap + width)};
  };
  std::ptrdiff_t most = 0;
  for (const double gap : gaps) most = std::max(most, neighbours(gap).second - neighbours(gap).first);
  for (const double gap : gaps) {
    const auto [first, last] = neighbours(gap);
    if (2 * (last - first) < most) continue;
    // The crowd's edge was met first; its middle is where most neighbours are.
    double best = gap;
    std::ptrdiff_t count = last - first;
    for (auto at = first; at != last; ++at) {
      const auto [low, high] = neighbours(*at);
      if (high - low > count) {
        count = high - low;
        best = *at;
      }
    }
    const auto [low, high] = neighbours(best);
    return *mean({low, high});
  }
  return gaps.front();
}

// Gaps are whole multiples of the period: summed, polls' roundings cancel.
double refined(const std::vector<double>& gaps, double first_guess) {
  double time = 0, periods = 0;
  for (const double gap : gaps) {
    const double times = std::round(gap / first_guess);
    if (times < 1 || times > 5 || std::abs(gap / first_guess - times) > 0.3) continue;
    time += gap;
    periods += times;
  }
  return periods > 0 ? time / periods : first_guess;
}

struct Grid {
  double period = 0, fits = 0;  // share of the gaps that are whole periods
};

Grid grid_of(const std::vector<double>& gaps, double first_guess, double poll) {
  constexpr double kRounding = 1e-9;
  Grid out{refined(gaps, first_guess), 0};
  const auto fits = std::count_if(gaps.begin(), gaps.end(), [&](double gap) {
    const double times = std::round(gap / out.period);
    return times >= 1 && std::abs(gap - times * out.period) <= poll + kRounding;
  });
  out.fits = static_cast<double>(fits) / static_cast<double>(gaps.size());
  return out;
}

// Of the recorded cards' changes 88 % and more are on the grid, the host's own delays taken in. Parts shorter than
// three polls would divide nearly everything.
Grid common_grid(const std::vector<double>& gaps, double poll) {
  constexpr double kFits = 0.75, kPartFits = 0.9, kLeastPolls = 3;
  const double common = common_gap(gaps, poll);
  const Grid whole = grid_of(gaps, common, poll);
  if (whole.fits >= kFits) return whole;
  for (int parts = 2; common / parts >= kLeastPolls * poll; ++parts) {
    const Grid part = grid_of(gaps, common / parts, poll);
    if (part.fits >= kPartFits) return part;
  }
  return whole;
}

}  // namespace

Result<Sampling> sampling_of(const Series& series) {
  JC_RETURN_IF_ERROR(check(series));
  if (series.time_s.size() < 3) return invalid("sampling: fewer than three readings");
  const std::vector<double> gaps = gaps_of(series.time_s);
  const auto longest = std::max_element(gaps.begin(), gaps.end());
  Sampling result;
  result.samples = series.time_s.size();
  result.rate = static_cast<double>(gaps.size()) / duration(series);
  result.usual_gap = Seconds{*median(gaps)};
  result.jitter = Seconds{*standard_deviation(gaps)};
  result.coefficient_of_variation = *coefficient_of_variation(gaps);
  result.longest_gap = Seconds{*longest};
  result.longest_gap_at = Seconds{series.time_s[static_cast<std::size_t>(longest - gaps.begin())]};
  for (const double gap : gaps) {
    const double times = gap / result.usual_gap.value();
    if (times > kLostFactor) result.lost += static_cast<std::size_t>(std::round(times)) - 1;
  }
  if (gaps.size() < 10) add(result.warnings, Warning::kFewSamples);
  if (result.lost > 0) add(result.warnings, Warning::kLostSamples);
  return result;
}

Result<Series> changes(const Series& polls) {
  JC_RETURN_IF_ERROR(check(polls));
  Series result{{polls.time_s.front()}, {polls.value.front()}};
  for (std::size_t i = 1; i < polls.time_s.size(); ++i) {
    if (polls.value[i] == polls.value[i - 1]) continue;
    result.time_s.push_back(polls.time_s[i]);
    result.value.push_back(polls.value[i]);
  }
  return result;
}

Result<UpdatePeriod> update_period(const Series& polls) {
  JC_ASSIGN_OR_RETURN(Series changed, changes(polls));
  // When the first value began is not known.
  changed.time_s.erase(changed.time_s.begin());
  if (changed.time_s.size() < 3) {
    return invalid(fmt::format("update period: the value changed {} times in {} s; poll longer or under load",
                               changed.time_s.size(), duration(polls).value()));
  }
  const double poll = *median(gaps_of(polls.time_s));
  const std::vector<double> gaps = gaps_of(changed.time_s);
  const Grid grid = common_grid(gaps, poll);
  UpdatePeriod result;
  result.changes = changed.time_s.size();
  result.period = Seconds{grid.period};
  result.poll = Seconds{poll};
  result.on_grid = grid.fits;
  if (result.changes < 10) add(result.warnings, Warning::kFewSamples);
  if (2 * poll > result.period.value()) add(result.warnings, Warning::kPolledTooSlowly);
  return result;
}

}  // namespace joulecast::series
