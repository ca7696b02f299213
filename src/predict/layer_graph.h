// SPDX-License-Identifier: Apache-2.0
// Single layers that published tables measured with all that a framework runs around them: no model file holds them,
// the row tells what they are.
#pragma once

#include "dataset/measured.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

// Whether the row is such a layer: of the layouts cde_conv and cde_dense.
bool is_layer(const MeasuredNetwork& row);

// What TensorFlow 1 ran for it. Requires: is_layer(row). Errors: kInvalidInput for facts that are missing or no
// layer's, kUnsupported for an activation we do not know.
//
//  - Tensors lie channels-last and convolutions run channels-first: images and filters are turned before, and results
//    after. 1x1 without a stride, and unpadded filters as large as the image, are matrix products of what lies there.
//  - Padding that differs between two sides is a kernel of its own.
//  - In training the image and the target are variables as well, so that they have gradients and are stepped by the
//    optimizer; the loss is the mean of the squared difference.
//
// Source: the benchmark's own code (CDECatapult/ml-performance-prediction) and TensorFlow's kernels.
Result<Graph> layer_graph(const MeasuredNetwork& row);

}  // namespace joulecast
