// SPDX-License-Identifier: Apache-2.0
// What an operation draws by how busy it keeps the parts of a GPU: what trees of power correct where this foretells
// most of it.
#pragma once

#include <algorithm>
#include <cmath>

#include "predict/physics.h"

namespace joulecast {

// Each part's share of the power between waiting (Device::awake) and limit while it is busy. All 0: no law.
struct PowerLaw {
  double compute = 0, memory = 0, gpu = 0;

  [[nodiscard]] bool none() const { return compute <= 0.0 && memory <= 0.0 && gpu <= 0.0; }

  // Of an operation that takes `time` seconds, 0 to 1. Requires: time > 0.
  [[nodiscard]] double share(const Physics& physics, double time) const {
    const auto busy = [time](double part) { return std::min(1.0, part / time); };
    const double sum = compute * busy(physics.computing()) + memory * busy(physics.memory) + gpu * busy(physics.gpu);
    return std::min(1.0, physics.filling > 0.0 ? sum * awake(physics.filling / time) : sum);
  }

  // A training's host leaves gaps of a hundred microseconds. A GPU whose kernels fill less than two fifths of the time
  // lowers its clocks between them, and draws less than half of what the same kernels do behind each other. From
  // elementwise work, norms and pooling on an A30, where power jumps from 59 to 104 W, and an RTX 2080 Ti; the three
  // figures by trials on operations held out.
  static double awake(double duty) {
    constexpr double kAsleep = 0.45, kKnee = 0.39, kWidth = 0.025;
    return kAsleep + (1.0 - kAsleep) / (1.0 + std::exp((kKnee - duty) / kWidth));
  }
};

}  // namespace joulecast
