// SPDX-License-Identifier: Apache-2.0
// What one operator does to the machine, counted from its shapes alone.
#pragma once

#include <cstdint>

#include "joulecast/graph.h"
#include "joulecast/units.h"

namespace joulecast {

// Work and compulsory traffic: every input read once, every output written once, nothing assumed to stay in a cache.
// 1 multiply-accumulate = 2 flops. Elementwise work counts one flop an element and arithmetic step as the operator's
// own page says. Views and host arithmetic are all zero.
struct Cost {
  Flops forward_flops, backward_flops;
  Bytes forward_read, forward_written;
  Bytes backward_read, backward_written;  // gradients of all inputs that take one, and of the parameters
  Bytes parameters;                       // weights this operator reads
  Bytes saved;                            // kept from forward to backward besides inputs and outputs themselves
  std::int64_t parameter_count = 0;

  Cost& operator+=(const Cost& other);
};

// One node of a typed graph, as cost() sees it. A view: the graph and the table must outlive it.
class CostContext {
 public:
  CostContext(const Graph& graph, const Node& node, const TypeTable& types)
      : graph_(graph), node_(node), types_(types) {}

  [[nodiscard]] std::size_t input_count() const { return node_.inputs.size(); }
  [[nodiscard]] std::size_t output_count() const { return node_.outputs.size(); }
  // False for an optional input that is absent, or an output nobody reads.
  [[nodiscard]] bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }
  [[nodiscard]] bool has_output(std::size_t i) const {
    return i < node_.outputs.size() && node_.outputs[i] != kNoValue;
  }
  // Whether anybody reads what the operator is for: its first output; of recurrent layers, TopK, Split, control flow
  // and unknown operators any.
  [[nodiscard]] bool is_read() const;
  // Requires: has(i), has_output(i).
  [[nodiscard]] const TensorType& input(std::size_t i) const { return types_.type(node_.inputs[i]); }
  [[nodiscard]] const TensorType& output(std::size_t i = 0) const { return types_.type(node_.outputs[i]); }
  // True for weights (and constants that are as large as weights).
  [[nodiscard]] bool is_parameter(std::size_t i) const {
    return has(i) && graph_.value(node_.inputs[i]).kind == ValueKind::kParameter;
  }
  // Contents of input i where shapes and constants tell them; nullptr otherwise.
  [[nodiscard]] const Contents* known(std::size_t i) const { return has(i) ? types_.known(node_.inputs[i]) : nullptr; }
  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] const TypeTable& types() const { return types_; }

 private:
  const Graph& graph_;
  const Node& node_;
  const TypeTable& types_;
};

// The cost of one operator. Control flow: 0 here, its bodies are costed by whoever walks them (see repetitions()).
Cost operator_cost(const CostContext& context);

}  // namespace joulecast
