// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "graph/ops/checks.h"
#include "graph/ops/helpers.h"

namespace joulecast {

Result<void> infer(const Embedding&, InferContext& context) {
  JC_RETURN_IF_ERROR(require_rank(context, 0, "table", 2, 2));
  JC_RETURN_IF_ERROR(require_rank(context, 1, "indices", 0, kMaxRank - 1));
  if (is_floating(context.input(1).element)) return invalid("indices are not integers");
  Shape out = context.shape(1);
  out.push_back(context.shape(0)[1]);
  return context.set(0, context.input(0).element, out);
}

// A copy of rows: no flops. Reads the rows that are touched, at most all of them, and the indices. Backward adds up the
// rows (one flop an element of the gradient) into a dense gradient of the whole table, PyTorch's default.
Cost cost(const Embedding&, const CostContext& context) {
  Cost cost;
  count_parameters(context, cost);
  if (!context.has_output(0)) return cost;
  const TensorType& table = context.input(0);
  const TensorType& indices = context.input(1);
  const TensorType& out = context.output();
  cost.forward_read = std::min(out.bytes(), table.bytes()) + indices.bytes();
  cost.forward_written = out.bytes();
  if (!is_floating(table.element)) return cost;
  cost.backward_flops = Flops{static_cast<double>(out.elements())};
  cost.backward_read = out.bytes() + indices.bytes();
  cost.backward_written = table.bytes();
  return cost;
}

}  // namespace joulecast
