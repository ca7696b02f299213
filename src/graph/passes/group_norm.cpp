// SPDX-License-Identifier: Apache-2.0
// torch.nn.GroupNorm: reshape to [N, groups, -1], InstanceNormalization with ones and zeros, reshape to the shape of x;
// scale and shift follow in norm_affine.cpp.
#include <algorithm>

#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

bool all_are(const Rewriter& graph, ValueId id, double wanted) {
  const Contents* contents = graph.known(id);
  if (contents == nullptr || contents->reals.empty() || contents->reals.size() > kMaxKnownElements) return false;
  return std::all_of(contents->reals.begin(), contents->reals.end(), [&](double v) { return v == wanted; });
}

// The groups of a Reshape to [0, groups, -1], or [N, groups, -1] with everything known.
std::optional<std::int64_t> grouped(const Rewriter& graph, const Node& reshape) {
  const Contents* shape = graph.known(input(reshape, 1));
  if (shape == nullptr || shape->ints.size() != 3 || shape->ints[1] < 1) return std::nullopt;
  return shape->ints[1];
}

// Whether `shape` is that of x: computed from x, or a constant of the same rank.
bool is_shape_of(const Rewriter& graph, ValueId shape, ValueId x) {
  if (const Node* node = made_by<ShapeOf>(graph, shape)) {
    return input(*node, 0) == x && *as<ShapeOf>(*node) == ShapeOf{};
  }
  const auto rank = graph.sketch(x).rank;
  const auto length = graph.sketch(shape).length;
  return graph.sketch(shape).host && rank && length == rank && *rank >= 4;
}

}  // namespace

bool fold_group_norm(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const Node* norm = as<Reshape>(node) == nullptr ? nullptr : made_by<InstanceNorm>(graph, input(node, 0));
  if (norm == nullptr || !read_once(graph, node.inputs[0])) return false;
  const Node* reshape = made_by<Reshape>(graph, input(*norm, 0));
  const auto groups = reshape == nullptr ? std::nullopt : grouped(graph, *reshape);
  if (!groups || !read_once(graph, norm->inputs[0])) return false;
  const bool plain = (input(*norm, 1) == kNoValue || all_are(graph, norm->inputs[1], 1.0)) &&
                     (input(*norm, 2) == kNoValue || all_are(graph, norm->inputs[2], 0.0));
  const ValueId x = input(*reshape, 0);
  if (!plain || !is_shape_of(graph, input(node, 1), x)) return false;
  graph.replace(root, GroupNorm{.groups = *groups}, {x});
  return true;
}

}  // namespace joulecast::passes
