// SPDX-License-Identifier: Apache-2.0
// The kernels that inference engines multiply FP8 matrices with. Which tile one has depends on the rows and the GPU's
// generation alone: it is not chosen by shape, as cuBLAS does.
#pragma once

#include "predict/law.h"
#include "predict/physics.h"

namespace joulecast {

struct Fp8Product {
  TileChoice tile;
  double moved = 0;     // seconds for factors and result
  double set = 0;       // bytes that repeated calls touch
  double quantise = 0;  // seconds for making FP8 of the left factor, on the way in
  double start = 0;     // seconds before
  bool beside = false;  // `start` is the host's, which launches while the GPU works
};

// [rows, depth] by [depth, columns] with a result in halves; repeated calls go through five copies of the right factor.
Fp8Product fp8_product(double rows, double columns, double depth, const Device& device, Situation situation);

}  // namespace joulecast
