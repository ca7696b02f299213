// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

// What floats do to integers beside them: torch computes in floats.
ValueId promoted(Call& call, ValueId x, ValueId other) {
  const ElementType own = call.guess(x).element;
  const ElementType wanted = call.guess(other).element;
  const bool converts = is_floating(wanted) && (is_integer(own) || own == ElementType::kBool);
  return converts ? call.step(Cast{wanted}, {x}, "float") : x;
}

struct Pair {
  ValueId a, b;
};

// self and other, one of which may be a number. A scale (alpha) is applied by the same kernel and costs nothing.
Result<Pair> operands(Call& call, std::string_view first, std::string_view second) {
  Pair out{};
  if (call.is<ValueId>(first)) {
    JC_ASSIGN_OR_RETURN(out.a, call.tensor(first));
    JC_ASSIGN_OR_RETURN(out.b, call.operand(second, out.a));
  } else {
    JC_ASSIGN_OR_RETURN(out.b, call.tensor(second));
    JC_ASSIGN_OR_RETURN(out.a, call.operand(first, out.b));
  }
  const Pair plain = out;
  out.a = promoted(call, plain.a, plain.b);
  out.b = promoted(call, plain.b, plain.a);
  return out;
}

}  // namespace

Result<void> lower_binary_of(Call& call, BinaryKind kind) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call, "self", "other"));
  return call.emit(Binary{kind}, {pair.a, pair.b});
}

Result<void> lower_not_equal(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call, "self", "other"));
  const ValueId equal = call.step(Binary{BinaryKind::kEqual}, {pair.a, pair.b}, "equal");
  return call.emit(Unary{UnaryKind::kNot}, {equal});
}

Result<void> lower_reverse_sub(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call, "self", "other"));
  return call.emit(Binary{BinaryKind::kSub}, {pair.b, pair.a});
}

namespace {

// Integers: (a - a mod b) / b, which can be followed and rounds down. Floats are rounded by one more operator.
Result<void> divide_rounded(Call& call, const Pair& pair, UnaryKind rounding) {
  if (is_floating(call.guess(pair.a).element) || is_floating(call.guess(pair.b).element)) {
    const ValueId quotient = call.step(Binary{BinaryKind::kDiv}, {pair.a, pair.b}, "quotient");
    return call.emit(Unary{rounding}, {quotient});
  }
  if (call.guess(pair.a).rank != 0U) return call.emit(Binary{BinaryKind::kDiv}, {pair.a, pair.b});
  const ValueId rest = call.step(Binary{BinaryKind::kMod}, {pair.a, pair.b}, "rest");
  const ValueId whole = call.step(Binary{BinaryKind::kSub}, {pair.a, rest}, "whole");
  return call.emit(Binary{BinaryKind::kDiv}, {whole, pair.b});
}

}  // namespace

// Without rounding the quotient of integers is a float.
Result<void> lower_divide(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::string_view rounding, call.text("rounding_mode", ""));
  JC_ASSIGN_OR_RETURN(Pair pair, operands(call, "self", "other"));
  if (!rounding.empty()) return divide_rounded(call, pair, UnaryKind::kFloor);
  if (is_integer(call.guess(pair.a).element) && is_integer(call.guess(pair.b).element)) {
    pair.a = call.step(Cast{ElementType::kFloat32}, {pair.a}, "float");
    pair.b = call.step(Cast{ElementType::kFloat32}, {pair.b}, "float");
  }
  return call.emit(Binary{BinaryKind::kDiv}, {pair.a, pair.b});
}

Result<void> lower_floor_divide(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, operands(call, "self", "other"));
  return divide_rounded(call, pair, UnaryKind::kFloor);
}

Result<void> lower_where(Call& call) {
  if (!call.has("self")) return call.opaque();  // the places where it is true: as many as there are
  JC_ASSIGN_OR_RETURN(const ValueId condition, call.tensor("condition"));
  const std::string_view typed = call.is<ValueId>("self") ? "self" : "other";
  ValueId like = kNoValue;
  if (call.is<ValueId>(typed)) {
    JC_ASSIGN_OR_RETURN(like, call.tensor(typed));
  }
  JC_ASSIGN_OR_RETURN(const ValueId a, call.operand("self", like));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.operand("other", like));
  return call.emit(Where{}, {condition, a, b});
}

Result<void> lower_masked_fill(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.tensor("mask"));
  JC_ASSIGN_OR_RETURN(const ValueId value, call.operand("value", x));
  const bool in_place = call.target().find("masked_fill_") != std::string::npos;
  return call.emit(Where{.filled = !in_place}, {mask, value, x});
}

// self + weight * (end - self)
Result<void> lower_lerp(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId end, call.tensor("end"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.operand("weight", x));
  const ValueId way = call.step(Binary{BinaryKind::kSub}, {end, x}, "way");
  const ValueId part = call.step(Binary{BinaryKind::kMul}, {weight, way}, "part");
  return call.emit(Binary{BinaryKind::kAdd}, {x, part});
}

// addcmul, addcdiv: self + value * tensor1 (times or by) tensor2.
Result<void> lower_add_product(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId a, call.tensor("tensor1"));
  JC_ASSIGN_OR_RETURN(const ValueId b, call.tensor("tensor2"));
  const bool divides = call.target().find("addcdiv") != std::string::npos;
  const ValueId product = call.step(Binary{divides ? BinaryKind::kDiv : BinaryKind::kMul}, {a, b}, "product");
  return call.emit(Binary{BinaryKind::kAdd}, {x, product});
}

namespace {

Result<void> cast_to(Call& call, ValueId x, ElementType to) {
  if (to == ElementType::kUnknown || to == call.guess(x).element) return call.alias(0, x);
  return call.emit(Cast{to}, {x});
}

}  // namespace

// To another element type, device or layout; all but the first cost nothing here.
Result<void> lower_to(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  if (call.is<ValueId>("other")) {
    JC_ASSIGN_OR_RETURN(const ValueId other, call.tensor("other"));
    return cast_to(call, x, call.guess(other).element);
  }
  if (!call.is<ElementType>("dtype")) return call.alias(0, x);
  JC_ASSIGN_OR_RETURN(const ElementType to, call.element("dtype", ElementType::kUnknown));
  return cast_to(call, x, to);
}

Result<void> lower_type_as(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId other, call.tensor("other"));
  return cast_to(call, x, call.guess(other).element);
}

Result<void> lower_identity(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.alias(0, x);
}

// self.copy_(src): what self holds from then on.
Result<void> lower_copy(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId source, call.operand("src", x));
  const ValueId shape = call.step(ShapeOf{}, {x}, "shape");
  const ElementType to = call.guess(x).element;
  if (to == ElementType::kUnknown || to == call.guess(source).element) return call.emit(Expand{}, {source, shape});
  return call.emit(Expand{}, {call.step(Cast{to}, {source}, "cast"), shape});
}

// In eval mode nothing is dropped.
Result<void> lower_dropout(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const double probability, call.real("p", 0.5));
  JC_ASSIGN_OR_RETURN(const bool train, call.flag("train", true));
  if (!(probability >= 0.0 && probability <= 1.0)) return call.wrong("p", "is not between 0 and 1");
  if (!call.used(1) && (!train || probability == 0.0)) return call.alias(0, x);
  return call.emit(Dropout{probability}, {x}, 2);
}

// Assertions and the like: nothing is computed.
Result<void> lower_nothing(Call& /*call*/) {
  return {};
}

// One kernel in torch; ONNX has no such operator either.
Result<void> lower_log_base_two(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.emit(Unary{UnaryKind::kLog}, {x});
}

}  // namespace joulecast::aten
