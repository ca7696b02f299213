// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

struct Bound {
  ValueId value = kNoValue;
  std::optional<double> known;
};

// Attributes before operator set 11, inputs since.
Result<Bound> clip_bound(NodeContext& node, std::size_t input, std::string_view attribute) {
  Bound out;
  if (node.opset() < 11) {
    JC_ASSIGN_OR_RETURN(const double value, node.number(attribute, std::numeric_limits<double>::quiet_NaN()));
    // The defaults, the largest floats, bound nothing.
    if (std::isnan(value) || std::abs(value) > 3e38) return out;
    out.known = value;
    out.value = node.real_scalar(value);
    return out;
  }
  out.value = node.input(input);
  const Contents* known = node.known(input);
  if (known != nullptr && known->reals.size() == 1) out.known = known->reals[0];
  return out;
}

// Clips of integers are shape arithmetic, which follows minimum and maximum.
Result<void> clip_integers(NodeContext& node, ValueId low, ValueId high) {
  ValueId x = node.input(0);
  if (low == kNoValue && high == kNoValue) return node.alias(0, x);
  if (low != kNoValue && high != kNoValue) x = node.step(Binary{BinaryKind::kMax}, {x, low}, "clip");
  if (high != kNoValue) return node.emit(Binary{BinaryKind::kMin}, {x, high});
  return node.emit(Binary{BinaryKind::kMax}, {x, low});
}

}  // namespace

Result<void> lower_clip(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Bound low, clip_bound(node, 1, "min"));
  JC_ASSIGN_OR_RETURN(const Bound high, clip_bound(node, 2, "max"));
  if (is_integer(node.guess(0).element)) return clip_integers(node, low.value, high.value);
  const bool from_zero = low.known && *low.known == 0.0;
  if (from_zero && high.value == kNoValue) return node.emit(Activation{ActivationKind::kRelu}, {node.input(0)});
  if (from_zero && high.known && *high.known == 6.0) {
    return node.emit(Activation{ActivationKind::kRelu6}, {node.input(0)});
  }
  return node.emit(Activation{ActivationKind::kClip}, {node.input(0), low.value, high.value});
}

Result<void> lower_gelu(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::string_view approximate, node.string("approximate", "none"));
  if (approximate != "none" && approximate != "tanh") return node.wrong_attribute("approximate", "is not none or tanh");
  return node.emit(Activation{approximate == "tanh" ? ActivationKind::kGeluTanh : ActivationKind::kGelu},
                   {node.input(0)});
}

Result<void> lower_prelu(NodeContext& node) {
  return node.emit(Activation{ActivationKind::kPRelu}, {node.input(0), node.input(1)});
}

// x * sigmoid(alpha x): SiLU at 1, the quick GELU at 1.702. Other slopes cost as much.
Result<void> lower_swish(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const double alpha, node.number("alpha", 1.0));
  const bool quick = std::abs(alpha - 1.702) < 0.01;
  return node.emit(Activation{quick ? ActivationKind::kQuickGelu : ActivationKind::kSilu}, {node.input(0)});
}

Result<void> lower_swiglu(NodeContext& node) {
  const ValueId gate = node.step(Activation{ActivationKind::kSilu}, {node.input(0)}, "silu");
  return node.emit(Binary{BinaryKind::kMul}, {gate, node.input(1)});
}

// Before operator set 13 the axis is where the tensor is flattened to a matrix, 1 unless given. The rows are then
// longer than one axis, which changes neither shape nor work.
Result<void> lower_softmax_of(NodeContext& node, bool log) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", node.opset() < 13 ? 1 : -1));
  return node.emit(Softmax{axis, log}, {node.input(0)});
}

}  // namespace joulecast::onnx
