// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

// floor((in + pads - dilation * (kernel - 1) - 1) / stride) + 1, and its inverse for the transposed kind
// (PyTorch documentation of Conv2d and ConvTranspose2d).
Result<std::int64_t> output_extent(const Conv& op, std::size_t axis, std::int64_t in, std::int64_t kernel) {
  const std::int64_t stride = at(op.stride, axis, 1);
  const std::int64_t dilation = at(op.dilation, axis, 1);
  if (stride < 1 || dilation < 1)
    return invalid(fmt::format("stride and dilation of axis {} must be at least 1", axis));
  if (op.same_padding) return op.transposed ? in * stride : (in + stride - 1) / stride;
  const std::int64_t pads = at(op.padding_begin, axis, 0) + at(op.padding_end, axis, 0);
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  if (op.transposed) return (in - 1) * stride - pads + reach + at(op.output_padding, axis, 0);
  if (in + pads < reach) {
    return invalid(fmt::format("kernel reaches over {} elements of spatial axis {}, the input has {} with padding",
                               reach, axis, in + pads));
  }
  return (in + pads - reach) / stride + 1;
}

Result<void> check_channels(const Conv& op, const Shape& x, const Shape& weight) {
  if (x.size() < 3 || x.size() > 5) return invalid(fmt::format("input has rank {}, expected 3 to 5", x.size()));
  if (weight.size() != x.size()) {
    return invalid(fmt::format("weight {} and input {} differ in rank", text(weight), text(x)));
  }
  if (op.groups < 1) return invalid(fmt::format("groups is {}", op.groups));
  const std::int64_t channels = op.transposed ? weight[0] : weight[1] * op.groups;
  if (x[1] != channels) {
    return invalid(fmt::format("input has {} channels, weight {} with {} groups wants {}", x[1], text(weight),
                               op.groups, channels));
  }
  return {};
}

}  // namespace

Result<void> infer(const Conv& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_RETURN_IF_ERROR(context.require(1, "weight"));
  const Shape& x = context.shape(0);
  const Shape& weight = context.shape(1);
  JC_RETURN_IF_ERROR(check_channels(op, x, weight));
  Shape out{x[0], op.transposed ? weight[1] * op.groups : weight[0]};
  for (std::size_t i = 2; i < x.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const std::int64_t extent, output_extent(op, i - 2, x[i], weight[i]));
    out.push_back(extent);
  }
  return context.set(0, context.input(0).element, out);
}

// 2 flops for every weight an output (transposed: input) element meets. Backward is the gradient of the input and of
// the weight, each as much work as forward.
Cost cost(const Conv& op, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  const TensorType& x = context.input(0);
  const TensorType& weight = context.input(1);
  const TensorType& out = context.output();
  const auto anchors = static_cast<double>(op.transposed ? x.elements() : out.elements());
  const auto weights_met =
      static_cast<double>(weight.elements()) / static_cast<double>(std::max<std::int64_t>(1, weight.shape[0]));
  cost.forward_flops = Flops{2.0 * anchors * weights_met};
  cost.backward_flops = 2.0 * cost.forward_flops;
  cost.forward_read = input_bytes(context);
  cost.forward_written = out.bytes();
  cost.backward_read = 2.0 * out.bytes() + x.bytes() + weight.bytes();
  cost.backward_written = x.bytes() + weight.bytes();
  return cost;
}

}  // namespace joulecast
