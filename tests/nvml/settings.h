// SPDX-License-Identifier: Apache-2.0
// Limits and clocks that were set, and when: in memory, or in a file that processes share and that survives them.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "scenario.h"

namespace joulecast::nvml {

enum class Setting : std::uint8_t { kPowerLimit, kSmLock, kMemoryLock, kApplicationClocks };

struct Pair {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  bool operator==(const Pair&) const = default;
};

struct Change {
  Nanoseconds at = 0;
  std::size_t gpu = 0;
  Setting setting = Setting::kPowerLimit;
  std::optional<Pair> value;  // limit in mW (first); MHz from, to; MHz of memory, graphics. Absent: back to default
};

// The file holds text: a line with the start of the scenario's time, then a line a change (README.md). A change is
// written with one write() under an exclusive lock, so a killed process leaves a whole line or none that counts.
//
//   SettingsLog log("", load_ns);
//   log.sync([&](const Change& change) { ... });   // what came since the last time
class SettingsLog {
 public:
  using Apply = std::function<void(const Change&)>;

  // An empty path: nothing is shared. `origin_ns` is on the monotonic clock; the file's own origin wins.
  SettingsLog(std::string path, std::int64_t origin_ns);

  // Each returns the scenario's time, taken under the lock: no change that comes later is earlier than it. Absent when
  // the file cannot be used; a line on stderr says why. `reset` is called when the file was replaced.
  std::optional<Nanoseconds> sync(const Apply& apply, const std::function<void()>& reset);
  std::optional<Nanoseconds> append(Change change, const Apply& apply, const std::function<void()>& reset);

  // Microseconds since 1970 of a moment of the scenario.
  [[nodiscard]] std::uint64_t wall_us(Nanoseconds at) const;

 private:
  [[nodiscard]] Nanoseconds now() const;
  bool read_new(int file, const Apply& apply, const std::function<void()>& reset);
  bool take(const std::string& line, const Apply& apply);
  bool start_file(int file);

  std::string path_;
  std::int64_t origin_ns_;
  std::int64_t wall_origin_us_;
  std::uint64_t inode_ = 0;
  std::int64_t read_bytes_ = 0;
};

std::int64_t monotonic_ns();

}  // namespace joulecast::nvml
