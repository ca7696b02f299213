// SPDX-License-Identifier: Apache-2.0
// How sure the best setting of a sweep is.
#pragma once

#include <cstddef>
#include <vector>

namespace joulecast {

// Two runs drawn again make three series: what such a share says is that there were two.
inline constexpr std::size_t kLeastRunsToDraw = 3;

struct BootstrapInput {
  std::vector<std::vector<double>> values;       // one entry a setting: what shall be small, run by run
  std::vector<std::vector<std::size_t>> blocks;  // the repetition of each run
};

// The share of 2000 resampled series in which each setting has the least mean. Where all settings have the same
// repetitions, whole repetitions are drawn: what they have in common is no doubt about who is best. Else each setting's
// runs are drawn on their own. Empty where a setting has fewer
// than kLeastRunsToDraw runs. The same input gives the same shares.
std::vector<double> winning_shares(const BootstrapInput& input);

}  // namespace joulecast
