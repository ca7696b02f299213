// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "graph/ops/checks.h"
#include "graph/ops/pooling.h"

namespace joulecast {

Result<void> infer(const AdaptivePool& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 3, 5));
  const TensorType& x = context.input(0);
  if (op.size.size() + 2 != x.shape.size()) {
    return invalid(fmt::format("size has {} entries for {} spatial axes", op.size.size(), x.shape.size() - 2));
  }
  Shape out{x.shape[0], x.shape[1]};
  for (const std::int64_t extent : op.size) {
    if (extent < 1) return invalid(fmt::format("size has an extent of {}", extent));
    out.push_back(extent);
  }
  return set_pooled(op.kind, out, context);
}

namespace {

// Window i of an axis is floor(i * in / out) to ceil((i + 1) * in / out) (PyTorch, AdaptivePooling.h). Neighbours share
// an element unless `out` divides i * in, so all together they hold in + out - gcd(in, out) elements.
double window_elements(std::int64_t in, std::int64_t out) {
  return static_cast<double>(in + out - std::gcd(in, out));
}

}  // namespace

Cost cost(const AdaptivePool& op, const CostContext& context) {
  if (!context.has_output(0)) return {};
  const Shape& x = context.input(0).shape;
  const Shape& out = context.output().shape;
  double met = static_cast<double>(x[0]) * static_cast<double>(x[1]);
  for (std::size_t i = 2; i < x.size(); ++i) met *= window_elements(x[i], out[i]);
  return pooling_cost(op.kind, met, context);
}

}  // namespace joulecast
