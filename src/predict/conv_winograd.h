// SPDX-License-Identifier: Apache-2.0
// Winograd F(4x4, 3x3) as cuDNN's static heuristics run it in FP32: kernels that transform the input, the filters and
// the output, and 36 products between them.
#pragma once

#include "predict/law.h"
#include "predict/physics.h"

namespace joulecast {

// A 3x3 convolution without stride or gaps; extents of the result.
struct WinogradShape {
  double batch, height, width, in_channels, out_channels;
  double in, out;  // numbers
  double number_bytes;
};

// Seconds of the products alone, and of all kernels one after the other.
struct WinogradTime {
  BusySms products;
  double time = 0;
};
// How fast the products are, relative to their law's, and what the transforms of input and output, and
// of the filters, take over moving their bytes once: of the first two as fast as kernels stream that read two tensors.
struct WinogradKernels {
  double products, transforms, filters;
};
// `peak`: flops per second that the clock allows. Without the time from kernel to kernel, of which there are four.
WinogradTime winograd_time(const WinogradShape& shape, double peak, const WinogradKernels& kernels,
                           const Device& device);

}  // namespace joulecast
