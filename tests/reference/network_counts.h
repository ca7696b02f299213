// SPDX-License-Identifier: Apache-2.0
// What joulecast counts in a network, sorted into the kinds that torch's and fvcore's counters have.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast {

// By kind, in flops: "conv" and "matrix" (linear and recurrent layers, matrix products, attention; torch runs one and
// the same linear layer as addmm, mm or bmm, as the batch and the strides have it, so these are one kind). In elements,
// each as often as fvcore counts it: "batch_norm" 2 times, "layer_norm" and "group_norm" 5 times (4 without scale).
using Counts = std::map<std::string, double>;

struct NetworkCounts {
  Counts torch, fvcore;
  double parameters = 0.0;
  std::vector<Shape> outputs;
};

// Of a graph as simplify() leaves it, with each symbol at its size. `spelled_out_attention`: fvcore sees products where
// a network multiplies scores itself, and nothing where it calls the fused operator.
NetworkCounts count_network(const Graph& graph, const TypeTable& types, bool spelled_out_attention);

}  // namespace joulecast
