// SPDX-License-Identifier: Apache-2.0
#include "series/series.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace joulecast::series {

Result<void> check(const Series& series) {
  if (series.time_s.empty()) return invalid("a series without readings");
  if (series.time_s.size() != series.value.size()) {
    return invalid(fmt::format("a series of {} times and {} values", series.time_s.size(), series.value.size()));
  }
  for (std::size_t i = 0; i < series.time_s.size(); ++i) {
    if (!std::isfinite(series.time_s[i]) || !std::isfinite(series.value[i])) {
      return invalid(fmt::format("reading {}: {} at {} s is not a number; leave out readings that failed", i,
                                 series.value[i], series.time_s[i]));
    }
    if (i > 0 && series.time_s[i] <= series.time_s[i - 1]) {
      return invalid(fmt::format("reading {}: {} s does not come after {} s; sort the readings and keep one a time", i,
                                 series.time_s[i], series.time_s[i - 1]));
    }
  }
  return {};
}

Seconds duration(const Series& series) {
  return Seconds{series.time_s.back() - series.time_s.front()};
}

double value_at(const Series& series, Seconds at, Between between) {
  const auto& times = series.time_s;
  const auto next = std::lower_bound(times.begin(), times.end(), at.value());
  const auto i = static_cast<std::size_t>(next - times.begin());
  if (i == times.size()) return series.value.back();
  if (i == 0 || times[i] == at.value() || between == Between::kSinceLast) return series.value[i];
  if (between == Between::kHeld) return series.value[i - 1];
  const double part = (at.value() - times[i - 1]) / (times[i] - times[i - 1]);
  return series.value[i - 1] + part * (series.value[i] - series.value[i - 1]);
}

Series relative_time(Series series, Seconds origin) {
  for (double& time : series.time_s) time -= origin.value();
  return series;
}

Result<Series> cut(const Series& series, Seconds from, Seconds to, Between between) {
  JC_RETURN_IF_ERROR(check(series));
  const auto& times = series.time_s;
  if (!(from < to) || from.value() < times.front() || to.value() > times.back()) {
    return invalid(fmt::format("cut from {} s to {} s: the series goes from {} s to {} s", from.value(), to.value(),
                               times.front(), times.back()));
  }
  Series result;
  const auto first = std::upper_bound(times.begin(), times.end(), from.value());
  const auto last = std::lower_bound(first, times.end(), to.value());
  result.time_s.push_back(from.value());
  result.time_s.insert(result.time_s.end(), first, last);
  result.time_s.push_back(to.value());
  result.value.push_back(value_at(series, from, between));
  result.value.insert(result.value.end(), series.value.begin() + (first - times.begin()),
                      series.value.begin() + (last - times.begin()));
  result.value.push_back(value_at(series, to, between));
  return result;
}

}  // namespace joulecast::series
