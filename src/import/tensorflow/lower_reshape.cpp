// SPDX-License-Identifier: Apache-2.0
// Reshape, also of values whose axes are in another order than the tensor's.
#include <algorithm>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

using Axes = InlineVector<std::uint8_t, kMaxRank>;

// Axes of the old shape and of the new one that hold the same elements.
struct Group {
  Axes from, to;
};

bool same(const SampleTypes& a, const SampleTypes& b, std::size_t i, std::size_t j) {
  return a[0].shape[i] == b[0].shape[j] && a[1].shape[i] == b[1].shape[j];
}

std::int64_t product(const SampleTypes& types, std::size_t sample, const Axes& axes) {
  std::int64_t out = 1;
  for (const std::uint8_t axis : axes) out *= types[sample].shape[axis];
  return out;
}

bool balanced(const SampleTypes& from, const SampleTypes& to, const Group& group) {
  return product(from, 0, group.from) == product(to, 0, group.to) &&
         product(from, 1, group.from) == product(to, 1, group.to);
}

// The shortest groups from the front, if both choices of sizes agree on them. Axes of one entry at the end join the
// last group.
std::optional<std::vector<Group>> match(const SampleTypes& from, const SampleTypes& to) {
  const std::size_t from_rank = from[0].shape.size();
  const std::size_t to_rank = to[0].shape.size();
  std::vector<Group> out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from_rank && j < to_rank) {
    Group group;
    group.from.push_back(static_cast<std::uint8_t>(i++));
    group.to.push_back(static_cast<std::uint8_t>(j++));
    while (!balanced(from, to, group)) {
      const bool more = product(from, 0, group.from) < product(to, 0, group.to) ||
                        product(from, 1, group.from) < product(to, 1, group.to);
      if (more ? i == from_rank : j == to_rank) return std::nullopt;
      if (more) group.from.push_back(static_cast<std::uint8_t>(i++));
      if (!more) group.to.push_back(static_cast<std::uint8_t>(j++));
    }
    out.push_back(group);
  }
  if (out.empty()) return std::nullopt;
  for (; i < from_rank; ++i) out.back().from.push_back(static_cast<std::uint8_t>(i));
  for (; j < to_rank; ++j) out.back().to.push_back(static_cast<std::uint8_t>(j));
  return balanced(from, to, out.back()) ? std::optional(out) : std::nullopt;
}

// The group's axes of more than one entry lie side by side and in order in the value; where the first of them lies.
std::optional<std::size_t> place_in_value(const Group& group, const SampleTypes& from, const Layout& layout) {
  std::optional<std::size_t> first;
  std::size_t next = 0;
  for (const std::uint8_t axis : group.from) {
    if (from[0].shape[axis] == 1 && from[1].shape[axis] == 1) continue;
    std::size_t place = layout.in_value(axis);
    for (std::size_t i = next; first && i < place; ++i) {
      const std::size_t between = layout.of_tensor(i);
      if (from[0].shape[between] != 1 || from[1].shape[between] != 1) return std::nullopt;
    }
    if (first && place < next) return std::nullopt;
    if (!first) first = place;
    next = place + 1;
  }
  return first.value_or(layout.in_value(group.from[0]));
}

// The order of axes after the reshape, where none has to be moved for it.
std::optional<Layout> layout_after(const SampleTypes& from, const SampleTypes& to, const Layout& layout) {
  const auto groups = match(from, to);
  if (!groups) return std::nullopt;
  std::vector<std::pair<std::size_t, const Group*>> placed;
  for (const Group& group : *groups) {
    const auto place = place_in_value(group, from, layout);
    if (!place) return std::nullopt;
    placed.emplace_back(*place, &group);
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  Axes axes;
  for (const auto& [place, group] : placed) {
    for (const std::uint8_t axis : group->to) axes.push_back(axis);
  }
  return Layout(axes);
}

// What the shape tensor asks for, for both choices of sizes.
std::optional<SampleTypes> target_types(const NodeContext& node, const SampleTypes& from) {
  SampleTypes out{TensorType{from[0].element, {}}, TensorType{from[1].element, {}}};
  const auto numbers = node.canvas().samples(node.input(1));
  if (!numbers) return std::nullopt;
  for (std::size_t s = 0; s < kSamples; ++s) {
    std::int64_t known = 1;
    std::optional<std::size_t> open;
    for (const std::int64_t extent : (*numbers)[s]) {
      if (out[s].shape.full() || extent < -1 || (extent == -1 && open)) return std::nullopt;
      if (extent == -1) open = out[s].shape.size();
      if (extent > 0 && known > kMaxElements / extent) return std::nullopt;
      if (extent >= 0) known *= extent;
      out[s].shape.push_back(extent);
    }
    if (open && known > 0) out[s].shape[*open] = from[s].elements() / known;
    if (checked_elements(out[s].shape) != from[s].elements()) return std::nullopt;
  }
  return out;
}

// The extents of a constant shape where they are told, -1 for one that is not.
ValueId shape_input(NodeContext& node, const SampleTypes& to, const Layout& layout) {
  IntList known;
  for (std::size_t i = 0; i < to[0].shape.size(); ++i) {
    const std::size_t axis = layout.of_tensor(i);
    known.push_back(to[0].shape[axis] == to[1].shape[axis] ? to[0].shape[axis] : -1);
  }
  if (std::count(known.begin(), known.end(), -1) <= 1) return node.int_vector(std::move(known));
  return held_vector(node, node.input(1), layout, known.size());
}

Result<void> reshape_source(NodeContext& node, const SampleTypes& to) {
  Tensor tensor = node.input(0);
  tensor.view = to[0].shape;
  return node.output(0, tensor);
}

// All but the batch becomes one axis, as before a fully connected layer: in which order, only its weights know.
bool is_flatten(const SampleTypes& from, const SampleTypes& to) {
  return to[0].shape.size() == 2 && from[0].shape.size() > 2 && same(from, to, 0, 0);
}

// [rows, in] x [in, out] of a tensor that was made a matrix for it and is now parted again: a layer works on all axes.
std::optional<std::vector<ValueId>> linear_on_axes(NodeContext& node, const SampleTypes& to) {
  const Node* linear = node.canvas().producer(node.input(0).id);
  if (linear == nullptr || !std::holds_alternative<Linear>(linear->op)) return std::nullopt;
  const Node* flat = node.canvas().producer(linear->inputs[0]);
  if (flat == nullptr || !std::holds_alternative<Reshape>(flat->op)) return std::nullopt;
  const auto x = node.canvas().types(Tensor::value(flat->inputs[0]));
  if (!x || (*x)[0].shape.size() != to[0].shape.size() || to[0].shape.size() < 3) return std::nullopt;
  for (std::size_t i = 0; i + 1 < to[0].shape.size(); ++i) {
    if (!same(*x, to, i, i)) return std::nullopt;
  }
  const auto rows = node.canvas().types(Tensor::value(linear->inputs[0]));
  if (!rows || (*rows)[0].shape.size() != 2 || !same(*rows, *x, 1, to[0].shape.size() - 1)) return std::nullopt;
  std::vector<ValueId> inputs = linear->inputs;
  inputs[0] = flat->inputs[0];
  return inputs;
}

}  // namespace

Result<void> lower_reshape(NodeContext& node) {
  const Tensor& x = node.input(0);
  const auto from = node.canvas().types(x);
  const auto to = from ? target_types(node, *from) : std::nullopt;
  if (!to) return node.emit(Reshape{.allow_zero = true}, {node.value(0), node.value(1)});
  if (x.is_source()) return reshape_source(node, *to);
  if (from->front().shape == to->front().shape && from->back().shape == to->back().shape) return node.output(0, x);
  if (x.layout.plain()) {
    if (auto inputs = linear_on_axes(node, *to)) {
      const Operator op = node.canvas().producer(x.id)->op;
      return node.emit(op, std::move(*inputs));
    }
    return node.emit(Reshape{.allow_zero = true}, {x.id, shape_input(node, *to, {})});
  }
  auto after = layout_after(*from, *to, x.layout);
  // A matrix is made for a product of its rows, which an image of one batch would be the columns of.
  if (after && !after->plain() && to->front().shape.size() == 2) after.reset();
  // An image that becomes a sequence is one from here on: norms and layers work on the last axis.
  if (after && from->front().shape.size() > 3 && to->front().shape.size() == 3) {
    const ValueId rows = node.step(Reshape{.allow_zero = true}, {x.id, shape_input(node, *to, *after)}, "rows");
    return node.output(0, Tensor::value(node.canvas().plain(Tensor::value(rows, *after))));
  }
  if (after) return node.emit(Reshape{.allow_zero = true}, {x.id, shape_input(node, *to, *after)}, *after);
  const ValueId flat = is_flatten(*from, *to) ? x.id : node.value(0);
  return node.emit(Reshape{.allow_zero = true}, {flat, shape_input(node, *to, {})});
}

}  // namespace joulecast::tensorflow
