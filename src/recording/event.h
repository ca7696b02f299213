// SPDX-License-Identifier: Apache-2.0
// What happened at a moment of a run.
#pragma once

#include <cstdint>
#include <string>

#include "recording/channel.h"

namespace joulecast {

enum class EventKind : std::uint8_t { kBegin, kEnd, kMark };

// Who said so, where it is no process.
inline constexpr std::int64_t kRecorderTrack = 0;
inline constexpr std::int64_t kUnknownTrack = -1;

// A phase begins or ends, or a moment is marked. An end closes the innermost open begin of its name that the same
// process said, else the innermost that any other did (`joulecast mark` is a new process each time); phases may
// overlap. An end with an `id` among its details closes only a begin with the same.
struct Event {
  MonotonicUs time = 0;
  EventKind kind = EventKind::kMark;
  std::int64_t track = kRecorderTrack;  // the process that said so
  std::string name;                     // "epoch"
  std::string details;                  // "index=3\ttotal=10"

  bool operator==(const Event&) const = default;
};

// A moment on both clocks, microseconds: CLOCK_MONOTONIC, and since 1970 in UTC.
struct ClockPair {
  MonotonicUs monotonic = 0;
  std::int64_t utc = 0;

  bool operator==(const ClockPair&) const = default;
};

// A stretch without readings of a channel.
struct AbsenceRecord {
  MonotonicUs time = 0;
  std::uint32_t channel = 0;
  Absence absence = Absence::kError;
  std::uint64_t count = 1;  // readings that are missing, where that is known, else attempts that failed
  std::string text;         // "NVML: GPU is lost"

  bool operator==(const AbsenceRecord&) const = default;
};

}  // namespace joulecast
