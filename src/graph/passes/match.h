// SPDX-License-Identifier: Apache-2.0
// What passes ask about the nodes before their root. Every question about an absent value has the answer no.
#pragma once

#include <optional>
#include <vector>

#include "graph/passes/rewrite.h"

namespace joulecast::passes {

// The values inside an idiom, each once: what must not be read outside if the idiom is to become one node.
class Group {
 public:
  void add(ValueId id);
  // Whether all readers of these values are the root and the nodes that produce them. A group that grew beyond what
  // any idiom needs is not.
  [[nodiscard]] bool closed(const Rewriter& graph, const Node& root) const;
  // Whether nobody reads these values any more once the root reads `instead` and no longer its inputs: a reader outside
  // is none if it falls away too.
  [[nodiscard]] bool dies(const Rewriter& graph, const Node& root, const std::vector<ValueId>& instead) const;

 private:
  InlineVector<ValueId, 24> values_;
};

// Input i of a node; kNoValue where it has fewer.
inline ValueId input(const Node& node, std::size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : kNoValue;
}
inline bool read_once(const Rewriter& graph, ValueId id) {
  return graph.uses(id) == 1;
}

// The node that produces `id`, if it is an Op.
template <typename Op>
const Node* made_by(const Rewriter& graph, ValueId id) {
  const Node* node = graph.producer(id);
  return node != nullptr && std::holds_alternative<Op>(node->op) ? node : nullptr;
}
template <typename Op>
const Op* as(const Node& node) {
  return std::get_if<Op>(&node.op);
}
bool is(const Node& node, BinaryKind kind);
bool is(const Node& node, UnaryKind kind);
bool is(const Node& node, ActivationKind kind);
// The same for the producer of a value.
template <typename Kind>
const Node* made_by(const Rewriter& graph, ValueId id, Kind kind) {
  const Node* node = graph.producer(id);
  return node != nullptr && is(*node, kind) ? node : nullptr;
}

// A constant of one element.
std::optional<double> scalar(const Rewriter& graph, ValueId id);
// Exporters round constants to the type of the network: half precision keeps three digits.
inline constexpr double kTolerance = 2e-3;
bool is_about(double value, double wanted);
bool is_scalar(const Rewriter& graph, ValueId id, double wanted);

// x * factor, however it is written: either order, or a division. x + offset likewise.
struct Scaled {
  ValueId x = kNoValue;
  double by = 0.0;
};
std::optional<Scaled> scaled(const Rewriter& graph, ValueId id);
std::optional<Scaled> offset(const Rewriter& graph, ValueId id);

// A product with its scalars taken out. Factors that are products themselves are opened up if nobody else reads them.
struct Product {
  double scalar = 1.0;
  InlineVector<ValueId, 4> factors;
  bool complete = true;  // false: more factors than fit
};
Product product(const Rewriter& graph, const Node& root, Group& inside);
// The product that `id` is, of one factor where it is none.
Product product(const Rewriter& graph, ValueId id, Group& inside);

// Whether {a, b} are the two inputs of a node in either order; the other one of two.
std::optional<ValueId> other_input(const Node& node, ValueId one);

// The axes that a node names in `attribute`, or else in its second input; nothing where there are none or unknown.
std::optional<IntList> axes_of(const Rewriter& graph, const Node& node, const IntList& attribute);
// Those of a reduction.
std::optional<IntList> reduced_axes(const Rewriter& graph, const Node& reduce);
// How many of the last axes these are: {-1} is 1, {-2, -1} is 2; positive ones need the rank. Nothing if they are not.
std::optional<std::int64_t> count_last_axes(const IntList& axes, std::optional<std::size_t> rank);

// A parameter of one entry a channel, behind the reshapes that let it broadcast: the parameter as a vector, and the
// number of spatial axes that were added after the channels.
struct ChannelVector {
  ValueId parameter = kNoValue;
  std::int64_t channels = 0;
  std::size_t spatial = 0;
};
std::optional<ChannelVector> channel_vector(const Rewriter& graph, ValueId id);
// As a value of rank 1, for a node to read.
ValueId as_vector(Rewriter& graph, const ChannelVector& vector);

// v where `id` is 1 / sqrt(v), in any of its spellings.
std::optional<ValueId> under_inverse_root(const Rewriter& graph, ValueId id, Group& inside);
// n / sqrt(v).
struct Normalised {
  ValueId n = kNoValue, v = kNoValue;
};
std::optional<Normalised> normalised(const Rewriter& graph, const Node& root, Group& inside);
// mean(y * y) + epsilon over `axes`.
struct MeanSquare {
  ValueId y = kNoValue;
  IntList axes;
};
std::optional<MeanSquare> mean_square(const Rewriter& graph, ValueId id, Group& inside);

}  // namespace joulecast::passes
