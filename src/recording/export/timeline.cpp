// SPDX-License-Identifier: Apache-2.0
#include "recording/export/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

namespace joulecast {

UtcClock::UtcClock(const std::vector<ClockPair>& pairs) : pairs_(pairs) {
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const ClockPair& a, const ClockPair& b) { return a.monotonic < b.monotonic; });
}

std::int64_t UtcClock::utc(MonotonicUs time) const {
  const auto after = std::lower_bound(pairs_.begin(), pairs_.end(), time,
                                      [](const ClockPair& pair, MonotonicUs at) { return pair.monotonic < at; });
  if (after == pairs_.begin()) return time - after->monotonic + after->utc;
  const ClockPair& before = *std::prev(after);
  const auto since = static_cast<double>(time - before.monotonic);
  if (after == pairs_.end()) return before.utc + (time - before.monotonic);
  const double rate =
      static_cast<double>(after->utc - before.utc) / static_cast<double>(after->monotonic - before.monotonic);
  // No clock runs twice as fast as another: it was set in between.
  if (!(rate > 0.5 && rate < 2)) return before.utc + (time - before.monotonic);
  return before.utc + std::llround(since * rate);
}

bool OpenPhases::begin(const Event& event) {
  constexpr std::size_t kMost = 64;
  if (open_.size() >= kMost) return false;
  open_.push_back(&event);
  return true;
}

const Event* OpenPhases::end(const Event& event) {
  const auto last = [&](auto&& fits) {
    return std::find_if(open_.rbegin(), open_.rend(),
                        [&](const Event* begin) { return begin->name == event.name && fits(begin->track); });
  };
  auto at = last([&](std::int64_t track) { return track == event.track; });
  // The recorder's own phases are nobody else's to end.
  if (at == open_.rend() && event.track != kRecorderTrack) {
    at = last([](std::int64_t track) { return track != kRecorderTrack; });
  }
  if (at == open_.rend()) return nullptr;
  const Event* begin = *at;
  open_.erase(std::next(at).base());
  return begin;
}

PhaseLabels::PhaseLabels(std::vector<Event> events) {
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  OpenPhases phases;
  for (const Event& event : events) {
    if (event.kind == EventKind::kMark) continue;
    const bool changed = event.kind == EventKind::kBegin ? phases.begin(event) : phases.end(event) != nullptr;
    if (!changed) continue;
    std::string label;
    for (const Event* begin : phases.open()) label += (label.empty() ? "" : "/") + begin->name;
    if (!changes_.empty() && changes_.back().time == event.time) changes_.pop_back();
    changes_.push_back({event.time, std::move(label)});
  }
}

const std::string& PhaseLabels::at(MonotonicUs time) const {
  static const std::string kNone;
  const auto after = std::upper_bound(changes_.begin(), changes_.end(), time,
                                      [](MonotonicUs at, const Change& change) { return at < change.time; });
  return after == changes_.begin() ? kNone : std::prev(after)->label;
}

std::string kind_of_device(const std::string& device) {
  std::string out;
  for (const char c : device) {
    if (c < 'a' || c > 'z') break;
    out += c;
  }
  return out.empty() ? "device" : out;
}

std::string si_text(const Reading& reading, Signal signal) {
  const double step = info(signal).step;
  std::int64_t scale = std::llround(1 / step);
  const std::int64_t size = reading.value < 0 ? -reading.value : reading.value;
  if (scale <= 1 || reading.value == INT64_MIN) return fmt::format("{}", reading.value);
  std::string digits;
  for (std::int64_t rest = size % scale; rest != 0; rest %= scale) {
    scale /= 10;
    digits += static_cast<char>('0' + rest / scale);
  }
  return fmt::format("{}{}{}{}", reading.value < 0 ? "-" : "", size / std::llround(1 / step), digits.empty() ? "" : ".",
                     digits);
}

}  // namespace joulecast
