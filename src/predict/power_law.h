// SPDX-License-Identifier: Apache-2.0
// What an operation draws by how busy it keeps the parts of a GPU: what trees of power correct where this foretells
// most of it.
#pragma once

#include <algorithm>

#include "predict/physics.h"

namespace joulecast {

// Each part's share of the power between waiting (Device::awake) and limit while it is busy. All 0: no law.
struct PowerLaw {
  double compute = 0, memory = 0, gpu = 0;

  [[nodiscard]] bool none() const { return compute <= 0.0 && memory <= 0.0 && gpu <= 0.0; }

  // Of an operation that takes `time` seconds, 0 to 1. Requires: time > 0.
  [[nodiscard]] double share(const Physics& physics, double time) const {
    const auto busy = [time](double part) { return std::min(1.0, part / time); };
    return std::min(1.0, compute * busy(physics.computing()) + memory * busy(physics.memory) + gpu * busy(physics.gpu));
  }
};

}  // namespace joulecast
