// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

bool is_predicate(BinaryKind kind) {
  return (kind >= BinaryKind::kEqual && kind <= BinaryKind::kGreaterEqual) ||
         (kind >= BinaryKind::kAnd && kind <= BinaryKind::kXor);
}

std::optional<std::int64_t> divide(std::int64_t a, std::int64_t b) {
  if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
  return a / b;
}

// numpy's and ONNX's integer modulus: the sign of the divisor.
std::optional<std::int64_t> modulo(std::int64_t a, std::int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? std::nullopt : std::optional<std::int64_t>(0);
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

// The result where it is an integer that fits; nothing otherwise (the shape that needs it will say so).
std::optional<std::int64_t> evaluate(BinaryKind kind, std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  switch (kind) {
    case BinaryKind::kAdd:
      return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case BinaryKind::kSub:
      return __builtin_sub_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case BinaryKind::kMul:
      return __builtin_mul_overflow(a, b, &out) ? std::nullopt : std::optional(out);
    case BinaryKind::kDiv:
      return divide(a, b);
    case BinaryKind::kMod:
      return modulo(a, b);
    case BinaryKind::kMin:
      return std::min(a, b);
    case BinaryKind::kMax:
      return std::max(a, b);
    case BinaryKind::kEqual:
      return static_cast<std::int64_t>(a == b);
    case BinaryKind::kLess:
      return static_cast<std::int64_t>(a < b);
    case BinaryKind::kLessEqual:
      return static_cast<std::int64_t>(a <= b);
    case BinaryKind::kGreater:
      return static_cast<std::int64_t>(a > b);
    case BinaryKind::kGreaterEqual:
      return static_cast<std::int64_t>(a >= b);
    case BinaryKind::kAnd:
      return static_cast<std::int64_t>(a != 0 && b != 0);
    case BinaryKind::kOr:
      return static_cast<std::int64_t>(a != 0 || b != 0);
    default:
      return std::nullopt;
  }
}

// Exporters compute sizes and paddings in floating point too.
std::optional<double> evaluate(BinaryKind kind, double a, double b) {
  switch (kind) {
    case BinaryKind::kAdd:
      return a + b;
    case BinaryKind::kSub:
      return a - b;
    case BinaryKind::kMul:
      return a * b;
    case BinaryKind::kDiv:
      return b == 0.0 ? std::nullopt : std::optional(a / b);
    case BinaryKind::kMod:
      return b == 0.0 ? std::nullopt : std::optional(a - b * std::floor(a / b));
    case BinaryKind::kPow:
      return std::pow(a, b);
    case BinaryKind::kMin:
      return std::min(a, b);
    case BinaryKind::kMax:
      return std::max(a, b);
    default:
      return std::nullopt;
  }
}

// Every element of the result; nothing if one of them is not to be had.
template <typename T>
std::optional<std::vector<T>> evaluate_all(const Binary& op, const InferContext& context, const Shape& shape,
                                           const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> out;
  const auto elements = static_cast<std::size_t>(*checked_elements(shape));
  for (std::size_t i = 0; i < elements; ++i) {
    const auto value = evaluate(op.kind, a[broadcast_index(i, shape, context.shape(0))],
                                b[broadcast_index(i, shape, context.shape(1))]);
    if (!value) return std::nullopt;
    out.push_back(*value);
  }
  return out;
}

void follow(const Binary& op, InferContext& context, const Shape& shape) {
  const Contents* a = context.known(0);
  const Contents* b = context.known(1);
  const auto elements = checked_elements(shape);
  if (a == nullptr || b == nullptr || !elements || *elements > static_cast<std::int64_t>(kMaxKnownElements)) return;
  if (!a->ints.empty() && !b->ints.empty()) {
    if (auto ints = evaluate_all(op, context, shape, a->ints, b->ints)) context.set_known(0, {std::move(*ints), {}});
  } else if (!a->reals.empty() && !b->reals.empty()) {
    if (auto reals = evaluate_all(op, context, shape, a->reals, b->reals))
      context.set_known(0, {{}, std::move(*reals)});
  }
}

}  // namespace

Result<void> infer(const Binary& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "a"));
  JC_RETURN_IF_ERROR(context.require(1, "b"));
  JC_ASSIGN_OR_RETURN(const Shape shape, broadcast(context.shape(0), context.shape(1)));
  const ElementType element = is_predicate(op.kind) ? ElementType::kBool : promoted(context.input(0), context.input(1));
  JC_RETURN_IF_ERROR(context.set(0, element, shape));
  follow(op, context, shape);
  return {};
}

// The gradient of add and subtract needs nothing saved; that of products reads the other factor, but for a number,
// which needs no gradient and is not worth a read.
Cost cost(const Binary& op, const CostContext& context) {
  if (op.kind == BinaryKind::kAdd || op.kind == BinaryKind::kSub)
    return elementwise_cost(context, {.forward_steps = 1.0, .backward_steps = 0.0, .saved_reads = 0.0});
  const auto is_number = [&](std::size_t i) { return context.input(i).elements() == 1; };
  const bool divides = op.kind == BinaryKind::kDiv && is_number(1);
  const bool scales = op.kind == BinaryKind::kMul && (is_number(0) || is_number(1));
  if (divides || scales)
    return elementwise_cost(context, {.forward_steps = 1.0, .backward_steps = 1.0, .saved_reads = 0.0});
  return elementwise_cost(context, {.forward_steps = 1.0, .backward_steps = 2.0, .saved_reads = 2.0});
}

}  // namespace joulecast
