// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

// A chain has an operator an input: a file must not make millions of them of one node.
Result<void> check_length(const NodeContext& node) {
  constexpr std::size_t kMaxInputs = 10'000;
  if (node.input_count() <= kMaxInputs) return {};
  return unsupported(fmt::format("has {} inputs, more than {}", node.input_count(), kMaxInputs));
}

// All inputs joined two by two; the last operator is left to the caller.
struct Chain {
  ValueId first, second;
};
Chain join_all_but_last(NodeContext& node, BinaryKind kind) {
  ValueId sum = node.input(0);
  for (std::size_t i = 1; i + 1 < node.input_count(); ++i) sum = node.step(Binary{kind}, {sum, node.input(i)}, "chain");
  return {sum, node.input(node.input_count() - 1)};
}

}  // namespace

Result<void> lower_chain_of(NodeContext& node, BinaryKind kind) {
  JC_RETURN_IF_ERROR(check_length(node));
  if (node.input_count() == 1) return node.alias(0, node.input(0));
  const Chain last = join_all_but_last(node, kind);
  return node.emit(Binary{kind}, {last.first, last.second});
}

Result<void> lower_mean(NodeContext& node) {
  JC_RETURN_IF_ERROR(check_length(node));
  if (node.input_count() == 1) return node.alias(0, node.input(0));
  const Chain last = join_all_but_last(node, BinaryKind::kAdd);
  const ValueId sum = node.step(Binary{BinaryKind::kAdd}, {last.first, last.second}, "sum");
  const ValueId count = node.real_scalar(static_cast<double>(node.input_count()));
  return node.emit(Binary{BinaryKind::kDiv}, {sum, count});
}

Result<void> lower_mod(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool fmod, node.flag("fmod", false));
  return node.emit(Binary{fmod ? BinaryKind::kFmod : BinaryKind::kMod}, {node.input(0), node.input(1)});
}

Result<void> lower_bit_shift(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::string_view direction, node.string("direction"));
  if (direction != "LEFT" && direction != "RIGHT") return node.wrong_attribute("direction", "is not LEFT or RIGHT");
  return node.emit(Binary{direction == "LEFT" ? BinaryKind::kShiftLeft : BinaryKind::kShiftRight},
                   {node.input(0), node.input(1)});
}

Result<void> lower_where(NodeContext& node) {
  return node.emit(Where{}, {node.input(0), node.input(1), node.input(2)});
}

Result<void> lower_cast(NodeContext& node) {
  JC_RETURN_IF_ERROR(node.integer("to"));
  JC_ASSIGN_OR_RETURN(const ElementType to, node.element("to", ElementType::kFloat32));
  return node.emit(Cast{to}, {node.input(0)});
}

Result<void> lower_cast_like(NodeContext& node) {
  const ElementType to = node.guess(1).element;
  if (to == ElementType::kUnknown) return node.opaque();
  return node.emit(Cast{to}, {node.input(0)});
}

Result<void> lower_identity(NodeContext& node) {
  return node.alias(0, node.input(0));
}

// The ratio was an attribute before operator set 12.
Result<void> lower_dropout(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(double ratio, node.number("ratio", 0.5));
  if (const Contents* known = node.known(1); known != nullptr && known->reals.size() == 1) ratio = known->reals[0];
  if (!(ratio >= 0.0 && ratio <= 1.0)) return node.wrong_attribute("ratio", "is not between 0 and 1");
  return node.emit(Dropout{ratio}, {node.input(0)}, 2);
}

}  // namespace joulecast::onnx
