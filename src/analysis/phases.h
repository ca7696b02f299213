// SPDX-License-Identifier: Apache-2.0
// Phases of a run, from what was marked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "recording/recording.h"

namespace joulecast {

// The recorder's own phase around each run of the command before those that are measured.
inline constexpr const char* kWarmup = "warmup";

// From a begin to its end.
struct Phase {
  std::string name;
  std::string details;  // of the begin: "index=3\ttotal=10"
  std::int64_t track = kRecorderTrack;
  MonotonicUs begin = 0, end = 0;
  bool open = false;  // nobody marked its end: it ends with the recording

  [[nodiscard]] double seconds() const { return static_cast<double>(end - begin) * 1e-6; }
};

// In the order of their begins; event.h says which begin an end closes. What a program began during a warm-up is left
// out. Ends without a begin are counted in `stray_ends`.
struct Phases {
  std::vector<Phase> phases;
  std::size_t stray_ends = 0;
};
Phases phases_of(const Recording& recording);

// Those that share time joined to one, in the order of their begins: a moment in which several run is there once.
std::vector<Phase> joined(std::vector<Phase> phases);

// "3" for key "index" of "index=3\ttotal=10".
std::optional<std::string> detail_of(std::string_view details, std::string_view key);

}  // namespace joulecast
