// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/ops/norm.h"

namespace joulecast {
namespace {

// x with the normalised axes reduced to 1: the shape of the statistics.
Shape statistics(const LayerNorm& op, const Shape& x) {
  Shape out = x;
  if (op.channels_first) {
    out[1] = 1;
    return out;
  }
  for (std::size_t i = x.size() - static_cast<std::size_t>(op.axes); i < x.size(); ++i) out[i] = 1;
  return out;
}

}  // namespace

Result<void> infer(const LayerNorm& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "x", op.channels_first ? 2 : 1));
  const TensorType& x = context.input(0);
  if (op.channels_first) {
    JC_RETURN_IF_ERROR(check_channel_vectors(context, 1, 2));
  } else {
    if (op.axes < 1 || op.axes > static_cast<std::int64_t>(x.shape.size())) {
      return invalid(fmt::format("normalises {} axes of an input of rank {}", op.axes, x.shape.size()));
    }
    JC_RETURN_IF_ERROR(expect_broadcast(context, 1, "scale", x.shape));
    JC_RETURN_IF_ERROR(expect_broadcast(context, 2, "shift", x.shape));
  }
  // ONNX's mean and 1/deviation.
  for (std::size_t i = 1; i < context.output_count(); ++i) {
    JC_RETURN_IF_ERROR(context.set(i, x.element, statistics(op, x.shape)));
  }
  return context.set(0, x.element, x.shape);
}

Cost cost(const LayerNorm& op, const CostContext& context) {
  const TensorType rows{ElementType::kFloat32, statistics(op, context.input(0).shape)};
  return mean_variance_cost(context, static_cast<double>(rows.elements()));
}

}  // namespace joulecast
