// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

using AxisSet = std::array<bool, kMaxRank>;

// Which axes go. Without any, all of them, or none.
Result<AxisSet> reduced_axes(const Reduce& op, const InferContext& context) {
  std::span<const std::int64_t> axes = op.axes;
  if (context.has(1)) {
    JC_ASSIGN_OR_RETURN(axes, context.ints(1, "axes"));
  }
  AxisSet out{};
  if (axes.empty()) {
    out.fill(!op.noop_with_empty_axes);
    return out;
  }
  const std::size_t rank = context.shape(0).size();
  for (const std::int64_t axis : axes) {
    // PyTorch treats a scalar as a vector of one.
    JC_ASSIGN_OR_RETURN(const std::size_t at, normalize_axis(axis, std::max<std::size_t>(rank, 1)));
    if (out[at]) return invalid(fmt::format("axis {} is given twice", axis));
    out[at] = true;
  }
  return out;
}

ElementType result_element(ReduceKind kind, ElementType x) {
  switch (kind) {
    case ReduceKind::kArgMax:
    case ReduceKind::kArgMin:
      return ElementType::kInt64;
    case ReduceKind::kAny:
    case ReduceKind::kAll:
      return ElementType::kBool;
    default:
      return x;
  }
}

struct Fold {
  std::int64_t start;
  std::optional<std::int64_t> (*combine)(std::int64_t, std::int64_t);
};

std::optional<std::int64_t> add(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::nullopt : std::optional(out);
}
std::optional<std::int64_t> larger(std::int64_t a, std::int64_t b) {
  return std::max(a, b);
}
std::optional<std::int64_t> smaller(std::int64_t a, std::int64_t b) {
  return std::min(a, b);
}
std::optional<std::int64_t> either(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(a != 0 || b != 0);
}
std::optional<std::int64_t> both(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(a != 0 && b != 0);
}

// What the integer arithmetic of shapes may contain.
std::optional<Fold> fold_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return Fold{0, add};
    case ReduceKind::kProd:
      return Fold{1, checked_product};
    case ReduceKind::kMax:
      return Fold{std::numeric_limits<std::int64_t>::min(), larger};
    case ReduceKind::kMin:
      return Fold{std::numeric_limits<std::int64_t>::max(), smaller};
    case ReduceKind::kAny:
      return Fold{0, either};
    case ReduceKind::kAll:
      return Fold{1, both};
    default:
      return std::nullopt;
  }
}

// The output element that element i of x goes into.
std::size_t target_index(std::size_t i, const Shape& x, const AxisSet& reduced) {
  std::size_t out = 0;
  std::size_t stride = 1;
  for (std::size_t axis = x.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(x[axis]);
    if (!reduced[axis]) {
      out += i % extent * stride;
      stride *= extent;
    }
    i /= extent;
  }
  return out;
}

void follow(const Reduce& op, InferContext& context, const AxisSet& reduced, const Shape& out_shape) {
  const Contents* x = context.known(0);
  const auto fold = fold_of(op.kind);
  if (x == nullptr || !fold || !followable(context.input(0))) return;
  const auto elements = checked_elements(out_shape);
  if (!elements || *elements > static_cast<std::int64_t>(kMaxKnownElements)) return;
  // The largest of nothing is an error, not the start value.
  if (x->ints.empty() && (op.kind == ReduceKind::kMax || op.kind == ReduceKind::kMin)) return;
  Contents out;
  out.ints.assign(static_cast<std::size_t>(*elements), fold->start);
  for (std::size_t i = 0; i < x->ints.size(); ++i) {
    std::int64_t& target = out.ints[target_index(i, context.shape(0), reduced)];
    const auto value = fold->combine(target, x->ints[i]);
    if (!value) return;
    target = *value;
  }
  context.set_known(0, std::move(out));
}

}  // namespace

Result<void> infer(const Reduce& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const AxisSet reduced, reduced_axes(op, context));
  const TensorType& x = context.input(0);
  Shape out;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (!reduced[i]) out.push_back(x.shape[i]);
    if (reduced[i] && op.keep_axes) out.push_back(1);
  }
  JC_RETURN_IF_ERROR(context.set(0, result_element(op.kind, x.element), out));
  follow(op, context, reduced, out);
  return {};
}

namespace {

struct ReduceWork {
  double forward = 1.0, backward = 1.0;  // flops an input element
  bool reads_x = true;                   // backward needs the input (and the output) again
};

ReduceWork work_of(ReduceKind kind) {
  switch (kind) {
    case ReduceKind::kSum:
      return {1.0, 0.0, false};
    case ReduceKind::kMean:
      return {1.0, 1.0, false};
    case ReduceKind::kL1:
    case ReduceKind::kL2:
    case ReduceKind::kSumSquare:
      return {2.0, 2.0, true};
    case ReduceKind::kLogSumExp:
      return {4.0, 3.0, true};  // maximum, subtraction, exponential, sum; subtraction, exponential, product
    default:
      return {1.0, 2.0, true};
  }
}

}  // namespace

// Counted an input element: a comparison, addition or product is 1; norms and squares 2; log-sum-exp 4.
Cost cost(const Reduce& op, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& x = context.input(0);
  const TensorType& out = context.output();
  const ReduceWork work = work_of(op.kind);
  const auto elements = static_cast<double>(x.elements());
  cost.forward_flops = Flops{work.forward * elements};
  cost.forward_read = x.bytes();
  cost.forward_written = out.bytes();
  if (!is_floating(out.element)) return cost;
  cost.backward_flops = Flops{work.backward * elements};
  cost.backward_read = out.bytes();
  if (work.reads_x) cost.backward_read += x.bytes() + out.bytes();
  cost.backward_written = x.bytes();
  return cost;
}

}  // namespace joulecast
