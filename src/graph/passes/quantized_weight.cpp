// SPDX-License-Identifier: Apache-2.0
// Weights in QDQ format: DequantizeLinear(int8 weight), or QuantizeLinear and DequantizeLinear around a float one. The
// runtimes that read this format keep such weights as integers, so the operator reads the integer parameter directly
// and its bytes count as that. Quantization of activations stays in the graph, as operators.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

// The integer parameter that `id` is dequantized from; kNoValue if it is something else.
ValueId integer_parameter(Rewriter& graph, ValueId id) {
  const Node* dequantize = made_by<Dequantize>(graph, id);
  if (dequantize == nullptr) return kNoValue;
  const ValueId source = input(*dequantize, 0);
  if (graph.is_parameter(source)) return source;
  const Node* quantize = made_by<Quantize>(graph, source);
  if (quantize == nullptr || !graph.is_parameter(input(*quantize, 0))) return kNoValue;
  TensorType type = graph.source_type(quantize->inputs[0]);
  type.element = as<Quantize>(*quantize)->to;
  return graph.retyped(quantize->inputs[0], type);
}

// A weight that is transposed on its way to a MatMul.
ValueId behind_transpose(const Rewriter& graph, ValueId id, bool& transposed) {
  const Node* node = made_by<Transpose>(graph, id);
  transposed = node != nullptr && (as<Transpose>(*node)->order.empty() || as<Transpose>(*node)->order == IntList{1, 0});
  return transposed ? input(*node, 0) : id;
}

bool fold_product(Rewriter& graph, std::size_t root, const MatMul& op) {
  const Node& node = graph.node(root);
  bool transposed = false;
  const ValueId weight = integer_parameter(graph, behind_transpose(graph, input(node, 1), transposed));
  if (weight == kNoValue || graph.source_type(weight).shape.size() != 2 || op.transpose_a) return false;
  graph.replace(root, Linear{.weight_in_out = transposed == op.transpose_b}, {node.inputs[0], weight});
  return true;
}

}  // namespace

bool fold_quantized_weight(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  if (const auto* op = as<MatMul>(node)) return fold_product(graph, root, MatMul{*op});
  if (as<Conv>(node) == nullptr && as<Linear>(node) == nullptr) return false;
  std::vector<ValueId> inputs = node.inputs;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    const ValueId parameter = integer_parameter(graph, inputs[i]);
    if (parameter != kNoValue) inputs[i] = parameter;
  }
  if (inputs == node.inputs) return false;
  graph.replace(root, Operator{node.op}, std::move(inputs));
  return true;
}

}  // namespace joulecast::passes
