// SPDX-License-Identifier: Apache-2.0
// Energy of a stretch from power that is the mean of the last second (class C), after desmear() and off_edges() of
// series/running_mean.h: undone where the readings allow it, else without the second after the stretch's begin.
#pragma once

#include <cstdint>
#include <optional>

#include "series/energy.h"
#include "series/series.h"

namespace joulecast {

enum class Correction : std::uint8_t {
  kNone,
  kDesmeared,  // the running mean was undone
  kOffEdges,   // the first second was left out, and taken to have been as the rest
};

inline constexpr Seconds kAveragingWindow{1.0};

struct AveragedEnergy {
  series::Energy energy;  // of [begin, end]
  Correction correction = Correction::kOffEdges;
};

class AveragedPower {
 public:
  // Of polls in watts.
  explicit AveragedPower(series::Series polls);

  // Requires: begin < end, both inside the polls. Errors: kUnsupported where the readings cannot be undone and the
  // stretch is shorter than two windows: what would be left is less than what is left out.
  [[nodiscard]] Result<AveragedEnergy> energy(Seconds begin, Seconds end) const;

 private:
  series::Series polls_;
  std::optional<series::Series> undone_;  // Between::kSinceLast
};

}  // namespace joulecast
