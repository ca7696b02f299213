// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {

Result<void> lower_same_shape(NodeContext& node, const Operator& op) {
  const Layout layout = node.input(0).layout;
  return node.emit(op, {node.value(0, layout)}, layout);
}

namespace {

// A fully connected layer whose result was parted into several axes before its bias is added, as in Keras' attention:
// the layer and the reshape.
struct PartedLayer {
  Node linear, reshape;
  Tensor bias;
};

std::optional<PartedLayer> parted_layer(const NodeContext& node, std::size_t side) {
  const Canvas& canvas = node.canvas();
  const Tensor& bias = node.input(1 - side);
  const Node* reshape = node.input(side).layout.plain() ? canvas.producer(node.input(side).id) : nullptr;
  const bool parameter = bias.is_source() && bias.source->kind == ValueKind::kParameter && bias.view.size() > 1;
  if (reshape == nullptr || !parameter || !std::holds_alternative<Reshape>(reshape->op)) return std::nullopt;
  const Node* linear = canvas.producer(reshape->inputs[0]);
  if (linear == nullptr || !std::holds_alternative<Linear>(linear->op) || linear->inputs.size() > 2)
    return std::nullopt;
  const auto shape = canvas.extents(node.input(side));
  const auto rows = canvas.extents(Tensor::value(linear->outputs[0]));
  if (!shape || !rows || rows->empty() || shape->size() < bias.view.size()) return std::nullopt;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i < bias.view.size(); ++i) {
    if ((*shape)[shape->size() - bias.view.size() + i] != bias.view[i]) return std::nullopt;
    elements *= bias.view[i];
  }
  if (rows->size() - 1 != shape->size() - bias.view.size() || (*rows)[rows->size() - 1] != elements)
    return std::nullopt;
  PartedLayer out{*linear, *reshape, bias};
  out.bias.view = Shape{elements};
  return out;
}

Result<void> emit_parted(NodeContext& node, PartedLayer layer) {
  layer.linear.inputs.push_back(node.canvas().plain(layer.bias));
  const ValueId product = node.step(std::move(layer.linear.op), std::move(layer.linear.inputs), "layer");
  layer.reshape.inputs[0] = product;
  return node.emit(std::move(layer.reshape.op), std::move(layer.reshape.inputs));
}

}  // namespace

Result<void> lower_binary_of(NodeContext& node, BinaryKind kind) {
  for (std::size_t side = 0; side < 2 && kind == BinaryKind::kAdd; ++side) {
    if (auto layer = parted_layer(node, side)) return emit_parted(node, std::move(*layer));
  }
  const Arranged both = arrange(node, std::array{node.input(0), node.input(1)});
  return node.emit(Binary{kind}, both.values, both.layout);
}

Result<void> lower_not_equal(NodeContext& node) {
  const Arranged both = arrange(node, std::array{node.input(0), node.input(1)});
  return node.emit(Unary{UnaryKind::kNot}, {node.step(Binary{BinaryKind::kEqual}, both.values, "equal")}, both.layout);
}

// Of integers, whose division rounds down already, as shapes are computed with.
Result<void> lower_floor_div(NodeContext& node) {
  if (is_integer(node.element(0))) return lower_binary_of(node, BinaryKind::kDiv);
  const Arranged both = arrange(node, std::array{node.input(0), node.input(1)});
  const ValueId quotient = node.step(Binary{BinaryKind::kDiv}, both.values, "quotient");
  return node.emit(Unary{UnaryKind::kFloor}, {quotient}, both.layout);
}

Result<void> lower_squared_difference(NodeContext& node) {
  const Arranged both = arrange(node, std::array{node.input(0), node.input(1)});
  const ValueId difference = node.step(Binary{BinaryKind::kSub}, both.values, "difference");
  return node.emit(Unary{UnaryKind::kSquare}, {difference}, both.layout);
}

namespace {

// z where `id` is -z times a constant, with that constant.
std::optional<std::pair<ValueId, ValueId>> negated_factor(const Canvas& canvas, ValueId id) {
  const Node* product = canvas.producer(id);
  const auto* op = product == nullptr ? nullptr : std::get_if<Binary>(&product->op);
  if (op == nullptr || (op->kind != BinaryKind::kMul && op->kind != BinaryKind::kDiv)) return std::nullopt;
  const Node* negation = canvas.producer(product->inputs[0]);
  const auto* unary = negation == nullptr ? nullptr : std::get_if<Unary>(&negation->op);
  if (unary == nullptr || unary->kind != UnaryKind::kNeg) return std::nullopt;
  return std::pair(negation->inputs[0], product->inputs[1]);
}

}  // namespace

// 1 - erf(x). Keras' GELU asks for erfc(-z / sqrt 2), which is 1 + erf(z / sqrt 2) as others write it.
Result<void> lower_erfc(NodeContext& node) {
  const Layout layout = node.input(0).layout;
  const ValueId x = node.value(0, layout);
  const ValueId one = node.real_scalar(1.0);
  if (const auto parts = negated_factor(node.canvas(), x)) {
    const Operator scale = node.canvas().producer(x)->op;
    const ValueId scaled = node.step(scale, {parts->first, parts->second}, "scaled");
    const ValueId erf = node.step(Unary{UnaryKind::kErf}, {scaled}, "erf");
    return node.emit(Binary{BinaryKind::kAdd}, {erf, one}, layout);
  }
  const ValueId erf = node.step(Unary{UnaryKind::kErf}, {x}, "erf");
  return node.emit(Binary{BinaryKind::kSub}, {one, erf}, layout);
}

Result<void> lower_add_n(NodeContext& node) {
  constexpr std::size_t kMaxInputs = 10'000;
  const std::size_t count = node.input_count();
  if (count > kMaxInputs) return unsupported(fmt::format("has {} inputs, more than {}", count, kMaxInputs));
  if (count == 1) return node.output(0, node.input(0));
  const Arranged all = arrange(node, node.inputs());
  ValueId sum = all.values[0];
  for (std::size_t i = 1; i + 1 < count; ++i) sum = node.step(Binary{}, {sum, all.values[i]}, "sum");
  return node.emit(Binary{BinaryKind::kAdd}, {sum, all.values[count - 1]}, all.layout);
}

// The bias belongs to the last axis, or to the second one.
Result<void> lower_bias_add(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::string_view format, node.attribute("data_format", "NHWC"));
  const auto rank = node.rank(0);
  if (!format.starts_with("NC") || !rank || *rank < 3) return lower_binary_of(node, BinaryKind::kAdd);
  Tensor bias = node.input(1);
  if (!bias.is_source() || bias.view.size() != 1) return node.opaque();
  for (std::size_t i = 2; i < *rank; ++i) bias.view.push_back(1);
  const Arranged both = arrange(node, std::array{node.input(0), bias});
  return node.emit(Binary{BinaryKind::kAdd}, both.values, both.layout);
}

Result<void> lower_clip(NodeContext& node) {
  const Layout layout = node.input(0).layout;
  return node.emit(Activation{ActivationKind::kClip}, {node.value(0, layout), node.value(1), node.value(2)}, layout);
}

Result<void> lower_select(NodeContext& node) {
  const Arranged all = arrange(node, std::array{node.input(0), node.input(1), node.input(2)});
  return node.emit(Where{}, all.values, all.layout);
}

namespace {

// A constant as another type; weights that are cast are weights of that type, as every runtime folds it.
Source cast_source(const NodeContext& node, const Source& from, ElementType to) {
  Source out = from;
  out.name = node.output_name(0);
  out.type.element = to;
  if (!out.contents || is_floating(to) == is_floating(from.type.element)) return out;
  Contents& contents = *out.contents;
  if (is_floating(to)) {
    contents.reals.assign(contents.ints.begin(), contents.ints.end());
    contents.ints.clear();
    return out;
  }
  const auto fits = [](double v) { return v > -1e15 && v < 1e15; };
  if (!std::all_of(contents.reals.begin(), contents.reals.end(), fits)) {
    out.contents.reset();
    return out;
  }
  for (const double value : contents.reals) contents.ints.push_back(static_cast<std::int64_t>(value));
  contents.reals.clear();
  return out;
}

}  // namespace

Result<void> lower_cast(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t data_type, node.data_type("DstT", 0));
  const ElementType to = element_type(data_type);
  if (to == ElementType::kUnknown) return node.opaque();
  if (node.element(0) == to) return node.output(0, node.input(0));
  if (node.input(0).is_source()) {
    Tensor tensor = node.input(0);
    tensor.source = &node.importer().add_source(cast_source(node, *tensor.source, to));
    return node.output(0, tensor);
  }
  return lower_same_shape(node, Cast{to});
}

Result<void> lower_softmax_of(NodeContext& node, bool log) {
  const auto rank = node.rank(0);
  const Layout layout = rank && *rank > 0 ? node.input(0).layout : Layout{};
  const std::int64_t axis = layout.plain() ? -1 : static_cast<std::int64_t>(layout.in_value(*rank - 1));
  return node.emit(Softmax{axis, log}, {node.value(0, layout)}, layout);
}

// Rounds to the grid of integers and back: two kernels in a network that is trained for integers, none that is run in
// one that was converted.
Result<void> lower_fake_quant(NodeContext& node) {
  const Layout layout = node.input(0).layout;
  const ValueId scale = node.real_scalar(1.0);
  const ValueId grid = node.step(Quantize{ElementType::kUInt8}, {node.value(0, layout), scale}, "grid");
  return node.emit(Dequantize{ElementType::kFloat32}, {grid, scale}, layout);
}

}  // namespace joulecast::tensorflow
