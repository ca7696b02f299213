// SPDX-License-Identifier: Apache-2.0
#include "analysis/source_sampling.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/channel_series.h"
#include "analysis/sensor_check.h"

namespace joulecast {
namespace {

std::size_t lost_updates(const series::Series& polls, double period) {
  constexpr double kLostFactor = 1.5;
  std::size_t lost = 0;
  for (std::size_t i = 1; i < polls.time_s.size(); ++i) {
    const double times = (polls.time_s[i] - polls.time_s[i - 1]) / period;
    if (times > kLostFactor) lost += static_cast<std::size_t>(std::round(times)) - 1;
  }
  return lost;
}

}  // namespace

std::vector<SourceSampling> sampling_of_sources(const Recording& recording) {
  const auto span = recording.span();
  const double begin = span ? seconds_of(span->begin) : 0;
  std::vector<SourceSampling> out;
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    if (!tells_energy(recording.channels[i])) continue;
    SourceSampling one;
    one.channel = recording.channels[i];
    one.update_period_s = update_period_of(recording, i);
    // Of a counter the polls, not the steps.
    series::Series polls;
    for (const Reading& reading : recording.readings[i]) {
      polls.time_s.push_back(seconds_of(reading.time) - begin);
      polls.value.push_back(static_cast<double>(reading.value));
    }
    if (auto sampling = series::sampling_of(polls)) {
      // Slower polls than updates are a choice, not a loss.
      if (one.update_period_s) {
        sampling->lost = lost_updates(polls, std::max(*one.update_period_s, sampling->usual_gap.value()));
      }
      one.sampling = *std::move(sampling);
    }
    for (const AbsenceRecord& record : recording.absences) {
      if (record.channel == i) (record.absence == Absence::kLost ? one.dropped : one.absent) += record.count;
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace joulecast
