// SPDX-License-Identifier: Apache-2.0
#include "import/huggingface/net.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "import/text.h"

namespace joulecast::huggingface {

Net::Net(std::string_view name) {
  builder_.graph.name = printable(name, kLongestInGraph);
}

ValueId Net::input(std::string_view name, ElementType element, std::vector<Dimension> dimensions) {
  const Guess guess{element, dimensions.size(), false, {}};
  return builder_.add_input(name, {{}, element, std::move(dimensions)}, guess);
}

ValueId Net::weight(std::string_view name, const Shape& shape) {
  return builder_.add_constant(name, {ElementType::kFloat32, shape}, std::nullopt, ValueKind::kParameter);
}

ValueId Net::buffer(std::string_view name, const Shape& shape) {
  return builder_.add_constant(name, {ElementType::kFloat32, shape}, std::nullopt, ValueKind::kConstant);
}

ValueId Net::integers(IntList values) {
  const TensorType type{ElementType::kInt64, {static_cast<std::int64_t>(values.size())}};
  return builder_.add_constant("ints", type, Contents{std::move(values), {}}, ValueKind::kConstant);
}

ValueId Net::number(double value) {
  return builder_.add_constant("number", {ElementType::kFloat32, {}}, Contents{{}, {value}}, ValueKind::kConstant);
}

std::vector<ValueId> Net::add(Operator op, std::vector<ValueId> inputs, std::size_t outputs) {
  std::vector<ValueId> made;
  for (std::size_t i = 0; i < outputs; ++i) {
    made.push_back(builder_.add_computed(joulecast::name(op), builder_.guess_output(op, inputs, i)));
  }
  builder_.add_node({std::move(op), std::move(inputs), made, ""});
  return made;
}

ValueId Net::add(Operator op, std::vector<ValueId> inputs) {
  return add(std::move(op), std::move(inputs), 1).front();
}

ValueId Net::linear(std::string_view name, ValueId x, std::int64_t in, std::int64_t out, bool bias) {
  const ValueId matrix = weight(fmt::format("{}.weight", name), {out, in});
  return add(Linear{}, {x, matrix, bias ? weight(fmt::format("{}.bias", name), {out}) : kNoValue});
}

ValueId Net::layer_norm(std::string_view name, ValueId x, std::int64_t width) {
  return add(LayerNorm{},
             {x, weight(fmt::format("{}.weight", name), {width}), weight(fmt::format("{}.bias", name), {width})});
}

ValueId Net::rms_norm(std::string_view name, ValueId x, std::int64_t width) {
  return add(RmsNorm{.by_hand = true}, {x, weight(fmt::format("{}.weight", name), {width})});
}

ValueId Net::dropout(ValueId x, double probability) {
  return probability > 0 ? add(Dropout{probability}, {x}) : x;
}

Result<ValueId> Net::activation(std::string_view name, ValueId x) {
  if (name == "gelu") return add(Activation{ActivationKind::kGelu}, {x});
  if (name == "gelu_pytorch_tanh") return add(Activation{ActivationKind::kGeluTanh}, {x});
  if (name == "relu") return add(Activation{ActivationKind::kRelu}, {x});
  if (name == "silu" || name == "swish") return add(Activation{ActivationKind::kSilu}, {x});
  if (name == "tanh") return add(Activation{ActivationKind::kTanh}, {x});
  if (name == "quick_gelu") return add(Activation{ActivationKind::kQuickGelu}, {x});
  // Written out in Python: 0.5 x (1 + tanh(0.8 (x + 0.04 x^3))), eight kernels.
  if (name == "gelu_new") {
    const ValueId cube = product(binary(BinaryKind::kPow, x, number(3)), number(0.044715));
    const ValueId inner = product(sum(x, cube), number(0.7978845608028654));
    const ValueId outer = sum(add(Activation{ActivationKind::kTanh}, {inner}), number(1));
    return product(product(x, number(0.5)), outer);
  }
  return unsupported(fmt::format("the activation '{}' is none we know", printable(name)));
}

ValueId Net::positions(ValueId tokens) {
  const auto scalar = [&](ValueId vector) { return add(Squeeze{{0}}, {vector}); };
  const ValueId counted = add(Range{}, {scalar(integers({0})), scalar(extent(tokens, 1)), scalar(integers({1}))});
  return add(Unsqueeze{{0}}, {counted});
}

ValueId Net::slice(ValueId x, std::int64_t axis, std::int64_t begin, std::int64_t end) {
  return add(Slice{}, {x, integers({begin}), integers({end}), integers({axis})});
}

ValueId Net::split_heads(ValueId x, std::int64_t heads, std::int64_t width) {
  return transpose(reshape(x, {0, 0, heads, width}), {0, 2, 1, 3});
}

ValueId Net::join_heads(ValueId x, std::int64_t width_of_all) {
  return reshape(transpose(x, {0, 2, 1, 3}), {0, 0, width_of_all});
}

// transformers repeats the heads of keys and values in memory before the product.
ValueId Net::attention(ValueId query, ValueId key, ValueId value, const Heads& heads, bool causal, ValueId bias,
                       double dropout) {
  const auto repeated = [&](ValueId x) {
    if (heads.count == heads.key_value_count) return x;
    const std::int64_t times = heads.count / heads.key_value_count;
    const ValueId length = extent(x, 2);
    const ValueId shape =
        add(Concat{}, {extent(x, 0), integers({heads.key_value_count, times}), length, integers({heads.width})});
    const ValueId expanded = add(Expand{}, {add(Unsqueeze{{2}}, {x}), shape});
    const ValueId joined = add(Concat{}, {extent(x, 0), integers({heads.count}), length, integers({heads.width})});
    return add(Reshape{}, {expanded, joined});
  };
  return add(Attention{.causal = causal, .dropout = dropout}, {query, repeated(key), repeated(value), bias});
}

Result<Graph> Net::finish() {
  JC_RETURN_IF_ERROR(validate(builder_.graph));
  return std::move(builder_.graph);
}

}  // namespace joulecast::huggingface
