// SPDX-License-Identifier: Apache-2.0
// Energy of stretches of time together, such as all phases of a name, and how well it is known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/account.h"
#include "analysis/phases.h"

namespace joulecast {

// Of each stretch, by the source that answers; absent where nothing covers enough of one of them, or one has no length.
std::optional<std::vector<SourceEnergy>> energies_of(const Accountant& accountant, const std::string& device,
                                                     const std::vector<Phase>& stretches);

struct StretchEnergy {
  std::string source;  // of the first
  Joules energy;
  // By the edges of the stretches or of the whole, or by what differs from step to step, whichever is more; nothing
  // where readings do not scatter.
  Joules standard_error;
};

// `energies` as energies_of() gives them. Requires: stretches in the order of their begins, apart from each other; one
// at least.
StretchEnergy sum_of_stretches(const Accountant& accountant, const std::string& device,
                               const std::vector<Phase>& stretches, const std::vector<SourceEnergy>& energies);

}  // namespace joulecast
