// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

bool is_predicate(UnaryKind kind) {
  return kind == UnaryKind::kNot || kind == UnaryKind::kIsNan || kind == UnaryKind::kIsInf;
}

// Steps: their gradient is zero everywhere.
bool is_step(UnaryKind kind) {
  return kind == UnaryKind::kSign || kind == UnaryKind::kFloor || kind == UnaryKind::kCeil ||
         kind == UnaryKind::kRound || kind == UnaryKind::kBitwiseNot;
}

// What the integer arithmetic of shapes may contain; nothing where the result is no integer or does not fit.
std::optional<std::int64_t> evaluate(UnaryKind kind, std::int64_t x) {
  const bool negatable = x != std::numeric_limits<std::int64_t>::min();
  switch (kind) {
    case UnaryKind::kNeg:
      return negatable ? std::optional(-x) : std::nullopt;
    case UnaryKind::kAbs:
      return negatable ? std::optional(x < 0 ? -x : x) : std::nullopt;
    case UnaryKind::kSign:
      return static_cast<std::int64_t>(x > 0) - static_cast<std::int64_t>(x < 0);
    case UnaryKind::kFloor:
    case UnaryKind::kCeil:
    case UnaryKind::kRound:
      return x;
    case UnaryKind::kNot:
      return static_cast<std::int64_t>(x == 0);
    case UnaryKind::kBitwiseNot:
      return ~x;
    case UnaryKind::kSquare:
      return checked_product(x, x);
    default:
      return std::nullopt;
  }
}

// Exporters compute sizes of resizes in floating point.
std::optional<double> evaluate(UnaryKind kind, double x) {
  switch (kind) {
    case UnaryKind::kNeg:
      return -x;
    case UnaryKind::kAbs:
      return std::fabs(x);
    case UnaryKind::kFloor:
      return std::floor(x);
    case UnaryKind::kCeil:
      return std::ceil(x);
    case UnaryKind::kRound:
      return std::nearbyint(x);  // half to even, as ONNX and PyTorch have it
    case UnaryKind::kSqrt:
      return std::sqrt(x);
    case UnaryKind::kReciprocal:
      return x == 0.0 ? std::nullopt : std::optional(1.0 / x);
    default:
      return std::nullopt;
  }
}

template <typename T>
bool evaluate_all(UnaryKind kind, const std::vector<T>& from, std::vector<T>& to) {
  for (const T x : from) {
    const auto value = evaluate(kind, x);
    if (!value) return false;
    to.push_back(*value);
  }
  return true;
}

void follow(const Unary& op, InferContext& context) {
  const Contents* x = context.known(0);
  if (x == nullptr || x->ints.size() > kMaxKnownElements || x->reals.size() > kMaxKnownElements) return;
  Contents out;
  if (!evaluate_all(op.kind, x->ints, out.ints) || !evaluate_all(op.kind, x->reals, out.reals)) return;
  context.set_known(0, std::move(out));
}

}  // namespace

Result<void> infer(const Unary& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  const TensorType& x = context.input(0);
  JC_RETURN_IF_ERROR(context.set(0, is_predicate(op.kind) ? ElementType::kBool : x.element, x.shape));
  follow(op, context);
  return {};
}

// One flop an element whichever function it is, exponentials and sines included. Backward is 2 (the derivative, times
// the gradient) and reads the input or output; 1 and nothing for a change of sign; steps write zeros only.
Cost cost(const Unary& op, const CostContext& context) {
  if (op.kind == UnaryKind::kNeg) return elementwise_cost(context, {.backward_steps = 1.0, .saved_reads = 0.0});
  if (!is_step(op.kind)) return elementwise_cost(context, {.backward_steps = 2.0, .saved_reads = 1.0});
  Cost cost = elementwise_cost(context, {.backward_steps = 0.0, .saved_reads = 0.0});
  cost.backward_read = Bytes{};
  return cost;
}

}  // namespace joulecast
