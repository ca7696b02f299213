// SPDX-License-Identifier: Apache-2.0
// Normalisation as TensorFlow applies it: with inverse = rsqrt(variance + epsilon) * scale, x * inverse + (shift - mean
// * inverse). Over parameters that is batch normalisation, over moments of x itself layer normalisation.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// Behind what only puts axes of one entry around a tensor.
ValueId bare(const Rewriter& graph, ValueId id, Group& inside) {
  for (int steps = 0; steps < 4; ++steps) {
    const Node* node = graph.producer(id);
    if (node == nullptr || (as<Reshape>(*node) == nullptr && as<Unsqueeze>(*node) == nullptr)) return id;
    inside.add(id);
    id = input(*node, 0);
  }
  return id;
}

// scale / sqrt(variance + epsilon).
struct Inverse {
  ValueId variance = kNoValue, scale = kNoValue;
};

std::optional<ValueId> variance_of(const Rewriter& graph, ValueId id, Group& inside) {
  const auto sum = under_inverse_root(graph, id, inside);
  const auto variance = sum ? offset(graph, *sum) : std::nullopt;
  if (!variance) return std::nullopt;
  inside.add(*sum);
  return bare(graph, variance->x, inside);
}

std::optional<Inverse> inverse_of(const Rewriter& graph, ValueId id, Group& inside) {
  inside.add(id);
  if (const auto variance = variance_of(graph, id, inside)) return Inverse{*variance, kNoValue};
  const Node* product = made_by(graph, id, BinaryKind::kMul);
  if (product == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const auto variance = variance_of(graph, bare(graph, product->inputs[side], inside), inside);
    if (variance) return Inverse{*variance, bare(graph, product->inputs[1 - side], inside)};
  }
  return std::nullopt;
}

// mean * inverse, either sign.
struct Centre {
  ValueId mean = kNoValue;
  bool negative = false;
};

std::optional<Centre> centre_of(const Rewriter& graph, ValueId id, ValueId inverse, Group& inside) {
  if (const Node* negation = made_by(graph, id, UnaryKind::kNeg)) {
    inside.add(id);
    const auto centre = centre_of(graph, negation->inputs[0], inverse, inside);
    return centre ? std::optional(Centre{centre->mean, !centre->negative}) : std::nullopt;
  }
  const Node* product = made_by(graph, id, BinaryKind::kMul);
  if (product == nullptr) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    if (bare(graph, product->inputs[side], inside) != inverse) continue;
    inside.add(id);
    const ValueId mean = bare(graph, product->inputs[1 - side], inside);
    const Node* negation = made_by(graph, mean, UnaryKind::kNeg);
    if (negation == nullptr) return Centre{mean, false};
    inside.add(mean);
    return Centre{bare(graph, negation->inputs[0], inside), true};
  }
  return std::nullopt;
}

// [shift] - mean * inverse.
struct Offset {
  ValueId mean = kNoValue, shift = kNoValue;
};

std::optional<Offset> offset_of(const Rewriter& graph, ValueId id, ValueId inverse, Group& inside) {
  inside.add(id);
  const auto alone = centre_of(graph, id, inverse, inside);
  if (alone) return alone->negative ? std::optional(Offset{alone->mean, kNoValue}) : std::nullopt;
  const Node* node = graph.producer(id);
  if (node == nullptr || (!is(*node, BinaryKind::kSub) && !is(*node, BinaryKind::kAdd))) return std::nullopt;
  const bool sum = is(*node, BinaryKind::kAdd);
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    if (!sum && side == 0) continue;
    const auto centre = centre_of(graph, bare(graph, node->inputs[side], inside), inverse, inside);
    if (!centre || centre->negative != sum) continue;
    return Offset{centre->mean, bare(graph, node->inputs[1 - side], inside)};
  }
  return std::nullopt;
}

// The parts of x * inverse + offset; `read` is the inverse as x meets it.
struct Applied {
  ValueId x = kNoValue, read = kNoValue;
  Inverse inverse;
  Offset offset;
};

std::optional<Applied> applied(const Rewriter& graph, const Node& root, Group& inside) {
  if (!is(root, BinaryKind::kAdd)) return std::nullopt;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* product = made_by(graph, root.inputs[side], BinaryKind::kMul);
    if (product == nullptr) continue;
    for (const std::size_t factor : {std::size_t{0}, std::size_t{1}}) {
      Group group;
      group.add(root.inputs[side]);
      const ValueId made = bare(graph, product->inputs[factor], group);
      const auto inverse = inverse_of(graph, made, group);
      if (!inverse) continue;
      const auto shift = offset_of(graph, bare(graph, root.inputs[1 - side], group), made, group);
      if (!shift) continue;
      inside = group;
      return Applied{product->inputs[1 - factor], product->inputs[factor], *inverse, *shift};
    }
  }
  return std::nullopt;
}

// The entries of a parameter that has them along one axis.
std::optional<std::int64_t> entries(const Rewriter& graph, ValueId id) {
  if (!graph.is_parameter(id)) return std::nullopt;
  std::int64_t out = 1;
  for (const std::int64_t extent : graph.source_type(id).shape) {
    if (extent == 1) continue;
    if (out != 1) return std::nullopt;
    out = extent;
  }
  return out;
}

ValueId as_vector(Rewriter& graph, ValueId id) {
  if (id == kNoValue) return id;
  const TensorType type = graph.source_type(id);
  return graph.retyped(id, TensorType{type.element, Shape{type.elements()}});
}

// Whether the channels that the inverse is for are axis 1 of x.
bool is_per_channel(const Rewriter& graph, const Applied& parts, std::int64_t channels) {
  const auto rank = graph.sketch(parts.x).rank;
  if (!rank || *rank < 2) return false;
  const Node* node = graph.producer(parts.read);
  const Contents* shape = node != nullptr && as<Reshape>(*node) != nullptr ? graph.known(input(*node, 1)) : nullptr;
  if (shape == nullptr) return *rank == 2;
  const IntList& extents = shape->ints;
  if (extents.size() > *rank || extents.size() + 1 < *rank) return false;
  const std::size_t axis = extents.size() + 1 - *rank;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] != (i == axis ? channels : 1)) return false;
  }
  return true;
}

bool fold_batch(Rewriter& graph, std::size_t root, const Applied& parts) {
  const auto channels = entries(graph, parts.inverse.variance);
  if (!channels || !is_per_channel(graph, parts, *channels)) return false;
  const ValueId scale = parts.inverse.scale;
  const ValueId shift = parts.offset.shift;
  for (const ValueId id : {parts.offset.mean, scale, shift}) {
    if ((id != kNoValue || id == parts.offset.mean) && entries(graph, id) != channels) return false;
  }
  graph.replace(root, BatchNorm{},
                {parts.x, as_vector(graph, scale), as_vector(graph, shift), as_vector(graph, parts.offset.mean),
                 as_vector(graph, parts.inverse.variance)});
  return true;
}

// mean over one axis of x: the last, or that of the channels of an image.
bool is_mean(const Rewriter& graph, ValueId id, ValueId x, bool channels_first) {
  const Node* reduce = made_by<Reduce>(graph, id);
  if (reduce == nullptr || as<Reduce>(*reduce)->kind != ReduceKind::kMean || input(*reduce, 0) != x) return false;
  const auto axes = reduced_axes(graph, *reduce);
  if (channels_first) return axes == IntList{1};
  return axes && count_last_axes(*axes, graph.sketch(x).rank) == std::int64_t{1};
}

// The mean of its squared distance from that mean.
bool is_variance(const Rewriter& graph, const Applied& parts, bool channels_first, Group& inside) {
  const ValueId id = parts.inverse.variance;
  const ValueId mean = parts.offset.mean;
  const Node* reduce = made_by<Reduce>(graph, id);
  if (reduce == nullptr || !is_mean(graph, id, input(*reduce, 0), channels_first)) return false;
  const Node* square = made_by(graph, reduce->inputs[0], UnaryKind::kSquare);
  const Node* difference = square == nullptr ? nullptr : made_by(graph, square->inputs[0], BinaryKind::kSub);
  if (difference == nullptr || difference->inputs[0] != parts.x || difference->inputs[1] != mean) return false;
  for (const ValueId value : {id, mean, reduce->inputs[0], square->inputs[0]}) inside.add(value);
  return true;
}

bool is_layer(const Rewriter& graph, const Applied& parts, bool channels_first, Group& inside) {
  return is_mean(graph, parts.offset.mean, parts.x, channels_first) &&
         is_variance(graph, parts, channels_first, inside);
}

bool fold_layer(Rewriter& graph, std::size_t root, const Applied& parts, Group& inside) {
  const bool channels_first = graph.sketch(parts.x).rank == std::size_t{4} && is_layer(graph, parts, true, inside);
  if (!channels_first && !is_layer(graph, parts, false, inside)) return false;
  const ValueId scale = parts.inverse.scale;
  const ValueId shift = parts.offset.shift;
  for (const ValueId id : {scale, shift}) {
    if (id != kNoValue && !entries(graph, id)) return false;
  }
  if (!inside.closed(graph, graph.node(root))) return false;
  graph.replace(root, LayerNorm{.axes = 1, .channels_first = channels_first},
                {parts.x, as_vector(graph, scale), as_vector(graph, shift)});
  return true;
}

}  // namespace

bool fold_applied_norm(Rewriter& graph, std::size_t root) {
  Group inside;
  const auto parts = applied(graph, graph.node(root), inside);
  if (!parts) return false;
  if (graph.is_parameter(parts->inverse.variance)) {
    return inside.closed(graph, graph.node(root)) && fold_batch(graph, root, *parts);
  }
  return fold_layer(graph, root, *parts, inside);
}

}  // namespace joulecast::passes
