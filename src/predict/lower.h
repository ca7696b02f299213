// SPDX-License-Identifier: Apache-2.0
// From graph operators to the work a runtime makes of them: views vanish, copies that strided tensors force appear,
// attention splits where the runtime has no fused kernel for its precision.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/cost.h"
#include "joulecast/graph.h"
#include "joulecast/workload.h"
#include "predict/work.h"

namespace joulecast {

struct LowerOptions {
  Mode mode = Mode::kInference;
  Precision precision = Precision::kTf32;
  Runtime runtime = Runtime::kPytorchEager;
};

// One kind of work and how often the network does it.
struct LoweredOperation {
  Work work;
  std::int64_t count = 0;          // executions on the GPU
  std::int64_t calls = 0;          // calls the host makes for them; less than `count` inside a recurrent layer
  std::uint32_t node = 0;          // the first node of the graph that gave rise to it
  bool opaque = false;             // costed by its bytes only
  bool no_input_gradient = false;  // reads the network's own input: training needs no gradient of it

  bool operator==(const LoweredOperation&) const = default;
};

// The work of one node, appended to `out` with count 1. `strided` tells which values are not contiguous in memory.
class NodeLowering {
 public:
  NodeLowering(const LowerOptions& options, std::size_t value_count)
      : options_(options), strided_(value_count, false) {}

  void lower(const CostContext& context, std::vector<LoweredOperation>& out);

 private:
  friend struct LowerVisitor;
  LowerOptions options_;
  std::vector<bool> strided_;
};

// Every operation of the network, equal work merged, in order of first appearance.
// `types` must be the table of `graph`; the precision's element types are expected to be in it already.
std::vector<LoweredOperation> lower(const Graph& graph, const TypeTable& types, const LowerOptions& options);

}  // namespace joulecast
