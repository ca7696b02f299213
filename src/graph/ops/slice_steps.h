// SPDX-License-Identifier: Apache-2.0
// Which slices are copies: for their cost and for the memory they take.
#pragma once

#include <algorithm>

#include "joulecast/graph.h"

namespace joulecast {

// `steps` is what is known of a Slice's fifth input, or nullptr. PyTorch's views have no negative steps.
inline bool walks_back(const Contents* steps) {
  return steps != nullptr && std::any_of(steps->ints.begin(), steps->ints.end(), [](auto step) { return step < 0; });
}

}  // namespace joulecast
