// SPDX-License-Identifier: Apache-2.0
// From graph operators to the work a runtime makes of them: views vanish, copies that strided tensors force appear,
// attention splits where the runtime has no fused kernel for its precision.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "graph/walk.h"
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
  bool opaque = false;             // costed by its bytes only
  bool no_input_gradient = false;  // reads the network's own input: training needs no gradient of it

  bool operator==(const LoweredOperation&) const = default;
};

// The work of one node of cost `cost`, appended to `out` with count 1. `strided` tells which values are not contiguous
// in memory.
class NodeLowering {
 public:
  NodeLowering(const LowerOptions& options, std::size_t value_count)
      : options_(options), strided_(value_count, false) {}

  void lower(const CostContext& context, const Cost& cost, std::vector<LoweredOperation>& out);

 private:
  friend struct LowerVisitor;
  LowerOptions options_;
  std::vector<bool> strided_;
};

// The work of a network, given node by node in execution order; equal work becomes one entry.
class NetworkLowering {
 public:
  // The graph must outlive it.
  NetworkLowering(const Graph& graph, const LowerOptions& options);

  void add(const Visit& visit, const Cost& cost);
  // In order of first appearance.
  [[nodiscard]] std::vector<LoweredOperation> take() && { return std::move(out_); }

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

  void merge(const LoweredOperation& operation, std::int64_t times);
  void grow();

  const Graph& graph_;
  LowerOptions options_;
  std::map<const Graph*, NodeLowering> lowerings_;  // values are numbered apart in every body
  std::vector<LoweredOperation> found_, out_;
  std::vector<std::uint32_t> places_;  // a hash table of indices into out_, open addressing
};

// Every operation of the network, equal work merged, in order of first appearance.
// `types` must be the table of `graph`; the precision's element types are expected to be in it already.
std::vector<LoweredOperation> lower(const Graph& graph, const TypeTable& types, const LowerOptions& options);

}  // namespace joulecast
