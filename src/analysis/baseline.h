// SPDX-License-Identifier: Apache-2.0
// The idleness that was recorded before a command ran ("--baseline").
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/account.h"
#include "analysis/phases.h"
#include "recording/recording.h"

namespace joulecast {

struct IdlePower {
  double watts = 0;
  double error_w = 0;  // standard error
};
// Absent where readings cover too little of it.
std::optional<IdlePower> power_in(const Accountant& accountant, const std::string& device, const Phase& baseline);

// What speaks against its having been idle: utilisation of more than one part in twenty, or a power whose second half
// differs from the first by more than a tenth and more than chance.
std::vector<std::string> baseline_doubts(const Recording& recording, const Accountant& accountant,
                                         const std::string& device, const Phase& baseline);

}  // namespace joulecast
