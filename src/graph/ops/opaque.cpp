// SPDX-License-Identifier: Apache-2.0
#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"

namespace joulecast {
namespace {

// An extent nobody tells: that of the first input where the axes correspond (the batch, or all of equally many axes).
Shape completed(const Shape& declared, const Shape& first) {
  Shape out;
  for (std::size_t i = 0; i < declared.size(); ++i) {
    const bool corresponds = i < first.size() && (i == 0 || first.size() == declared.size());
    const std::int64_t unknown = corresponds ? first[i] : 1;
    out.push_back(declared[i] < 0 ? unknown : declared[i]);
  }
  return out;
}

}  // namespace

Result<void> infer(const Opaque& op, InferContext& context) {
  TensorType first;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has(i)) continue;
    first = context.input(i);
    break;
  }
  for (std::size_t i = 0; i < context.output_count(); ++i) {
    TensorType type = i < op.output_types.size() ? op.output_types[i] : first;
    if (type.element == ElementType::kUnknown) type.element = first.element;
    JC_RETURN_IF_ERROR(context.set(i, type.element, completed(type.shape, first.shape)));
  }
  return {};
}

// What it computes nobody knows; it reads its inputs and writes its outputs, and so does its gradient the other way.
Cost cost(const Opaque&, const CostContext& context) {
  return copy_cost(context, input_bytes(context), output_bytes(context));
}

}  // namespace joulecast
