// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

Result<Shape> joined(std::initializer_list<std::span<const std::int64_t>> parts) {
  Shape out;
  for (const auto part : parts) {
    for (const std::int64_t extent : part) {
      if (out.full()) return unsupported(fmt::format("the output has a rank of more than {}", kMaxRank));
      out.push_back(extent);
    }
  }
  return out;
}

// numpy.take: the axis is replaced by those of the indices.
Result<Shape> slices_shape(const Gather& op, const Shape& x, const Shape& indices) {
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, x.size()));
  return joined({x.span().first(axis), indices.span(), x.span().subspan(axis + 1)});
}

Result<Shape> elements_shape(const Gather& op, const Shape& x, const Shape& indices) {
  JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(op.axis, x.size()));
  bool fits = x.size() == indices.size();
  for (std::size_t i = 0; fits && i < x.size(); ++i) fits = i == axis || indices[i] <= x[i];
  if (fits) return indices;
  return invalid(fmt::format("indices {} do not fit {} beside axis {}", text(indices), text(x), axis));
}

// ONNX GatherND: the last axis of the indices holds positions in the axes after the first batch_axes of x.
Result<Shape> nd_shape(const Gather& op, const Shape& x, const Shape& indices) {
  const std::size_t least = std::min(x.size(), indices.size());
  if (indices.empty() || op.batch_axes < 0 || static_cast<std::size_t>(op.batch_axes) >= least) {
    return invalid(fmt::format("{} batch axes with input {} and indices {}", op.batch_axes, text(x), text(indices)));
  }
  const auto batch = static_cast<std::size_t>(op.batch_axes);
  const std::int64_t depth = indices.back();
  if (depth < 1 || depth > static_cast<std::int64_t>(x.size() - batch)) {
    return invalid(fmt::format("positions of {} axes in an input {}", depth, text(x)));
  }
  for (std::size_t i = 0; i < batch; ++i) {
    if (x[i] != indices[i]) return invalid(fmt::format("input {} and indices {} differ", text(x), text(indices)));
  }
  return joined({indices.span().first(indices.size() - 1), x.span().subspan(batch + static_cast<std::size_t>(depth))});
}

Result<Shape> output_shape(const Gather& op, const Shape& x, const Shape& indices) {
  if (op.kind == GatherKind::kSlices) return slices_shape(op, x, indices);
  if (op.kind == GatherKind::kElements) return elements_shape(op, x, indices);
  return nd_shape(op, x, indices);
}

// Shapes are taken apart by slices, so only these are followed. An index outside leaves the contents unknown.
void follow(const Gather& op, InferContext& context, const Shape& shape) {
  const Contents* indices = context.known(1);
  if (op.kind != GatherKind::kSlices || indices == nullptr || !followable_shape(shape)) return;
  const Shape& x = context.shape(0);
  const Shape& index_shape = context.shape(1);
  const std::size_t axis = *normalize_axis(op.axis, x.size());
  for (const std::int64_t index : indices->ints) {
    if (index < -x[axis] || index >= x[axis]) return;
  }
  follow_elements(context, 0, shape, [&](const Position& position) {
    Position from;
    for (std::size_t i = 0; i < axis; ++i) from.push_back(position[i]);
    Position at;
    for (std::size_t i = 0; i < index_shape.size(); ++i) at.push_back(position[axis + i]);
    const std::int64_t index = indices->ints[ravel(at, index_shape)];
    from.push_back(index < 0 ? index + x[axis] : index);
    for (std::size_t i = axis + index_shape.size(); i < position.size(); ++i) from.push_back(position[i]);
    return from;
  });
}

}  // namespace

Result<void> infer(const Gather& op, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_RETURN_IF_ERROR(context.require(1, "indices"));
  if (!is_integer(context.input(1).element)) return invalid("indices are not integers");
  JC_ASSIGN_OR_RETURN(const Shape shape, output_shape(op, context.shape(0), context.shape(1)));
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow(op, context, shape);
  return {};
}

// One fixed index is a view (torch's select). Else reads what it takes, not the whole of x; backward writes the whole
// gradient of x, zero but where elements were taken, and adds them there.
Cost cost(const Gather& op, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  if (op.kind == GatherKind::kSlices && context.input(1).shape.empty() && context.known(1) != nullptr) return cost;
  const TensorType& x = context.input(0);
  const TensorType& out = context.output();
  cost.forward_read = std::min(out.bytes(), x.bytes()) + context.input(1).bytes();
  cost.forward_written = out.bytes();
  if (!is_floating(x.element)) return cost;
  cost.backward_flops = Flops{static_cast<double>(out.elements())};
  cost.backward_read = out.bytes() + context.input(1).bytes();
  cost.backward_written = x.bytes();
  return cost;
}

}  // namespace joulecast
