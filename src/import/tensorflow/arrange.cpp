// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

// The order that most work is done in: that of the first value whose axes are not in their own order.
Layout common_layout(std::span<const Tensor> tensors, std::span<const std::size_t> ranks, std::size_t rank) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].is_value() && ranks[i] == rank && !tensors[i].layout.plain()) return tensors[i].layout;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].is_value() || tensors[i].layout.plain()) continue;
    return tensors[i].layout.widened(rank - ranks[i], ranks[i]);
  }
  return {};
}

Shape widened(const Shape& shape, std::size_t rank) {
  Shape out;
  for (std::size_t i = shape.size(); i < rank; ++i) out.push_back(1);
  for (const std::int64_t extent : shape) out.push_back(extent);
  return out;
}

ValueId widened_value(NodeContext& node, Tensor tensor, std::size_t from, std::size_t rank, const Layout& layout) {
  if (tensor.is_source()) {
    tensor.view = widened(tensor.view, rank);
    return node.canvas().arranged(tensor, layout);
  }
  IntList axes;
  for (std::size_t i = from; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i - from));
  const ValueId wide = node.step(Unsqueeze{axes}, {tensor.id}, "wide");
  return node.canvas().arranged(Tensor::value(wide, tensor.layout.widened(rank - from, from)), layout);
}

}  // namespace

Arranged arrange(NodeContext& node, std::span<const Tensor> tensors) {
  Arranged out;
  std::vector<std::size_t> ranks;
  bool known = true;
  for (const Tensor& tensor : tensors) {
    const auto rank = node.canvas().rank(tensor);
    known = known && rank.has_value();
    ranks.push_back(rank.value_or(0));
  }
  const std::size_t rank = ranks.empty() ? 0 : *std::max_element(ranks.begin(), ranks.end());
  if (known) out.layout = common_layout(tensors, ranks, rank);
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const bool widen = !out.layout.plain() && ranks[i] > 0 && ranks[i] < rank;
    out.values.push_back(widen              ? widened_value(node, tensors[i], ranks[i], rank, out.layout)
                         : ranks[i] == rank ? node.canvas().arranged(tensors[i], out.layout)
                                            : node.canvas().plain(tensors[i]));
  }
  return out;
}

Arranged arrange_equal(NodeContext& node, std::span<const Tensor> tensors) {
  Arranged out;
  for (const Tensor& tensor : tensors) {
    if (out.layout.plain() && tensor.is_value()) out.layout = tensor.layout;
  }
  for (const Tensor& tensor : tensors) out.values.push_back(node.canvas().arranged(tensor, out.layout));
  return out;
}

std::optional<std::size_t> axis_of(std::int64_t axis, std::optional<std::size_t> rank) {
  if (!rank) return std::nullopt;
  const auto count = static_cast<std::int64_t>(*rank);
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

ValueId held_vector(NodeContext& node, const Tensor& vector, const Layout& layout, std::size_t rank) {
  const ValueId id = node.canvas().plain(vector);
  if (layout.plain()) return id;
  IntList order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(layout.of_tensor(i)));
  return node.step(Gather{}, {id, node.int_vector(std::move(order))}, "held");
}

}  // namespace joulecast::tensorflow
