// SPDX-License-Identifier: Apache-2.0
// Times as people and programs write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace joulecast {

struct WallTime {
  std::int64_t us = 0;  // since 1970: of UTC where the text says its zone, else of the clock on the wall
  bool zoned = false;
};
// "2026-05-07 22:08:19.005", with / or - in the date, a space or T after it, up to nine digits of the second and
// perhaps Z or an offset behind. Absent for anything else, and for days there are not.
std::optional<WallTime> parse_wall_time(std::string_view text);

// "+02:00", "-0330", "Z": microseconds that the clock on the wall is ahead of UTC. At most 18 hours.
std::optional<std::int64_t> parse_utc_offset(std::string_view text);
// "+02:00".
std::string utc_offset_text(std::int64_t us);

// "2026-05-07T22:08:19.005000Z".
std::string utc_text(std::int64_t us);

}  // namespace joulecast
