// SPDX-License-Identifier: Apache-2.0
// Follows known contents through operators that move elements about, and the traffic of those operators.
#pragma once

#include <optional>
#include <utility>

#include "graph/infer_context.h"

namespace joulecast {

// Where an element is: one index an axis.
using Position = Shape;

Position unravel(std::size_t i, const Shape& shape);
// Requires: the position is within the shape.
std::size_t ravel(const Position& position, const Shape& shape);

// True where the tensor is small enough to follow its contents.
bool followable_shape(const Shape& shape);
// Appends element i of `from`, integer or real.
void append_element(Contents& out, const Contents& from, std::size_t i);

// Sets the contents of output `i`, whose element at each position is the element of input 0 at source(position); does
// nothing where these are not known.
template <typename Source>
void follow_elements(InferContext& context, std::size_t i, const Shape& shape, Source&& source) {
  const Contents* from = context.known(0);
  if (from == nullptr || !followable_shape(shape)) return;
  Contents out;
  const auto count = static_cast<std::size_t>(*checked_elements(shape));
  for (std::size_t at = 0; at < count; ++at) {
    append_element(out, *from, ravel(source(unravel(at, shape)), context.shape(0)));
  }
  context.set_known(i, std::move(out));
}
// The same elements in the same order: views that only change the shape.
void follow_unchanged(InferContext& context);

// Axes that an input or else an attribute gives, from the front, each at most once. Fails where they depend on data.
Result<InlineVector<std::size_t, kMaxRank>> distinct_axes(std::span<const std::int64_t> axes, std::size_t rank);

// Kernels that only move: read forward and written forward; backward the gradient takes the way back.
Cost copy_cost(const CostContext& context, Bytes read, Bytes written);

}  // namespace joulecast
