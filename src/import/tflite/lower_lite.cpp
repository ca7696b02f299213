// SPDX-License-Identifier: Apache-2.0
// Operators of TensorFlow Lite that TensorFlow has no counterpart of.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/tensorflow/lowerings.h"
#include "import/tflite/operators.h"

namespace joulecast::tflite {
namespace {

using tensorflow::NodeContext;
using tensorflow::OperatorEntry;
using tensorflow::Source;

Result<void> lower_gelu(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool approximate, node.flag("approximate", false));
  return tensorflow::lower_same_shape(node,
                                      Activation{approximate ? ActivationKind::kGeluTanh : ActivationKind::kGelu});
}

// x, slopes that broadcast to all but the batch.
Result<void> lower_prelu(NodeContext& node) {
  const tensorflow::Arranged both = tensorflow::arrange(node, std::array{node.input(0), node.input(1)});
  return node.emit(Activation{ActivationKind::kPRelu}, both.values, both.layout);
}

Result<void> lower_clip_to(NodeContext& node, double low, double high) {
  const tensorflow::Layout layout = node.input(0).layout;
  const ValueId lower = node.real_scalar(low);
  return node.emit(Activation{ActivationKind::kClip}, {node.value(0, layout), lower, node.real_scalar(high)}, layout);
}

Result<void> lower_relu_n1_to_1(NodeContext& node) {
  return lower_clip_to(node, -1.0, 1.0);
}
Result<void> lower_relu_0_to_1(NodeContext& node) {
  return lower_clip_to(node, 0.0, 1.0);
}

// Scale and zero point belong to the tensor: what they are changes nothing.
template <typename Op>
Result<void> lower_to_type(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t type, node.data_type("dtype", 0));
  const tensorflow::Layout layout = node.input(0).layout;
  return node.emit(Op{tensorflow::element_type(type)}, {node.value(0, layout), node.real_scalar(1.0)}, layout);
}

// The weights of all gates as one.
ValueId joined(NodeContext& node, std::size_t first, const Shape& shape) {
  const Source& source = *node.input(first).source;
  Source whole{source.name, {source.type.element, shape}, std::nullopt, ValueKind::kParameter};
  return node.canvas().reshaped(node.importer().add_source(std::move(whole)), shape);
}

// x, weights [hidden, input] of each gate, recurrences [hidden, hidden], biases [hidden].
Result<void> lower_sequence(NodeContext& node, RnnKind kind, std::size_t gates) {
  JC_ASSIGN_OR_RETURN(const bool time_major, node.flag("time_major", false));
  for (std::size_t i = 1; i <= 3 * gates; ++i) {
    if (!node.input(i).is_source()) return node.opaque();
  }
  const Shape& weight = node.input(1).view;
  const Shape& recurrence = node.input(1 + gates).view;
  for (std::size_t i = 1; i <= 3 * gates; ++i) {
    const Shape& expected = i <= gates ? weight : i <= 2 * gates ? recurrence : Shape{weight[0]};
    if (weight.size() != 2 || recurrence.size() != 2 || node.input(i).view != expected) {
      return invalid(fmt::format("the weights {} of a gate do not fit the others", text(node.input(i).view)));
    }
  }
  const std::int64_t rows = static_cast<std::int64_t>(gates) * weight[0];
  const Rnn op{kind, weight[0], 1, !time_major};
  const std::vector<ValueId> inputs{node.value(0), joined(node, 1, Shape{1, rows, weight[1]}),
                                    joined(node, 1 + gates, Shape{1, rows, recurrence[1]}),
                                    joined(node, 1 + 2 * gates, Shape{1, rows})};
  const ValueId steps = node.steps(op, inputs, kind == RnnKind::kLstm ? 3 : 2, "rnn")[0];
  if (time_major) return node.emit(Squeeze{{1}}, {steps});
  return node.emit(Transpose{{1, 0, 2}}, {node.step(Squeeze{{1}}, {steps}, "steps")});
}

Result<void> lower_sequence_lstm(NodeContext& node) {
  return lower_sequence(node, RnnKind::kLstm, 4);
}
Result<void> lower_sequence_rnn(NodeContext& node) {
  return lower_sequence(node, RnnKind::kRnn, 1);
}

// x, the segment of each entry, the number of segments: how converters write the product of some extents of a shape.
Result<void> lower_segment_product(NodeContext& node) {
  constexpr std::int64_t kMost = 100;
  const auto segments = node.integers(1);
  const auto count = node.integer(2);
  const auto shape = node.extents(0);
  const bool vector =
      shape && shape->size() == 1 && segments && (*shape)[0] == static_cast<std::int64_t>(segments->size());
  if (!vector || !count || *count < 1 || *count > kMost || (*shape)[0] > kMost) return node.opaque();
  std::vector<ValueId> products;
  for (std::int64_t segment = 0; segment < *count; ++segment) {
    IntList members;
    for (std::size_t i = 0; i < segments->size(); ++i) {
      if ((*segments)[i] == segment) members.push_back(static_cast<std::int64_t>(i));
    }
    const ValueId entries = node.step(Gather{}, {node.value(0), node.int_vector(std::move(members))}, "entries");
    products.push_back(node.step(Reduce{ReduceKind::kProd, {0}, true, false}, {entries}, "product"));
  }
  return node.emit(Concat{0}, std::move(products));
}

constexpr auto kLiteOperators = std::to_array<OperatorEntry>({
    {"DEQUANTIZE", 1, lower_to_type<Dequantize>},
    {"GELU", 1, lower_gelu},
    {"HARD_SWISH", 1, tensorflow::lower_activation<ActivationKind::kHardSwish>},
    {"PRELU", 2, lower_prelu},
    {"QUANTIZE", 1, lower_to_type<Quantize>},
    {"RELU_0_TO_1", 1, lower_relu_0_to_1},
    {"RELU_N1_TO_1", 1, lower_relu_n1_to_1},
    {"UNIDIRECTIONAL_SEQUENCE_LSTM", 13, lower_sequence_lstm},
    {"UNIDIRECTIONAL_SEQUENCE_RNN", 4, lower_sequence_rnn},
    {"UNSORTED_SEGMENT_PROD", 3, lower_segment_product},
});

}  // namespace

const OperatorEntry* lite_operator(std::string_view name) {
  const auto* const it = std::find_if(kLiteOperators.begin(), kLiteOperators.end(),
                                      [&](const OperatorEntry& entry) { return entry.name == name; });
  return it == kLiteOperators.end() ? nullptr : it;
}

}  // namespace joulecast::tflite
