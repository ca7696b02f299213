// SPDX-License-Identifier: Apache-2.0
#include "recording/outliner.h"

#include <utility>

#include "recording/foreign_json.h"

namespace joulecast {
namespace {

// Thirty thousand years: whatever is beyond was made up, and differences of what remains cannot overflow.
bool plausible(std::int64_t microseconds) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  return microseconds > -kLargest && microseconds < kLargest;
}

}  // namespace

void Outliner::head(std::string_view json) {
  if (const auto object = foreign_object(json); object.is_object()) run_.head.update(object);
}

void Outliner::channel(std::uint32_t /*id*/, const Channel& channel) {
  run_.channels.push_back(channel);
}

void Outliner::absence(const AbsenceRecord& record) {
  if (plausible(record.time)) run_.absences.push_back(record);
}

void Outliner::event(const Event& event) {
  if (plausible(event.time)) run_.events.push_back(event);
}

void Outliner::clocks(const ClockPair& pair) {
  if (plausible(pair.monotonic) && plausible(pair.utc)) run_.clocks.push_back(pair);
}

void Outliner::note(std::string_view text) {
  run_.notes.emplace_back(text);
}

void Outliner::end(std::string_view json) {
  if (auto object = foreign_object(json); object.is_object()) run_.end = std::move(object);
}

std::span<const Reading> RisingReadings::of(std::uint32_t channel, std::span<const Reading> readings) {
  if (channel >= newest_.size()) newest_.resize(channel + 1);
  auto& newest = newest_[channel];
  part_.clear();
  for (const Reading& reading : readings) {
    if (!plausible(reading.time) || (newest && reading.time <= *newest)) continue;
    newest = reading.time;
    part_.push_back(reading);
  }
  return part_;
}

}  // namespace joulecast
