// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "import/paddle/lowerings.h"

namespace joulecast::paddle {
namespace {

struct Pair {
  ValueId a, b;
};

// Paddle 2 may say at which axis of x the axes of y begin; else they end together.
Result<ValueId> aligned(Call& call, ValueId x, ValueId y) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("axis", -1));
  const auto x_rank = call.guess(x).rank;
  const auto y_rank = call.guess(y).rank;
  if (axis < 0 || !x_rank || !y_rank || *y_rank == 0) return y;
  const auto begin = static_cast<std::size_t>(axis);
  if (begin + *y_rank >= *x_rank) return y;
  IntList axes;
  for (std::size_t i = *y_rank; begin + i < *x_rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return call.step(Unsqueeze{std::move(axes)}, {y}, "aligned");
}

Result<Pair> operands(Call& call) {
  Pair out{};
  JC_ASSIGN_OR_RETURN(out.a, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(out.b, call.tensor("y"));
  JC_ASSIGN_OR_RETURN(out.b, aligned(call, out.a, out.b));
  return out;
}

// A number of x's own kind.
ValueId number_like(Call& call, ValueId x, double value) {
  const ElementType element = call.guess(x).element;
  const bool whole = is_integer(element) && std::trunc(value) == value && std::abs(value) < 1e15;
  if (whole) return call.int_scalar(static_cast<std::int64_t>(value));
  return call.real_scalar(value, is_floating(element) ? element : ElementType::kFloat32);
}

}  // namespace

Result<void> lower_binary_of(Call& call, BinaryKind kind) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call));
  return call.emit(Binary{kind}, {pair.a, pair.b});
}

Result<void> lower_not_equal(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call));
  const ValueId equal = call.step(Binary{BinaryKind::kEqual}, {pair.a, pair.b}, "equal");
  return call.emit(Unary{UnaryKind::kNot}, {equal});
}

// Integers: (a - a mod b) / b, which can be followed and rounds down.
Result<void> lower_floor_divide(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call));
  if (is_floating(call.guess(pair.a).element)) {
    return call.emit(Unary{UnaryKind::kFloor}, {call.step(Binary{BinaryKind::kDiv}, {pair.a, pair.b}, "quotient")});
  }
  if (call.guess(pair.a).rank.value_or(2) > 1) return call.emit(Binary{BinaryKind::kDiv}, {pair.a, pair.b});
  const ValueId rest = call.step(Binary{BinaryKind::kMod}, {pair.a, pair.b}, "rest");
  const ValueId whole = call.step(Binary{BinaryKind::kSub}, {pair.a, rest}, "whole");
  return call.emit(Binary{BinaryKind::kDiv}, {whole, pair.b});
}

// x * scale + bias, or (x + bias) * scale. What changes nothing is left out.
Result<void> lower_scale(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const double bias, call.real("bias", 0.0));
  JC_ASSIGN_OR_RETURN(const bool bias_last, call.flag("bias_after_scale", true));
  const bool computed = call.is<ValueId>("scale");
  JC_ASSIGN_OR_RETURN(const double scale, computed ? Result<double>(0.0) : call.real("scale", 1.0));
  const bool scales = computed || scale != 1.0;
  if (!scales && bias == 0.0) return call.alias(0, x);
  JC_ASSIGN_OR_RETURN(const ValueId factor,
                      computed ? call.tensor("scale") : Result<ValueId>(number_like(call, x, scale)));
  const ValueId shift = bias == 0.0 ? kNoValue : number_like(call, x, bias);
  if (shift == kNoValue) return call.emit(Binary{BinaryKind::kMul}, {x, factor});
  if (!scales) return call.emit(Binary{BinaryKind::kAdd}, {x, shift});
  const BinaryKind first = bias_last ? BinaryKind::kMul : BinaryKind::kAdd;
  const BinaryKind second = bias_last ? BinaryKind::kAdd : BinaryKind::kMul;
  const ValueId between = call.step(Binary{first}, {x, bias_last ? factor : shift}, "scaled");
  return call.emit(Binary{second}, {between, bias_last ? shift : factor});
}

Result<void> lower_increment(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const double step, call.real("step", 1.0));
  return call.emit(Binary{BinaryKind::kAdd}, {x, number_like(call, x, step)});
}

Result<void> lower_pow(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  if (call.is<ValueId>("factor")) return unsupported("an exponent that is computed");
  JC_ASSIGN_OR_RETURN(const double exponent, call.real("factor", 1.0));
  if (exponent == 2.0) return call.emit(Unary{UnaryKind::kSquare}, {x});
  if (exponent == 0.5) return call.emit(Unary{UnaryKind::kSqrt}, {x});
  return call.emit(Binary{BinaryKind::kPow}, {x, number_like(call, x, exponent)});
}

// The sum of some tensors, one after the other.
Result<void> lower_add_n(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> all, call.tensors("inputs"));
  if (all.empty() || std::find(all.begin(), all.end(), kNoValue) != all.end()) return call.wrong("inputs", "is empty");
  ValueId sum = all[0];
  if (all.size() == 1) return call.alias(0, sum);
  for (std::size_t i = 1; i + 1 < all.size(); ++i) sum = call.step(Binary{BinaryKind::kAdd}, {sum, all[i]}, "sum");
  return call.emit(Binary{BinaryKind::kAdd}, {sum, all.back()});
}

Result<void> lower_cast(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ElementType to, call.element("dtype", ElementType::kUnknown));
  if (to == ElementType::kUnknown) return unsupported("to an element type we do not know");
  if (to == call.guess(x).element) return call.alias(0, x);
  return call.emit(Cast{to}, {x});
}

// In inference nothing is dropped; one mode of Paddle scales instead.
Result<void> lower_dropout(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const double probability, call.real("p", 0.5));
  JC_ASSIGN_OR_RETURN(const bool inference, call.flag("is_test", false));
  JC_ASSIGN_OR_RETURN(const std::string_view mode, call.text("mode", "downgrade_in_infer"));
  if (!(probability >= 0.0 && probability <= 1.0)) return call.wrong("p", "is not between 0 and 1");
  if (!inference) return call.emit(Dropout{probability}, {x}, 2);
  if (mode == "upscale_in_train" || probability == 0.0) return call.alias(0, x);
  return call.emit(Binary{BinaryKind::kMul}, {x, number_like(call, x, 1.0 - probability)});
}

Result<void> lower_gelu(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const bool tanh, call.flag("approximate", false));
  return call.emit(Activation{tanh ? ActivationKind::kGeluTanh : ActivationKind::kGelu}, {x});
}

// silu(x) * y; without y both are halves of x.
Result<void> lower_swiglu(Call& call) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(ValueId y, call.optional_tensor("y"));
  if (y == kNoValue) {
    const auto halves = call.steps(Split{-1, {}}, {x}, 2, "half");
    x = halves[0];
    y = halves[1];
  }
  return call.emit(Binary{BinaryKind::kMul}, {call.step(Activation{ActivationKind::kSilu}, {x}, "gate"), y});
}

// softmax(x + mask); without a mask the upper triangle is left out, which is one more pass of the same size.
Result<void> lower_masked_softmax(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.optional_tensor("mask"));
  const ValueId masked = mask == kNoValue ? call.step(Triangle{}, {x}, "masked")
                                          : call.step(Binary{BinaryKind::kAdd}, {x, mask}, "masked");
  return call.emit(Softmax{-1, false}, {masked});
}

// Bounds are numbers, or tensors of one.
Result<void> lower_clip(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  for (const std::string_view bound : {"min", "max"}) {
    if (call.is<ValueId>(bound) && call.guess(x).element == ElementType::kUnknown)
      return unsupported("of unknown type");
  }
  return aten::lower_clamp(call);
}

Result<void> lower_quantized_of(Call& call, bool back) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId scale, call.tensor("scale"));
  JC_ASSIGN_OR_RETURN(const ValueId zero, call.optional_tensor("zero_point"));
  if (!call.declared(0) || call.declared(0)->element == ElementType::kUnknown) return unsupported("of unknown type");
  const ElementType to = call.declared(0)->element;
  if (back) return call.emit(Dequantize{to}, {x, scale, zero});
  return call.emit(Quantize{to}, {x, scale, zero});
}

}  // namespace joulecast::paddle
