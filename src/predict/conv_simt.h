// SPDX-License-Identifier: Apache-2.0
// What cuDNN can run for a convolution without tensor cores, each with its own time: the law takes the fastest.
#pragma once

#include <limits>

#include "predict/physics.h"
#include "predict/work.h"

namespace joulecast {

// Flops or seconds of the busiest SM, and of all by their mean: what the last wave leaves idle draws little power.
struct BusySms {
  double most = std::numeric_limits<double>::infinity(), mean = std::numeric_limits<double>::infinity();

  [[nodiscard]] BusySms operator*(double by) const { return {most * by, mean * by}; }
};

// Seconds. Infinite where the algorithm does not exist for the shape.
struct SimtPass {
  double implicit = 0;  // the product of the unrolled input, unrolled on the fly
  double fused = 0;     // Winograd F(2x2, 3x3) in one kernel
  double tiled = 0;     // Winograd F(4x4, 3x3): transforms, 36 products, and the transform back
  double products = 0;  // of the fastest, without its bytes
  double mean = 0;      // of the same, by the mean of all SMs instead of the busiest one

  [[nodiscard]] double fastest() const;
};
struct SimtPasses {
  SimtPass forward, data, weight;
};

// The gradients' passes are 0 where there are none. `bare`: Winograd is slower in the tables measured in bare loops,
// whatever the reason: other versions of cuDNN, colder clocks.
SimtPasses simt_passes(const ConvWork& work, const Device& device, bool training, bool bare);

}  // namespace joulecast
