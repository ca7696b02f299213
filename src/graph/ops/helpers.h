// SPDX-License-Identifier: Apache-2.0
// What several operators share: traffic of elementwise work, integer arithmetic on known contents.
#pragma once

#include "graph/infer_context.h"

namespace joulecast {

// Bytes of all inputs that are there, parameters included.
Bytes input_bytes(const CostContext& context);
Bytes output_bytes(const CostContext& context);

// Forward reads every input once and writes every output once, `steps` flops an output element. Backward reads the
// output's gradient and `saved_reads` tensors of its size, and writes a gradient for every floating input.
struct ElementwiseTraffic {
  double forward_steps = 1.0, backward_steps = 1.0;
  double saved_reads = 1.0;
};
Cost elementwise_cost(const CostContext& context, const ElementwiseTraffic& traffic);

// Entry i of a list that may leave off its usual end.
inline std::int64_t at(const Extents& list, std::size_t i, std::int64_t absent) {
  return i < list.size() ? list[i] : absent;
}

// Adds the parameters among the inputs to `cost`: their bytes and their number.
void count_parameters(const CostContext& context, Cost& cost);

// True where all extents and contents are small enough to follow.
inline bool followable(const TensorType& type) {
  return (is_integer(type.element) || type.element == ElementType::kBool) &&
         type.elements() <= static_cast<std::int64_t>(kMaxKnownElements);
}

// The element of `from` that element `i` of `shape` reads, where `from` was broadcast to `shape`.
// Requires: shape has an element i, so no extent is 0.
inline std::size_t broadcast_index(std::size_t i, const Shape& shape, const Shape& from) {
  std::size_t out = 0;
  std::size_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    const std::size_t position = i % extent;
    i /= extent;
    const std::size_t offset = shape.size() - from.size();
    if (axis < offset) continue;
    const auto own = static_cast<std::size_t>(from[axis - offset]);
    if (own != 1) out += position * stride;
    stride *= own;
  }
  return out;
}

}  // namespace joulecast
