// SPDX-License-Identifier: Apache-2.0
#include "predict/lower_rms_norm.h"

#include <algorithm>

namespace joulecast {

void rms_norm_by_hand(const RmsNorm& op, const CostContext& context, Mode mode, std::vector<LoweredOperation>& out) {
  constexpr std::int64_t kFloat = 4;
  const TensorType& x = context.input(0);
  const std::size_t axes = std::min(x.shape.size(), static_cast<std::size_t>(std::max<std::int64_t>(1, op.axes)));
  std::int64_t columns = 1;
  for (std::size_t i = x.shape.size() - axes; i < x.shape.size(); ++i) columns *= x.shape[i];
  const std::int64_t all = x.elements(), size = element_bytes(x);
  const std::int64_t rows = all / std::max<std::int64_t>(1, columns);
  const auto over = [&](PointwiseKind kind, std::int64_t elements, std::int64_t forward, std::int64_t backward) {
    out.push_back({PointwiseWork{.kind = kind,
                                 .elements = elements,
                                 .forward_bytes = forward * elements,
                                 .backward_bytes = backward * elements},
                   1, 1});
  };
  if (size < kFloat) over(PointwiseKind::kCopy, all, size + kFloat, size + kFloat);
  // Its gradient: x to the power of 1, twice that, and times what comes back.
  over(PointwiseKind::kMulScalar, all, 2 * kFloat, 7 * kFloat);
  out.push_back({ReductionWork{.kind = ReductionKind::kReduce,
                               .in_elements = all,
                               .out_elements = rows,
                               .rows = rows,
                               .columns = columns,
                               .element_bytes = kFloat,
                               .gradient = mode == Mode::kTraining ? ReductionGradient::kOneKernel
                                                                   : ReductionGradient::kTwoKernels},
                 1, 1});
  over(PointwiseKind::kAddScalar, rows, 2 * kFloat, 0);
  over(PointwiseKind::kTanh, rows, 2 * kFloat, 3 * kFloat);
  // Both factors' gradients, one of them summed over rows, and the sum of both ways to x.
  over(PointwiseKind::kMul, all, 2 * kFloat, 9 * kFloat);
  if (size < kFloat) over(PointwiseKind::kCopy, all, size + kFloat, size + kFloat);
  if (context.has(1)) over(PointwiseKind::kMul, all, 2 * size, 6 * size);
}

}  // namespace joulecast
