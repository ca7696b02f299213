// SPDX-License-Identifier: Apache-2.0
// The kernels that inference engines multiply matrices in FP8 and NVFP4 with, and those that quantise what goes in.
// Which tile one has depends on the rows and the GPU's generation alone: it is not chosen by shape, as cuBLAS does.
#pragma once

#include "predict/law.h"
#include "predict/physics.h"

namespace joulecast {

// Bytes of an element: NVFP4 has a scale of one byte for each 16.
inline constexpr double kFp4Bytes = 0.5625;

struct QuantisedProduct {
  TileChoice tile;
  double bytes = 0;     // of quantised factors and result
  double moved = 0;     // seconds for them
  double set = 0;       // bytes that repeated calls touch
  double quantise = 0;  // seconds for quantising the left factor, on the way in
  double start = 0;     // seconds before
  bool beside = false;  // `start` is the host's, which launches while the GPU works
};

// [rows, depth] by [depth, columns] with a result in halves, in `arithmetic`, kFp8 or kFp4. Repeated calls go through
// five copies of the right factor in FP8, through one in FP4.
QuantisedProduct quantised_product(double rows, double columns, double depth, Arithmetic arithmetic,
                                   const Device& device, Situation situation);

}  // namespace joulecast
