// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

struct Pair {
  ValueId a, b;
};

Result<Pair> read_pair(Call& call) {
  Pair out{};
  JC_ASSIGN_OR_RETURN(out.a, call.operand("a", kNoValue));
  JC_ASSIGN_OR_RETURN(out.b, call.operand("b", kNoValue));
  return out;
}

}  // namespace

Result<void> lower_scalar_binary_of(Call& call, BinaryKind kind) {
  JC_ASSIGN_OR_RETURN(const Pair pair, read_pair(call));
  return call.emit(Binary{kind}, {pair.a, pair.b});
}

Result<void> lower_scalar_not_equal(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, read_pair(call));
  return call.emit(Unary{UnaryKind::kNot}, {call.step(Binary{BinaryKind::kEqual}, {pair.a, pair.b}, "equal")});
}

// Rounds down, also below zero: (a - a mod b) / b.
Result<void> lower_scalar_floor_divide(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, read_pair(call));
  const ValueId rest = call.step(Binary{BinaryKind::kMod}, {pair.a, pair.b}, "rest");
  const ValueId whole = call.step(Binary{BinaryKind::kSub}, {pair.a, rest}, "whole");
  return call.emit(Binary{BinaryKind::kDiv}, {whole, pair.b});
}

Result<void> lower_scalar_divide(Call& call) {
  JC_ASSIGN_OR_RETURN(const Pair pair, read_pair(call));
  const ValueId a = call.step(Cast{ElementType::kFloat64}, {pair.a}, "float");
  const ValueId b = call.step(Cast{ElementType::kFloat64}, {pair.b}, "float");
  return call.emit(Binary{BinaryKind::kDiv}, {a, b});
}

// trunc, sym_int.
Result<void> lower_scalar_whole(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.operand("a", kNoValue));
  return call.emit(Cast{ElementType::kInt64}, {x});
}

Result<void> lower_scalar_float(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.operand("a", kNoValue));
  return call.emit(Cast{ElementType::kFloat64}, {x});
}

Result<void> lower_scalar_ite(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId condition, call.operand("a", kNoValue));
  JC_ASSIGN_OR_RETURN(const ValueId yes, call.operand("b", kNoValue));
  JC_ASSIGN_OR_RETURN(const ValueId no, call.operand("c", kNoValue));
  return call.emit(Where{}, {condition, yes, no});
}

Result<void> lower_scalar_identity(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.operand("a", kNoValue));
  return call.alias(0, x);
}

}  // namespace joulecast::aten
