// SPDX-License-Identifier: Apache-2.0
#include "recording/import/gathering.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/harmless.h"
#include "recording/foreign_json.h"
#include "recording/import/implausible.h"

namespace joulecast {
namespace {

// Doubles are whole numbers up to here, and no reading comes near.
constexpr double kLargest = 9e15;

struct AbsentWord {
  std::string_view text;
  Absence absence;
};

constexpr std::array kAbsentWords{
    AbsentWord{"", Absence::kLost},
    AbsentWord{"N/A", Absence::kUnsupported},
    AbsentWord{"[N/A]", Absence::kUnsupported},
    AbsentWord{"[Not Supported]", Absence::kUnsupported},
    AbsentWord{"Not Supported", Absence::kUnsupported},
    AbsentWord{"[Requested functionality has been deprecated]", Absence::kUnsupported},
    AbsentWord{"[Insufficient Permissions]", Absence::kNoPermission},
    AbsentWord{"[GPU is lost]", Absence::kDeviceLost},
    AbsentWord{"[GPU requires reset]", Absence::kDeviceLost},
    AbsentWord{"[Unknown Error]", Absence::kError},
    AbsentWord{"ERR!", Absence::kError},
    AbsentWord{"nan", Absence::kLost},
    AbsentWord{"None", Absence::kLost},
};

std::int64_t first_time(const Recording& run) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const auto& series : run.readings) {
    if (!series.empty()) first = std::min(first, series.front().time);
  }
  for (const Event& event : run.events) first = std::min(first, event.time);
  for (const AbsenceRecord& record : run.absences) first = std::min(first, record.time);
  return first;
}

template <typename Timed>
void sort_by_time(std::vector<Timed>& items) {
  std::stable_sort(items.begin(), items.end(), [](const Timed& a, const Timed& b) { return a.time < b.time; });
}

// One reading a moment; gives how many there were too many.
std::size_t put_in_order(std::vector<Reading>& series) {
  sort_by_time(series);
  const auto end =
      std::unique(series.begin(), series.end(), [](const Reading& a, const Reading& b) { return a.time == b.time; });
  const auto dropped = static_cast<std::size_t>(series.end() - end);
  series.erase(end, series.end());
  return dropped;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

std::optional<Absence> absence_of_cell(std::string_view cell) {
  const auto* const at =
      std::find_if(kAbsentWords.begin(), kAbsentWords.end(), [&](const AbsentWord& word) { return word.text == cell; });
  if (at != kAbsentWords.end()) return at->absence;
  // Later drivers may say more; what stands in brackets was never a number.
  if (cell.starts_with('[')) return Absence::kError;
  return std::nullopt;
}

std::uint32_t Gathering::channel(Channel channel) {
  channel.device = harmless_line(channel.device);
  channel.source = harmless_line(channel.source);
  run_.channels.push_back(std::move(channel));
  run_.readings.emplace_back();
  newest_absence_.emplace_back();
  return static_cast<std::uint32_t>(run_.channels.size() - 1);
}

bool Gathering::reading(std::uint32_t channel, std::int64_t utc, double value) {
  const double steps = value / info(run_.channels[channel].signal).step;
  if (!(std::abs(steps) < kLargest)) return false;
  run_.readings[channel].push_back({utc, std::llround(steps)});
  return true;
}

void Gathering::absent(std::uint32_t channel, std::int64_t utc, Absence absence, std::string_view text) {
  const std::string words = harmless_text(text);
  auto& newest = newest_absence_[channel];
  const auto& own = run_.readings[channel];
  if (newest) {
    AbsenceRecord& last = run_.absences[*newest];
    if (last.absence == absence && last.text == words && (own.empty() || own.back().time < last.time)) {
      ++last.count;
      return;
    }
  }
  newest = run_.absences.size();
  run_.absences.push_back({utc, channel, absence, 1, words});
}

void Gathering::event(std::int64_t utc, EventKind kind, std::string_view name, std::string_view details) {
  run_.events.push_back({utc, kind, 0, harmless_line(name), harmless_text(details)});
}

void Gathering::note(std::string_view text) {
  run_.notes.push_back(harmless_text(text));
}

Recording Gathering::finish() && {
  run_.head = harmless(run_.head);
  for (std::size_t i = 0; i < run_.channels.size(); ++i) {
    const std::size_t dropped = put_in_order(run_.readings[i]);
    if (dropped == 0) continue;
    const Channel& channel = run_.channels[i];
    note(fmt::format("{} {} {}: {} readings have the time of another and were left out", channel.device, channel.source,
                     info(channel.signal).key, dropped));
  }
  set_implausible_apart(run_);
  sort_by_time(run_.events);
  sort_by_time(run_.absences);
  const std::int64_t first = first_time(run_);
  if (first != std::numeric_limits<std::int64_t>::max()) {
    for (auto& series : run_.readings) {
      for (Reading& reading : series) reading.time -= first;
    }
    for (Event& event : run_.events) event.time -= first;
    for (AbsenceRecord& record : run_.absences) record.time -= first;
    run_.clocks.push_back({0, first});
  }
  note("times are of a wall clock alone: had it been set meanwhile, durations were wrong by as much");
  run_.damage.complete = true;
  return std::move(run_);
}

}  // namespace joulecast
