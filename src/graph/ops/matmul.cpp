// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

// One operand as a stack of matrices. A vector is a row on the left, a column on the right (numpy.matmul); there is
// nothing to transpose in it.
struct Operand {
  Shape batch;
  std::int64_t rows = 1, columns = 1;
};

Operand operand(const Shape& shape, bool transpose, bool left) {
  if (shape.size() == 1) return left ? Operand{{}, 1, shape[0]} : Operand{{}, shape[0], 1};
  Operand out;
  for (std::size_t i = 0; i + 2 < shape.size(); ++i) out.batch.push_back(shape[i]);
  out.rows = shape[shape.size() - 2];
  out.columns = shape.back();
  if (transpose) std::swap(out.rows, out.columns);
  return out;
}

}  // namespace

Result<void> infer(const MatMul& op, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "a", 1));
  JC_RETURN_IF_ERROR(require_rank(context, 1, "b", 1));
  const Shape& a = context.shape(0);
  const Shape& b = context.shape(1);
  const Operand left = operand(a, op.transpose_a, true);
  const Operand right = operand(b, op.transpose_b, false);
  if (left.columns != right.rows) {
    return invalid(
        fmt::format("{} and {} do not multiply: {} columns meet {} rows", text(a), text(b), left.columns, right.rows));
  }
  JC_ASSIGN_OR_RETURN(Shape out, broadcast(left.batch, right.batch));
  if (a.size() > 1) out.push_back(left.rows);
  if (b.size() > 1) out.push_back(right.columns);
  return context.set(0, context.input(0).element, out);
}

// 2 flops for every product met by an output element. Backward is two products of the same size, one an operand.
Cost cost(const MatMul& op, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& out = context.output();
  const Operand left = operand(context.input(0).shape, op.transpose_a, true);
  cost.forward_flops = Flops{2.0 * static_cast<double>(out.elements()) * static_cast<double>(left.columns)};
  cost.forward_read = input_bytes(context);
  cost.forward_written = out.bytes();
  if (!is_floating(out.element)) return cost;
  cost.backward_flops = 2.0 * cost.forward_flops;
  cost.backward_read = 2.0 * out.bytes() + input_bytes(context);
  cost.backward_written = input_bytes(context);
  return cost;
}

}  // namespace joulecast
