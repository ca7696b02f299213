// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "predict/correction.h"

namespace joulecast {

// One measurement: how far it is from the prediction, and what that may come from.
struct Deviation {
  double off = 0;  // measured minus predicted: of the logarithm of time, or of the share of power
  CorrectionTerms terms{};
  double weight = 1;        // of the row among others
  double scatter = 1;       // how far such rows are off besides, relative to the prior's
  std::size_t subject = 0;  // rows of one network say the same: judged by corrections made without all of them
};

}  // namespace joulecast
