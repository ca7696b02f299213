// SPDX-License-Identifier: Apache-2.0
// Einsum. With a weight it is a fully connected layer over some of the axes, as in Keras' attention.
#include "import/einsum.h"

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

// x [rows..., summed...], weight [summed..., columns...] or the other way round, result [rows..., columns...].
bool is_layer(const NodeContext& node, const einsum::Equation& e, const einsum::Roles& r) {
  const Tensor& weight = node.input(1);
  const bool parameter = weight.is_source() && weight.source->kind == ValueKind::kParameter;
  return parameter && weight.view.size() == e.b.size() && r.batch.empty() && !r.summed.empty() && !r.columns.empty() &&
         e.a == r.rows + r.summed && e.out == r.rows + r.columns &&
         (e.b == r.summed + r.columns || e.b == r.columns + r.summed);
}

Result<void> emit_layer(NodeContext& node, const einsum::Equation& e, const einsum::Roles& r) {
  Tensor weight = node.input(1);
  const bool in_out = e.b == r.summed + r.columns && e.b != r.columns + r.summed;
  std::int64_t in = 1;
  std::int64_t out = 1;
  IntList columns;
  for (std::size_t i = 0; i < e.b.size(); ++i) {
    const bool summed = r.summed.find(e.b[i]) != std::string::npos;
    (summed ? in : out) *= weight.view[i];
    if (!summed) columns.push_back(weight.view[i]);
  }
  weight.view = in_out ? Shape{in, out} : Shape{out, in};
  const auto rows = static_cast<std::int64_t>(r.rows.size());
  ValueId x = node.value(0);
  if (r.summed.size() > 1) {
    x = node.step(Flatten{rows, rows + static_cast<std::int64_t>(r.summed.size()) - 1}, {x}, "merged");
  }
  const Linear op{.weight_in_out = in_out};
  const ValueId w = node.canvas().plain(weight);
  if (columns.size() == 1) return node.emit(op, {x, w});
  const ValueId product = node.step(op, {x, w}, "product");
  IntList target(r.rows.size(), 0);
  target.insert(target.end(), columns.begin(), columns.end());
  return node.emit(Reshape{}, {product, node.int_vector(std::move(target))});
}

}  // namespace

Result<void> lower_einsum(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::string_view text, node.attribute("equation", std::string_view{}));
  const auto equation = einsum::parse(text);
  const auto roles = equation ? einsum::roles(*equation) : std::nullopt;
  if (!roles || node.input_count() != 2) return node.opaque();
  if (is_layer(node, *equation, *roles)) return emit_layer(node, *equation, *roles);
  return emit_einsum(node, text, node.value(0), node.value(1));
}

}  // namespace joulecast::tensorflow
