// SPDX-License-Identifier: Apache-2.0
// Operators that move, join and part tensors. Axes are counted in the tensor; the value may have them in another order.
#include <fmt/format.h>

#include <algorithm>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {

Result<void> lower_expand_dims(NodeContext& node) {
  const auto rank = node.rank(0);
  const auto wanted = node.integer(1);
  if (!wanted) return node.opaque();
  const auto axis = axis_of(*wanted, rank ? std::optional(*rank + 1) : std::nullopt);
  Tensor x = node.input(0);
  if (x.is_source() && axis && *rank < kMaxRank) {
    Shape view;
    for (std::size_t i = 0; i <= *rank; ++i) {
      view.push_back(i < *axis ? x.view[i] : i == *axis ? 1 : x.view[i - 1]);
    }
    x.view = view;
    return node.output(0, x);
  }
  if (!axis || *rank >= kMaxRank) return node.emit(Unsqueeze{{*wanted}}, {node.value(0)});
  const Layout layout = x.layout.with(*axis, *rank);
  const auto place = static_cast<std::int64_t>(layout.in_value(*axis));
  return node.emit(Unsqueeze{{place}}, {node.value(0, x.layout)}, layout);
}

namespace {

// The axes that go, in the tensor; nothing where they cannot be told.
Result<std::optional<std::vector<std::size_t>>> squeezed_axes(const NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const IntList listed, node.list(node.find("squeeze_dims") != nullptr ? "squeeze_dims" : "axis"));
  const auto shape = node.extents(0);
  std::vector<std::size_t> out;
  if (!shape) return std::optional<std::vector<std::size_t>>();
  for (const std::int64_t one : listed) {
    const auto axis = axis_of(one, shape->size());
    if (!axis) return node.wrong_attribute("squeeze_dims", fmt::format("has the entry {}", one));
    out.push_back(*axis);
  }
  for (std::size_t i = 0; i < shape->size() && listed.empty(); ++i) {
    if ((*shape)[i] == 1) out.push_back(i);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return std::optional(out);
}

}  // namespace

Result<void> lower_squeeze(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const auto axes, squeezed_axes(node));
  if (!axes) {
    JC_ASSIGN_OR_RETURN(IntList listed, node.list("squeeze_dims"));
    return node.emit(Squeeze{std::move(listed)}, {node.value(0)});
  }
  Tensor x = node.input(0);
  if (axes->empty()) return node.output(0, x);
  Layout layout = x.layout;
  IntList held;
  for (const std::size_t axis : *axes) held.push_back(static_cast<std::int64_t>(layout.in_value(axis)));
  Shape view;
  for (std::size_t i = 0; i < x.view.size(); ++i) {
    if (std::find(axes->begin(), axes->end(), i) == axes->end()) view.push_back(x.view[i]);
  }
  x.view = view;
  if (x.is_source()) return node.output(0, x);
  for (std::size_t i = axes->size(); i-- > 0;) layout = layout.without((*axes)[i]);
  std::sort(held.begin(), held.end());
  return node.emit(Squeeze{std::move(held)}, {x.id}, layout);
}

namespace {

std::optional<Layout> permutation(const NodeContext& node) {
  const auto order = node.integers(1);
  const auto rank = node.rank(0);
  if (!order || !rank || order->size() != *rank || *rank > kMaxRank) return std::nullopt;
  InlineVector<std::uint8_t, kMaxRank> axes;
  std::vector<bool> seen(*rank, false);
  for (const std::int64_t one : *order) {
    const auto axis = axis_of(one, rank);
    if (!axis || seen[*axis]) return std::nullopt;
    seen[*axis] = true;
    axes.push_back(static_cast<std::uint8_t>(*axis));
  }
  return Layout(axes);
}

}  // namespace

// Of a value whose axes are not in the tensor's order, only the meaning of its axes changes.
Result<void> lower_transpose(NodeContext& node) {
  const auto order = permutation(node);
  if (!order) return node.opaque();
  const Tensor& x = node.input(0);
  const std::size_t rank = *node.rank(0);
  if (order->plain()) return node.output(0, x);
  if (x.layout.plain() && !x.is_source()) return node.emit(Transpose{Layout{}.order_to(*order, rank)}, {x.id});
  if (x.is_source()) return node.emit(Transpose{Layout{}.order_to(*order, rank)}, {node.value(0)});
  InlineVector<std::uint8_t, kMaxRank> axes;
  for (std::size_t i = 0; i < rank; ++i) {
    axes.push_back(static_cast<std::uint8_t>(order->in_value(x.layout.of_tensor(i))));
  }
  return node.output(0, Tensor::value(x.id, Layout(axes)));
}

Result<void> lower_broadcast_to(NodeContext& node) {
  return node.emit(Expand{}, {node.value(0), node.value(1)});
}

Result<void> lower_tile(NodeContext& node) {
  const auto rank = node.rank(0);
  const Layout layout = rank ? node.input(0).layout : Layout{};
  return node.emit(Tile{}, {node.value(0, layout), held_vector(node, node.input(1), layout, rank.value_or(0))}, layout);
}

// ConcatV2 has the axis last, Concat first.
Result<void> lower_concat(NodeContext& node) {
  const bool first = node.node().op == "Concat";
  std::vector<Tensor> parts = node.inputs();
  const std::size_t axis_input = first ? 0 : parts.size() - 1;
  const auto axis = node.integer(axis_input);
  parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(axis_input));
  if (!axis || parts.empty()) return node.opaque();
  const Arranged all = arrange_equal(node, parts);
  const auto place = axis_of(*axis, node.rank(first ? 1 : 0));
  if (!place && !all.layout.plain()) return invalid(fmt::format("axis {} is outside the tensor", *axis));
  return node.emit(Concat{place ? static_cast<std::int64_t>(all.layout.in_value(*place)) : *axis}, all.values,
                   all.layout);
}

Result<void> lower_pack(NodeContext& node) {
  constexpr std::size_t kMaxInputs = 10'000;
  if (node.input_count() > kMaxInputs) return unsupported(fmt::format("has more than {} inputs", kMaxInputs));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.attribute("axis", std::int64_t{0}));
  std::vector<ValueId> rows;
  for (std::size_t i = 0; i < node.input_count(); ++i) {
    rows.push_back(node.step(Unsqueeze{{axis}}, {node.value(i)}, "row"));
  }
  if (rows.size() == 1) return node.output(0, Tensor::value(rows[0]));
  return node.emit(Concat{axis}, std::move(rows));
}

namespace {

Result<std::int64_t> read_count(const NodeContext& node, std::string_view name) {
  constexpr std::int64_t kMost = 10'000;
  JC_ASSIGN_OR_RETURN(const std::int64_t count, node.attribute(name, std::int64_t{0}));
  if (count < 1 || count > kMost) return node.wrong_attribute(name, fmt::format("is {}", count));
  return count;
}

}  // namespace

// Of a constant, as the gates' biases of a GRU, the parts are constants.
Result<void> lower_unpack(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t count, read_count(node, "num"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.attribute("axis", std::int64_t{0}));
  JC_RETURN_IF_ERROR(node.importer().count_work(static_cast<std::size_t>(count)));
  const auto parts = node.steps(Split{axis, IntList(static_cast<std::size_t>(count), 1)}, {node.value(0)},
                                static_cast<std::size_t>(count), "parts");
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto row = node.canvas().add_node(Squeeze{{axis}}, {parts[i]}, {node.output_name(i)}, node.output_name(i));
    JC_RETURN_IF_ERROR(node.output(i, Tensor::value(row[0])));
  }
  return {};
}

namespace {

Result<void> emit_split(NodeContext& node, std::size_t input, std::int64_t axis, IntList sizes, std::size_t count) {
  const auto place = axis_of(axis, node.rank(input));
  const Layout layout = place ? node.input(input).layout : Layout{};
  const std::int64_t held = place ? static_cast<std::int64_t>(layout.in_value(*place)) : axis;
  JC_RETURN_IF_ERROR(node.importer().count_work(count));
  return node.emit(Split{held, std::move(sizes)}, {node.value(input, layout)}, layout, count);
}

}  // namespace

// axis, x.
Result<void> lower_split(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t count, read_count(node, "num_split"));
  const auto axis = node.integer(0);
  if (!axis) return node.opaque();
  if (count == 1) return node.output(0, node.input(1));
  return emit_split(node, 1, *axis, {}, static_cast<std::size_t>(count));
}

// x, sizes, axis. One size may be -1: what the others leave.
Result<void> lower_split_v(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t count, read_count(node, "num_split"));
  auto sizes = node.integers(1);
  const auto axis = node.integer(2);
  if (!axis || !sizes || sizes->size() != static_cast<std::size_t>(count)) return node.opaque();
  const auto open = std::find(sizes->begin(), sizes->end(), -1);
  const auto shape = node.extents(0);
  const auto place = axis_of(*axis, node.rank(0));
  if (open != sizes->end()) {
    if (!shape || !place || (*shape)[*place] < 0) return node.opaque();
    std::int64_t rest = (*shape)[*place];
    for (const std::int64_t size : *sizes) rest -= size == -1 ? 0 : size;
    *open = rest;
  }
  return emit_split(node, 0, *axis, std::move(*sizes), static_cast<std::size_t>(count));
}

// Pad, PadV2 (with a number to fill in), MirrorPad: paddings [rank, 2].
Result<void> lower_pad(NodeContext& node) {
  const auto pads = node.integers(1);
  const auto rank = node.rank(0);
  if (!pads || !rank || pads->size() != 2 * *rank) return node.opaque();
  const Layout layout = node.input(0).layout;
  IntList held;
  for (const std::size_t side : {std::size_t{0}, std::size_t{1}}) {
    for (std::size_t i = 0; i < *rank; ++i) held.push_back((*pads)[2 * layout.of_tensor(i) + side]);
  }
  const bool nothing = std::all_of(held.begin(), held.end(), [](std::int64_t pad) { return pad == 0; });
  if (nothing) return node.output(0, node.input(0));
  return node.emit(Pad{}, {node.value(0, layout), node.int_vector(std::move(held))}, layout);
}

// x, axes: a slice from the last element to the first.
Result<void> lower_reverse(NodeContext& node) {
  const auto axes = node.integers(1);
  const auto rank = node.rank(0);
  if (!axes || !rank) return node.opaque();
  const Layout layout = node.input(0).layout;
  IntList held;
  for (const std::int64_t one : *axes) {
    const auto axis = axis_of(one, rank);
    if (!axis) return invalid(fmt::format("axis {} is outside the tensor", one));
    held.push_back(static_cast<std::int64_t>(layout.in_value(*axis)));
  }
  const ValueId starts = node.int_vector(IntList(held.size(), -1));
  const ValueId ends = node.int_vector(IntList(held.size(), std::numeric_limits<std::int32_t>::min()));
  const ValueId steps = node.int_vector(IntList(held.size(), -1));
  return node.emit(Slice{}, {node.value(0, layout), starts, ends, node.int_vector(std::move(held)), steps}, layout);
}

}  // namespace joulecast::tensorflow
