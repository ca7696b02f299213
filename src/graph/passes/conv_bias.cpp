// SPDX-License-Identifier: Apache-2.0
// A convolution whose bias is added afterwards, as exporters from layouts with channels last write it.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// Nothing where groups is absurd.
std::optional<std::int64_t> output_channels(const Conv& op, const Shape& weight) {
  if (!op.transposed) return weight[0];
  std::int64_t channels = 0;
  return __builtin_mul_overflow(weight[1], op.groups, &channels) ? std::nullopt : std::optional(channels);
}

}  // namespace

bool fold_conv_bias(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kAdd)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const Node* conv = made_by<Conv>(graph, node.inputs[1 - side]);
    if (conv == nullptr || input(*conv, 2) != kNoValue || !read_once(graph, node.inputs[1 - side])) continue;
    const Conv op = *as<Conv>(*conv);
    const Shape weight = graph.source_type(input(*conv, 1)).shape;
    const auto bias = channel_vector(graph, node.inputs[side]);
    if (!bias || weight.size() < 3 || bias->spatial != weight.size() - 2) continue;
    if (output_channels(op, weight) != bias->channels) continue;
    graph.replace(root, op, {conv->inputs[0], conv->inputs[1], as_vector(graph, *bias)});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
