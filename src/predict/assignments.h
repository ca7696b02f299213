// SPDX-License-Identifier: Apache-2.0
// Assignments to slices. torch.onnx writes `x[a:b, c:d] = y` as a scatter to the position of every element, and the
// positions as ranges made of shapes; PyTorch computes none of them and copies y.
#pragma once

#include <vector>

#include "joulecast/graph.h"

namespace joulecast {

// By value: whether it follows from shapes and constants and says nothing but where a scatter writes.
std::vector<bool> scatter_positions(const Graph& graph);

}  // namespace joulecast
