// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

// Clamps of integers are shape arithmetic, which follows minimum and maximum.
Result<void> clamp_integers(Call& call, ValueId x, ValueId low, ValueId high) {
  if (low != kNoValue && high != kNoValue) x = call.step(Binary{BinaryKind::kMax}, {x, low}, "clamp");
  if (high != kNoValue) return call.emit(Binary{BinaryKind::kMin}, {x, high});
  return call.emit(Binary{BinaryKind::kMax}, {x, low});
}

std::optional<double> number(const Call& call, ValueId id) {
  const Contents* known = call.known(id);
  return known != nullptr && known->reals.size() == 1 ? std::optional(known->reals[0]) : std::nullopt;
}

Result<void> clamp(Call& call, ValueId x, ValueId low, ValueId high) {
  if (low == kNoValue && high == kNoValue) return call.alias(0, x);
  if (is_integer(call.guess(x).element)) return clamp_integers(call, x, low, high);
  const bool from_zero = number(call, low) == 0.0;
  if (from_zero && high == kNoValue) return call.emit(Activation{ActivationKind::kRelu}, {x});
  if (from_zero && number(call, high) == 6.0) return call.emit(Activation{ActivationKind::kRelu6}, {x});
  return call.emit(Activation{ActivationKind::kClip}, {x, low, high});
}

Result<ValueId> bound(Call& call, std::string_view name, ValueId x) {
  if (!call.has(name)) return kNoValue;
  return call.operand(name, x);
}

}  // namespace

Result<void> lower_clamp(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId low, bound(call, "min", x));
  JC_ASSIGN_OR_RETURN(const ValueId high, bound(call, "max", x));
  return clamp(call, x, low, high);
}

// ReLU6 is exported as this.
Result<void> lower_hardtanh(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const double low, call.real("min_val", -1.0));
  JC_ASSIGN_OR_RETURN(const double high, call.real("max_val", 1.0));
  return clamp(call, x, call.real_scalar(low), call.real_scalar(high));
}

Result<void> lower_gelu(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::string_view approximate, call.text("approximate", "none"));
  return call.emit(Activation{approximate == "tanh" ? ActivationKind::kGeluTanh : ActivationKind::kGelu}, {x});
}

// The first half times the sigmoid of the second.
Result<void> lower_glu(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", -1));
  const auto halves = call.steps(Split{axis, {}}, {x}, 2, "half");
  const ValueId gate = call.step(Activation{ActivationKind::kSigmoid}, {halves[1]}, "gate");
  return call.emit(Binary{BinaryKind::kMul}, {halves[0], gate});
}

// The slopes, one a channel, stand at axis 1.
Result<void> lower_prelu(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(ValueId slope, call.tensor("weight"));
  const auto rank = call.guess(x).rank;
  if (call.guess(slope).rank == 1U && rank && *rank > 2) {
    IntList axes;
    for (std::size_t i = 1; i + 1 < *rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    slope = call.step(Unsqueeze{axes}, {slope}, "slope");
  }
  return call.emit(Activation{ActivationKind::kPRelu}, {x, slope});
}

Result<void> lower_softmax_of(Call& call, bool log) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", -1));
  JC_ASSIGN_OR_RETURN(const ElementType to, call.element("dtype", ElementType::kUnknown));
  JC_ASSIGN_OR_RETURN(const bool half_to_float, call.flag("half_to_float", false));
  const bool in_float = half_to_float || (to == ElementType::kFloat32 && is_floating(call.guess(x).element));
  const bool cast = to != ElementType::kUnknown && to != call.guess(x).element && !in_float;
  if (cast) x = call.step(Cast{to}, {x}, "cast");
  return call.emit(Softmax{axis, log, in_float}, {x});
}

}  // namespace joulecast::aten
