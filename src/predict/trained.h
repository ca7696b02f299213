// SPDX-License-Identifier: Apache-2.0
// Which values of a network autograd makes gradients of.
#pragma once

#include <vector>

#include "joulecast/graph.h"
#include "joulecast/tensor.h"

namespace joulecast {

// By value: computed, floating, and with a parameter behind it. A parameter that only meets values without gradients in
// sums and products, as the mean of images does, is a table and not trained. What has no parameters at all is a part of
// a network, behind whose inputs there are some.
std::vector<bool> trained_values(const Graph& graph, const TypeTable& types);

}  // namespace joulecast
