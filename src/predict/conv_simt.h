// SPDX-License-Identifier: Apache-2.0
// What cuDNN can run for a convolution without tensor cores, each with its own time, and what it takes: the fastest, or
// in modules Winograd where that is not much slower.
#pragma once

#include <limits>

#include "predict/conv_kernels.h"
#include "predict/law.h"
#include "predict/physics.h"
#include "predict/work.h"

namespace joulecast {

// Seconds, with what a call takes beside its products and bytes. Infinite where the algorithm does not exist for the
// shape.
struct SimtPass {
  double implicit = 0;  // the product of the unrolled input, unrolled on the fly
  double fused = 0;     // Winograd F(2x2, 3x3) in one kernel
  double tiled = 0;     // Winograd F(4x4, 3x3): transforms, 36 products, and the transform back
  double fft = std::numeric_limits<double>::infinity();  // by tiles of 32 x 32, where it is known how fast that is
  double time = 0;                                       // of the one that runs
  double products = 0;                                   // of the same, without its bytes
  double mean = 0;  // of the same, by the mean of all SMs instead of the busiest one
};
struct SimtPasses {
  SimtPass forward, data, weight;
};

// The gradients' passes are 0 where there are none. `bare`: in the tables measured in bare loops kernels are a little
// slower, whatever the reason (other versions of cuDNN, colder clocks), and what was seen in modules alone is left out.
SimtPasses simt_passes(const ConvWork& work, const Device& device, bool training, bool bare);
// With other constants than conv_kernels() has, for who fits them.
SimtPasses simt_passes(const ConvWork& work, const Device& device, bool training, bool bare,
                       const ConvKernels& kernels);

}  // namespace joulecast
