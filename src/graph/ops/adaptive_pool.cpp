// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const AdaptivePool& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 3, 5));
  const TensorType& x = context.input(0);
  if (op.size.size() + 2 != x.shape.size()) {
    return invalid(fmt::format("size has {} entries for {} spatial axes", op.size.size(), x.shape.size() - 2));
  }
  if (op.kind != PoolKind::kMax && context.output_count() > 1) return invalid("only max pooling has indices");
  Shape out{x.shape[0], x.shape[1]};
  for (const std::int64_t extent : op.size) {
    if (extent < 1) return invalid(fmt::format("size has an extent of {}", extent));
    out.push_back(extent);
  }
  JC_RETURN_IF_ERROR(context.set(0, x.element, out));
  return context.set(1, ElementType::kInt64, out);
}

namespace {

// Window i of an axis is floor(i * in / out) to ceil((i + 1) * in / out) (PyTorch, AdaptivePooling.h). Neighbours share
// an element unless `out` divides i * in, so all together they hold in + out - gcd(in, out) elements.
double window_elements(std::int64_t in, std::int64_t out) {
  return static_cast<double>(in + out - std::gcd(in, out));
}

}  // namespace

// One flop for every element of every window, 2 for Lp. Max pooling saves int64 places like Pool.
Cost cost(const AdaptivePool& op, const CostContext& context) {
  Cost cost;
  if (!context.has_output(0)) return cost;
  const TensorType& x = context.input(0);
  const TensorType& out = context.output();
  double met = static_cast<double>(x.shape[0]) * static_cast<double>(x.shape[1]);
  for (std::size_t i = 2; i < x.shape.size(); ++i) met *= window_elements(x.shape[i], out.shape[i]);
  const auto outputs = static_cast<double>(out.elements());
  cost.forward_flops = Flops{op.kind == PoolKind::kLp ? 2.0 * met : met};
  cost.forward_read = x.bytes();
  cost.forward_written = output_bytes(context);
  if (!is_floating(x.element)) return cost;
  cost.backward_written = x.bytes();
  cost.backward_flops = op.kind == PoolKind::kMax ? Flops{outputs} : cost.forward_flops;
  cost.backward_read = out.bytes();
  const Bytes places{8.0 * outputs};
  if (op.kind == PoolKind::kMax) cost.backward_read += places;
  if (op.kind == PoolKind::kMax && !context.has_output(1)) cost.saved = places;
  if (op.kind == PoolKind::kLp) cost.backward_read += x.bytes() + out.bytes();
  return cost;
}

}  // namespace joulecast
