// SPDX-License-Identifier: Apache-2.0
// A convolution whose bias is added afterwards, as exporters from layouts with channels last write it.
#include <utility>

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

// The convolution that made a value; `squeeze`: through the one that took an axis of images away again, as
// convolutions over time have one for a while.
struct Found {
  const Node* conv = nullptr;
  const Node* squeeze = nullptr;
};

Found conv_behind(const Rewriter& graph, ValueId id) {
  const Node* squeeze = made_by<Squeeze>(graph, id);
  if (squeeze == nullptr) return {made_by<Conv>(graph, id), nullptr};
  const Node* conv = made_by<Conv>(graph, squeeze->inputs[0]);
  const IntList& axes = as<Squeeze>(*squeeze)->axes;
  if (conv == nullptr || axes.size() != 1 || !read_once(graph, squeeze->inputs[0])) return {};
  const auto rank = static_cast<std::int64_t>(graph.source_type(input(*conv, 1)).shape.size());
  const std::int64_t axis = axes[0] < 0 ? axes[0] + rank : axes[0];
  return axis >= 2 && axis < rank ? Found{conv, squeeze} : Found{};
}

}  // namespace

bool fold_conv_bias(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (!is(node, BinaryKind::kAdd)) return false;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    const auto [conv, squeeze] = conv_behind(graph, node.inputs[1 - side]);
    if (conv == nullptr || input(*conv, 2) != kNoValue || !read_once(graph, node.inputs[1 - side])) continue;
    const Conv op = *as<Conv>(*conv);
    const Shape weight = graph.source_type(input(*conv, 1)).shape;
    const auto bias = channel_vector(graph, node.inputs[side]);
    const std::size_t spatial = weight.size() - (squeeze != nullptr ? 1 : 0);
    if (!bias || weight.size() < 3 || bias->spatial != spatial - 2) continue;
    if (output_channels(op, weight) != bias->channels) continue;
    std::vector<ValueId> inputs{conv->inputs[0], conv->inputs[1], as_vector(graph, *bias)};
    if (squeeze == nullptr) {
      graph.replace(root, op, std::move(inputs));
      return true;
    }
    const Squeeze last = *as<Squeeze>(*squeeze);
    const ValueId made = squeeze->inputs[0];
    graph.replace(graph.place(made), op, std::move(inputs));
    graph.replace(root, last, {made});
    return true;
  }
  return false;
}

}  // namespace joulecast::passes
