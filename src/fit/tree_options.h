// SPDX-License-Identifier: Apache-2.0
// How many trees of what kind each model has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fit/method.h"
#include "predict/physics.h"

namespace joulecast {

// Which of a group's models: those for all GPUs, or those for GPUs that were measured as modules or in loops alone.
enum class Kind : std::uint8_t { kAny, kSeen, kLoops };

TreeOptions time_options(Group group, Kind kind);
TreeOptions power_options(Group group, Kind kind);
// Log error of the law at which a row counts half for the model of time; infinite where all count the same.
double doubted_at(Group group, Kind kind);
// Whether power is learnt as what a law of busy parts (predict/power_law.h) leaves of it.
bool has_power_law(Group group, Kind kind);

// How much work the fit of one model is.
double fit_cost(std::size_t rows, const TreeOptions& options);

}  // namespace joulecast
