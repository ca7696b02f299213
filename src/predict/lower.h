// SPDX-License-Identifier: Apache-2.0
// From graph operators to the work a runtime makes of them: views vanish, copies that strided tensors force appear,
// attention splits where the runtime has no fused kernel for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "graph/walk.h"
#include "joulecast/cost.h"
#include "joulecast/graph.h"
#include "joulecast/workload.h"
#include "predict/storage.h"
#include "predict/work.h"

namespace joulecast {

// What is narrower than a byte counts as one.
inline std::int64_t element_bytes(const TensorType& type) {
  return std::max(1, bit_width(type.element) / 8);
}

struct LowerOptions {
  Mode mode = Mode::kInference;
  Precision precision = Precision::kTf32;
  Runtime runtime = Runtime::kPytorchEager;
  Layout layout = Layout::kChannelsFirst;
  AttentionKernels attention = AttentionKernels::kFusedOrFp32;
};

// One kind of work and how often the network does it.
struct LoweredOperation {
  Work work;
  std::int64_t count = 0;          // executions on the GPU
  std::int64_t calls = 0;          // calls the host makes for them; less than `count` inside a recurrent layer
  bool opaque = false;             // costed by its bytes only
  bool no_input_gradient = false;  // a first layer: no parameter is behind its input, whose gradient nobody needs
  // Of a node: set where it is no work of the operator, but the copy of an input that lies otherwise than it needs.
  std::optional<std::size_t> copied_input = {};

  bool operator==(const LoweredOperation&) const = default;
};

// The work of the nodes of one graph or body, in its order. It remembers how the values lie in memory.
class NodeLowering {
 public:
  NodeLowering(const LowerOptions& options, const Graph& graph);

  // How a gradient is taken that is a part of another: from the easiest on.
  enum class Taken : std::uint8_t {
    kAsItLies,  // elementwise kernels and sums step over gaps
    kByRows,    // products do over gaps between rows, but not over two kinds of gaps
    kWhole,     // convolutions, norms and pooling copy what is not contiguous
    kTurned,    // and what comes back through a transpose is never
  };

  // Of one node of cost `cost`, appended to `out` with count 1.
  void lower(const CostContext& context, const Cost& cost, std::vector<LoweredOperation>& out);
  [[nodiscard]] Storage storage(ValueId id) const { return storage_[index(id)]; }
  void set_storage(ValueId id, Storage lies) { storage_[index(id)] = lies; }
  // Nothing that runs: it says where a scatter writes.
  [[nodiscard]] bool makes_positions(const Node& node) const;
  // Whether training makes a gradient of that input of the node.
  [[nodiscard]] bool has_gradient(const CostContext& context, std::size_t input) const;
  // Of any.
  [[nodiscard]] bool has_gradient(const CostContext& context) const;
  // Of a value whose gradient is wanted though no parameter is behind it.
  void want_gradient(ValueId id) { has_gradient_[index(id)] = true; }

 private:
  friend struct LowerParts;
  friend struct LowerViews;
  friend struct LowerProducts;
  friend struct LowerVisitor;
  // PyTorch runs the model's operators one by one.
  [[nodiscard]] bool is_eager() const {
    return options_.runtime == Runtime::kPytorchEager || options_.runtime == Runtime::kCudaGraph;
  }
  // Each step of autograd's formulas is a kernel.
  [[nodiscard]] bool gradients_are_eager() const { return is_eager() && options_.mode == Mode::kTraining; }
  void pass_gradients(const CostContext& context, std::vector<LoweredOperation>& out);
  [[nodiscard]] PointwiseWork sum_of_gradients(const TensorType& type, std::size_t value) const;
  [[nodiscard]] std::int64_t gradient_bytes(const Binary& op, const CostContext& context) const;
  [[nodiscard]] std::int64_t gradient_bytes(const Concat& op, const CostContext& context) const;
  [[nodiscard]] static std::int64_t gradient_bytes(const Unary& op, const CostContext& context);

  LowerOptions options_;
  std::vector<Storage> storage_;
  std::vector<std::int64_t> repeated_;    // by value: bytes that its memory has less than it, see Expand
  std::vector<bool> has_gradient_;        // by value: a parameter is behind it
  std::vector<std::uint32_t> readers_;    // by value: nodes
  std::vector<std::uint32_t> gradients_;  // by value: how many of the nodes lowered so far make one of it
  std::vector<bool> across_;              // by value: the last of them lies channels-first, the value channels-last
  std::vector<Taken> taken_;              // by value: how whoever made it takes its gradient
  std::vector<bool> positions_;
};

class Fusion;
class TensorflowRemapper;

// The work of a network, given node by node in execution order; equal work becomes one entry.
class NetworkLowering {
 public:
  // The graph must outlive it.
  NetworkLowering(const Graph& graph, const LowerOptions& options);
  NetworkLowering(NetworkLowering&&) noexcept;
  ~NetworkLowering();

  void add(const Visit& visit, const Cost& cost);
  // In order of first appearance.
  [[nodiscard]] std::vector<LoweredOperation> take() &&;

 private:
  static constexpr std::uint32_t kFree = std::numeric_limits<std::uint32_t>::max();

  NodeLowering& lowering_of(const Graph& graph);
  void merge(const LoweredOperation& operation, std::int64_t times);
  void grow();

  const Graph& graph_;
  LowerOptions options_;
  std::unique_ptr<Fusion> fusion_;  // of compiled networks; bodies of control flow are executed as they stand
  std::unique_ptr<TensorflowRemapper> remapper_;
  std::map<const Graph*, NodeLowering> lowerings_;  // values are numbered apart in every body
  std::vector<LoweredOperation> found_, out_;
  std::vector<std::uint32_t> places_;  // a hash table of indices into out_, open addressing
};

// Every operation of the network, equal work merged, in order of first appearance.
// `types` must be the table of `graph`; the precision's element types are expected to be in it already.
std::vector<LoweredOperation> lower(const Graph& graph, const TypeTable& types, const LowerOptions& options);

}  // namespace joulecast
