// SPDX-License-Identifier: Apache-2.0
#include "report/time_lines.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "report/decimate.h"

namespace joulecast::report {
namespace {

// Moments from which on readings of the channel were missing, rising.
std::vector<MonotonicUs> breaks_of(const Recording& recording, std::size_t channel) {
  std::vector<MonotonicUs> out;
  for (const AbsenceRecord& record : recording.absences) {
    if (record.channel == channel) out.push_back(record.time);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<series::Series> parts_of(const RunView& run, std::size_t channel, double scale) {
  const std::vector<MonotonicUs> breaks = breaks_of(run.recording, channel);
  auto next = breaks.begin();
  std::vector<series::Series> out;
  MonotonicUs before = 0;
  for (const Reading& reading : run.recording.readings[channel]) {
    if (!out.empty() && reading.time == before) continue;  // a line goes on; it does not stand still
    bool broken = out.empty();
    for (; next != breaks.end() && *next <= reading.time; ++next) broken = true;
    if (broken) out.emplace_back();
    out.back().time_s.push_back(run.seconds(reading.time));
    out.back().value.push_back(static_cast<double>(reading.value) * scale);
    before = reading.time;
  }
  return out;
}

// Milliseconds are what is drawn at most; the time of a week keeps them.
double drawn_time(double seconds) {
  constexpr double kOfSecond = 1000;
  return std::round(seconds * kOfSecond) / kOfSecond;
}

Json line_block(const TimeLine& line, std::size_t points) {
  std::size_t count = 0;
  for (const series::Series& part : line.parts) count += part.time_s.size();
  Json times = Json::array();
  Json values = Json::array();
  for (const series::Series& part : line.parts) {
    if (!times.empty()) {  // nothing joins what lies on both sides of a gap
      times.push_back(drawn_time(part.time_s.front()));
      values.push_back(nullptr);
    }
    constexpr std::size_t kLeast = 4;
    const std::size_t own = count > points ? std::max(kLeast, points * part.time_s.size() / count) : count;
    const series::Series few = decimated(part, std::max(own, kLeast));
    for (std::size_t i = 0; i < few.time_s.size(); ++i) {
      times.push_back(drawn_time(few.time_s[i]));
      values.push_back(drawn(few.value[i]));
    }
  }
  return block({{"device", line.device}, {"source", line.source}, {"kind", line.kind}},
               {{"time_s", std::move(times)}, {"value", std::move(values)}});
}

}  // namespace

std::vector<TimeLine> time_lines(const RunView& run, Signal signal, double unit, const std::string& kind) {
  std::vector<TimeLine> out;
  for (std::size_t i = 0; i < run.recording.channels.size(); ++i) {
    const Channel& channel = run.recording.channels[i];
    if (channel.signal != signal || run.recording.readings[i].empty()) continue;
    out.push_back({channel.device, channel.source, kind, parts_of(run, i, info(signal).step / unit)});
  }
  return out;
}

Json line_blocks(const std::vector<TimeLine>& lines, std::size_t points) {
  Json out = Json::array();
  for (const TimeLine& line : lines) out.push_back(line_block(line, points));
  return out;
}

std::string best_power_source(const RunView& run, const std::string& device) {
  const auto has_power = [&](const std::string& source) {
    const auto& channels = run.recording.channels;
    return std::any_of(channels.begin(), channels.end(), [&](const Channel& channel) {
      return channel.device == device && channel.signal == Signal::kPower && channel.source == source;
    });
  };
  for (const DeviceSummary& one : run.summary.devices) {
    if (one.device != device || one.runs.empty()) continue;
    for (const SourceEnergy& source : one.runs.front().energy) {
      if (has_power(source.source)) return source.source;
    }
  }
  return {};
}

}  // namespace joulecast::report
