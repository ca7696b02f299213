// SPDX-License-Identifier: Apache-2.0
// A recording in memory.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/result.h"
#include "recording/reader.h"

namespace joulecast {

// Everything a recording holds; about 16 bytes a reading.
struct Recording {
  nlohmann::json head = nlohmann::json::object();  // all heads, later keys over earlier ones
  nlohmann::json end;                              // null where the recorder did not come to its end
  std::vector<Channel> channels;
  std::vector<std::vector<Reading>> readings;  // one entry a channel, times rising
  std::vector<AbsenceRecord> absences;
  std::vector<Event> events;
  std::vector<ClockPair> clocks;
  std::vector<std::string> notes;
  RecordingDamage damage;

  // Microseconds since 1970 at that moment, between the pairs around it or with the nearest pair's difference. Absent
  // where the recording has no pair.
  [[nodiscard]] std::optional<std::int64_t> utc(MonotonicUs time) const;
  // The first and the last moment of anything; absent in a recording of nothing.
  struct Span {
    MonotonicUs begin = 0, end = 0;
  };
  [[nodiscard]] std::optional<Span> span() const;
};

// Errors: those of read_recording().
Result<Recording> load_recording(const std::string& path);
Result<Recording> parse_recording(std::string_view bytes);

}  // namespace joulecast
