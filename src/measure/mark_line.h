// SPDX-License-Identifier: Apache-2.0
// What a program says about its phases (docs/formats/marks.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/marks.h"
#include "recording/event.h"

namespace joulecast {

inline constexpr std::size_t kMaxMarkLine = JOULECAST_MAX_MARK_LINE;
inline constexpr std::size_t kMaxMarkName = JOULECAST_MAX_MARK_NAME;

// A line that a program sent: a phase's begin or end, a mark, or that lines were lost on the way.
struct MarkLine {
  std::optional<MonotonicUs> time;  // where the sender said it
  EventKind kind = EventKind::kMark;
  std::string name;
  std::string details;     // "index=3\ttotal=10"
  std::uint64_t lost = 0;  // of a "lost N" line, which has no name
};

// "[@<monotonic ns> ]begin|end|mark NAME[\tkey=value...]" or "lost N". Absent for anything else, and for names that are
// empty, too long or hold control characters. What else must not be shown as it is becomes harmless (base/harmless.h).
std::optional<MarkLine> parse_mark_line(std::string_view line);

}  // namespace joulecast
