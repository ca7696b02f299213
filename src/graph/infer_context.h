// SPDX-License-Identifier: Apache-2.0
// What an operator sees while types are propagated, and what its infer() and cost() look like.
#pragma once

#include <span>
#include <string>

#include "joulecast/cost.h"
#include "joulecast/graph.h"

namespace joulecast {

// The inputs of one node with their types; collects the types of its outputs.
class InferContext {
 public:
  InferContext(const Graph& graph, const Node& node, TypeTable& table) : graph_(graph), node_(node), table_(table) {}

  [[nodiscard]] std::size_t input_count() const { return node_.inputs.size(); }
  [[nodiscard]] std::size_t output_count() const { return node_.outputs.size(); }
  // False for an optional input that is absent.
  [[nodiscard]] bool has(std::size_t i) const { return i < node_.inputs.size() && node_.inputs[i] != kNoValue; }
  // Requires: has(i).
  [[nodiscard]] const TensorType& input(std::size_t i) const { return table_.type(node_.inputs[i]); }
  [[nodiscard]] const Shape& shape(std::size_t i) const { return input(i).shape; }
  // Contents of input i where they follow from shapes and constants alone; nullptr otherwise or if absent.
  [[nodiscard]] const Contents* known(std::size_t i) const { return has(i) ? table_.known(node_.inputs[i]) : nullptr; }
  // Fails naming what is missing if input i is absent.
  [[nodiscard]] Result<void> require(std::size_t i, std::string_view what) const;
  // The integers of input i. Fails if it is absent or depends on data.
  [[nodiscard]] Result<std::span<const std::int64_t>> ints(std::size_t i, std::string_view what) const;

  // Sets output i (ignored where nobody reads it). Fails for negative or absurd extents.
  Result<void> set(std::size_t i, ElementType element, const Shape& shape);
  // Requires: set(i) came before and the contents fit its type.
  void set_known(std::size_t i, Contents contents);

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] const Node& node() const { return node_; }
  [[nodiscard]] TypeTable& table() { return table_; }

 private:
  const Graph& graph_;
  const Node& node_;
  TypeTable& table_;
};

// The element type of arithmetic on both: the wider of two floating types, as PyTorch promotes (halves of two kinds to
// FP32); a scalar does not widen. Otherwise that of `a`, as exporters write the same type twice.
ElementType promoted(const TensorType& a, const TensorType& b);

// `axis` counted from the front. Fails unless -rank <= axis < rank.
Result<std::size_t> normalize_axis(std::int64_t axis, std::size_t rank);
// numpy broadcasting of two shapes.
Result<Shape> broadcast(const Shape& a, const Shape& b);

// Propagates types through a body whose inputs already have theirs in `table` (for control flow).
Result<void> infer_body(const Graph& body, TypeTable& table);

#define JC_DECLARE_OPERATOR(Op)                            \
  Result<void> infer(const Op& op, InferContext& context); \
  Cost cost(const Op& op, const CostContext& context)

JC_DECLARE_OPERATOR(Conv);
JC_DECLARE_OPERATOR(Linear);
JC_DECLARE_OPERATOR(MatMul);
JC_DECLARE_OPERATOR(Attention);
JC_DECLARE_OPERATOR(BatchNorm);
JC_DECLARE_OPERATOR(LayerNorm);
JC_DECLARE_OPERATOR(GroupNorm);
JC_DECLARE_OPERATOR(InstanceNorm);
JC_DECLARE_OPERATOR(RmsNorm);
JC_DECLARE_OPERATOR(Pool);
JC_DECLARE_OPERATOR(AdaptivePool);
JC_DECLARE_OPERATOR(Activation);
JC_DECLARE_OPERATOR(Softmax);
JC_DECLARE_OPERATOR(Unary);
JC_DECLARE_OPERATOR(Binary);
JC_DECLARE_OPERATOR(Where);
JC_DECLARE_OPERATOR(Concat);
JC_DECLARE_OPERATOR(Split);
JC_DECLARE_OPERATOR(Slice);
JC_DECLARE_OPERATOR(Pad);
JC_DECLARE_OPERATOR(Reshape);
JC_DECLARE_OPERATOR(Flatten);
JC_DECLARE_OPERATOR(Squeeze);
JC_DECLARE_OPERATOR(Unsqueeze);
JC_DECLARE_OPERATOR(Transpose);
JC_DECLARE_OPERATOR(Expand);
JC_DECLARE_OPERATOR(Tile);
JC_DECLARE_OPERATOR(Gather);
JC_DECLARE_OPERATOR(Scatter);
JC_DECLARE_OPERATOR(Reduce);
JC_DECLARE_OPERATOR(Cumulate);
JC_DECLARE_OPERATOR(TopK);
JC_DECLARE_OPERATOR(Resize);
JC_DECLARE_OPERATOR(GridSample);
JC_DECLARE_OPERATOR(Embedding);
JC_DECLARE_OPERATOR(Dropout);
JC_DECLARE_OPERATOR(StochasticDepth);
JC_DECLARE_OPERATOR(Rnn);
JC_DECLARE_OPERATOR(Cast);
JC_DECLARE_OPERATOR(Quantize);
JC_DECLARE_OPERATOR(Dequantize);
JC_DECLARE_OPERATOR(PixelShuffle);
JC_DECLARE_OPERATOR(Triangle);
JC_DECLARE_OPERATOR(Roll);
JC_DECLARE_OPERATOR(OneHot);
JC_DECLARE_OPERATOR(ShapeOf);
JC_DECLARE_OPERATOR(Fill);
JC_DECLARE_OPERATOR(Range);
JC_DECLARE_OPERATOR(If);
JC_DECLARE_OPERATOR(Loop);
JC_DECLARE_OPERATOR(Scan);
JC_DECLARE_OPERATOR(Opaque);
#undef JC_DECLARE_OPERATOR

}  // namespace joulecast
