// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"
#include "graph/ops/pooling.h"

namespace joulecast {
namespace {

// Far more than any network has, and small enough that no sum or product of two overflows.
constexpr std::int64_t kMaxWindow = std::int64_t{1} << 30;

Result<void> check_window(const Pool& op, std::size_t axis) {
  const auto within = [&](std::int64_t value, std::int64_t least) { return value >= least && value <= kMaxWindow; };
  if (!within(op.kernel[axis], 1) || !within(at(op.stride, axis, 1), 1) || !within(at(op.dilation, axis, 1), 1)) {
    return invalid(
        fmt::format("kernel, stride and dilation of spatial axis {} must be from 1 to {}", axis, kMaxWindow));
  }
  if (!within(at(op.padding_begin, axis, 0), 0) || !within(at(op.padding_end, axis, 0), 0)) {
    return invalid(fmt::format("padding of spatial axis {} must be from 0 to {}", axis, kMaxWindow));
  }
  return {};
}

// PyTorch's pooling_output_shape (aten/src/ATen/native/Pool.h): with ceil_mode the last window must start inside the
// input or the padding before it.
Result<std::int64_t> output_extent(const Pool& op, std::size_t axis, std::int64_t in) {
  JC_RETURN_IF_ERROR(check_window(op, axis));
  const std::int64_t stride = at(op.stride, axis, 1);
  if (op.same_padding) return (in + stride - 1) / stride;
  const std::int64_t begin = at(op.padding_begin, axis, 0);
  const std::int64_t padded = in + begin + at(op.padding_end, axis, 0);
  const std::int64_t reach = at(op.dilation, axis, 1) * (op.kernel[axis] - 1) + 1;
  const std::int64_t slack = padded - reach + (op.ceil_mode ? stride - 1 : 0);
  if (slack < 0) {
    return invalid(fmt::format("kernel reaches over {} elements of spatial axis {}, the input has {} with padding",
                               reach, axis, padded));
  }
  std::int64_t out = slack / stride + 1;
  if (op.ceil_mode && (out - 1) * stride >= in + begin) --out;
  if (out < 1) return invalid(fmt::format("nothing is left of spatial axis {}, which has {} elements", axis, in));
  return out;
}

double window(const Pool& op) {
  double volume = 1.0;
  for (const std::int64_t extent : op.kernel) volume *= static_cast<double>(extent);
  return volume;
}

}  // namespace

Result<void> infer(const Pool& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", 3, 5));
  const TensorType& x = context.input(0);
  if (op.kernel.size() + 2 != x.shape.size()) {
    return invalid(fmt::format("kernel has {} entries for {} spatial axes", op.kernel.size(), x.shape.size() - 2));
  }
  Shape out{x.shape[0], x.shape[1]};
  for (std::size_t i = 2; i < x.shape.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const std::int64_t extent, output_extent(op, i - 2, x.shape[i]));
    out.push_back(extent);
  }
  return set_pooled(op.kind, out, context);
}

Cost cost(const Pool& op, const CostContext& context) {
  if (!context.has_output(0)) return {};
  return pooling_cost(op.kind, window(op) * static_cast<double>(context.output().elements()), context);
}

}  // namespace joulecast
