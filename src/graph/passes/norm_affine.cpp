// SPDX-License-Identifier: Apache-2.0
// Scale and shift of a normalisation that was written out: norm(x) * weight, then + bias. And the cast between, where
// half-precision networks normalise in single precision (Llama: weight * norm(x.to(float32)).to(type of x)).
#include <utility>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// Where the inputs of a normalisation end: [x, scale, shift], rms_norm has no shift.
constexpr std::size_t kScale = 1;
constexpr std::size_t kShift = 2;

bool takes(const Node& node, std::size_t slot) {
  if (input(node, slot) != kNoValue) return false;
  // A shift that is already there belongs to what came before the product.
  if (slot == kScale && input(node, kShift) != kNoValue) return false;
  if (as<RmsNorm>(node) != nullptr) return slot == kScale;
  if (const auto* layer = as<LayerNorm>(node)) return !layer->channels_first;
  return as<GroupNorm>(node) != nullptr || as<InstanceNorm>(node) != nullptr || as<BatchNorm>(node) != nullptr;
}

std::int64_t last_axes(const Node& node) {
  if (const auto* layer = as<LayerNorm>(node)) return layer->axes;
  if (const auto* rms = as<RmsNorm>(node)) return rms->axes;
  return 0;
}

// The parameter as the normalisation wants it: of its last axes, or one entry a channel.
ValueId fitting(Rewriter& graph, const Node& norm, ValueId id) {
  const std::int64_t axes = last_axes(norm);
  if (axes > 1) {
    const bool fits = graph.is_parameter(id) && std::cmp_equal(graph.source_type(id).shape.size(), axes);
    return fits ? id : kNoValue;
  }
  // Gemma multiplies by 1 + weight.
  const auto sum = axes == 1 ? offset(graph, id) : std::nullopt;
  if (sum && graph.is_parameter(sum->x) && graph.source_type(sum->x).shape.size() == 1) return id;
  const auto vector = channel_vector(graph, id);
  if (!vector) return kNoValue;
  if (axes == 1) return vector->spatial == 0 ? as_vector(graph, *vector) : kNoValue;
  // Where the rank is not known, a parameter that broadcasts over two spatial axes says that there are two.
  const std::size_t rank = graph.sketch(input(norm, 0)).rank.value_or(4);
  return rank == vector->spatial + 2 ? as_vector(graph, *vector) : kNoValue;
}

bool fold_affine(Rewriter& graph, std::size_t root, BinaryKind kind, std::size_t slot) {
  const Node& node = graph.node(root);
  if (!is(node, kind)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* norm = graph.producer(node.inputs[1 - side]);
    if (norm == nullptr || !takes(*norm, slot) || !read_once(graph, node.inputs[1 - side])) continue;
    const ValueId parameter = fitting(graph, *norm, node.inputs[side]);
    if (parameter == kNoValue) continue;
    std::vector<ValueId> inputs = norm->inputs;
    if (inputs.size() <= slot) inputs.resize(slot + 1, kNoValue);
    inputs[slot] = parameter;
    graph.replace(root, Operator{norm->op}, std::move(inputs));
    return true;
  }
  return false;
}

}  // namespace

bool fold_norm_scale(Rewriter& graph, std::size_t root) {
  return fold_affine(graph, root, BinaryKind::kMul, kScale);
}

bool fold_norm_shift(Rewriter& graph, std::size_t root) {
  return fold_affine(graph, root, BinaryKind::kAdd, kShift);
}

bool fold_norm_cast(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* back = as<Cast>(node);
  const Node* norm = back == nullptr ? nullptr : graph.producer(input(node, 0));
  if (norm == nullptr || !read_once(graph, node.inputs[0])) return false;
  if ((as<RmsNorm>(*norm) == nullptr && as<LayerNorm>(*norm) == nullptr) || norm->inputs.empty()) return false;
  const Node* up = made_by<Cast>(graph, norm->inputs[0]);
  if (up == nullptr || graph.sketch(input(*up, 0)).element != back->to) return false;
  std::vector<ValueId> inputs = norm->inputs;
  inputs[0] = up->inputs[0];
  graph.replace(root, Operator{norm->op}, std::move(inputs));
  return true;
}

}  // namespace joulecast::passes
