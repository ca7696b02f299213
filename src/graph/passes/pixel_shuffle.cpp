// SPDX-License-Identifier: Apache-2.0
// pixel_shuffle: [N, C, r, r, H, W] transposed to [N, C, H, r, W, r]; pixel_unshuffle the other way.
#include <initializer_list>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// Entry i of a shape: of a constant, or of one piece of a Concat.
std::optional<std::int64_t> shape_entry(const Rewriter& graph, ValueId shape, std::size_t i) {
  if (const Contents* known = graph.known(shape)) {
    return i < known->ints.size() ? std::optional(known->ints[i]) : std::nullopt;
  }
  const Node* concat = made_by<Concat>(graph, shape);
  if (concat == nullptr || concat->inputs.size() > kMaxRank) return std::nullopt;
  for (const ValueId piece : concat->inputs) {
    const auto length = graph.sketch(piece).length;
    if (!length) return std::nullopt;
    if (i >= *length) {
      i -= *length;
      continue;
    }
    if (const Contents* known = graph.known(piece)) {
      return i < known->ints.size() ? std::optional(known->ints[i]) : std::nullopt;
    }
    const auto value = *length == 1 ? scalar(graph, piece) : std::nullopt;
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  return std::nullopt;
}

// Whether entry i of `merged` is the product of those of `split`, as far as both are numbers (-1 is none).
bool merges(const Rewriter& graph, ValueId merged, std::size_t i, ValueId split,
            std::initializer_list<std::size_t> of) {
  std::int64_t product = 1;
  for (const std::size_t k : of) {
    const auto entry = shape_entry(graph, split, k);
    if (!entry || *entry < 1) return true;
    product *= *entry;
  }
  const auto entry = shape_entry(graph, merged, i);
  return !entry || *entry < 1 || *entry == product;
}

// Halo attention takes images apart in the same order and puts the pieces together in another way.
bool merges_as_shuffle(const Rewriter& graph, ValueId merged, ValueId split, bool forward) {
  if (forward) {
    return merges(graph, merged, 1, split, {1}) && merges(graph, merged, 2, split, {4, 2}) &&
           merges(graph, merged, 3, split, {5, 3});
  }
  return merges(graph, merged, 1, split, {1, 3, 5}) && merges(graph, merged, 2, split, {2}) &&
         merges(graph, merged, 3, split, {4});
}

}  // namespace

bool fold_pixel_shuffle(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (as<Reshape>(node) == nullptr || graph.sketch(input(node, 1)).length != std::size_t{4}) return false;
  const Node* transpose = made_by<Transpose>(graph, input(node, 0));
  if (transpose == nullptr || !read_once(graph, node.inputs[0])) return false;
  const bool forward = as<Transpose>(*transpose)->order == IntList{0, 1, 4, 2, 5, 3};
  const bool inverse = as<Transpose>(*transpose)->order == IntList{0, 1, 3, 5, 2, 4};
  const Node* split = made_by<Reshape>(graph, input(*transpose, 0));
  if ((!forward && !inverse) || split == nullptr || !read_once(graph, transpose->inputs[0])) return false;
  const auto first = shape_entry(graph, input(*split, 1), forward ? 2 : 3);
  const auto second = shape_entry(graph, input(*split, 1), forward ? 3 : 5);
  if (!first || first != second || *first < 1 || graph.sketch(input(*split, 0)).rank != std::size_t{4}) return false;
  if (!merges_as_shuffle(graph, input(node, 1), input(*split, 1), forward)) return false;
  graph.replace(root, PixelShuffle{.factor = *first, .inverse = inverse}, {split->inputs[0]});
  return true;
}

}  // namespace joulecast::passes
