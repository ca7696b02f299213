// SPDX-License-Identifier: Apache-2.0
#include "graph/ops/known.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/ops/helpers.h"

namespace joulecast {

Position unravel(std::size_t i, const Shape& shape) {
  Position position(shape.size(), 0);
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    position[axis] = static_cast<std::int64_t>(i % extent);
    i /= extent;
  }
  return position;
}

std::size_t ravel(const Position& position, const Shape& shape) {
  std::size_t i = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    i = i * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(position[axis]);
  }
  return i;
}

bool followable_shape(const Shape& shape) {
  const auto elements = checked_elements(shape);
  return elements && *elements <= static_cast<std::int64_t>(kMaxKnownElements);
}

void append_element(Contents& out, const Contents& from, std::size_t i) {
  if (i < from.ints.size()) out.ints.push_back(from.ints[i]);
  if (i < from.reals.size()) out.reals.push_back(from.reals[i]);
}

void follow_unchanged(InferContext& context) {
  if (const Contents* contents = context.known(0)) context.set_known(0, *contents);
}

Result<InlineVector<std::size_t, kMaxRank>> distinct_axes(std::span<const std::int64_t> axes, std::size_t rank) {
  InlineVector<std::size_t, kMaxRank> out;
  for (const std::int64_t given : axes) {
    JC_ASSIGN_OR_RETURN(const std::size_t axis, normalize_axis(given, rank));
    if (std::find(out.begin(), out.end(), axis) != out.end()) {
      return invalid(fmt::format("axis {} is given twice", axis));
    }
    out.push_back(axis);
  }
  return out;
}

Cost copy_cost(const CostContext& context, Bytes read, Bytes written) {
  Cost cost;
  count_parameters(context, cost);
  cost.forward_read = read;
  cost.forward_written = written;
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    if (context.has(i) && is_floating(context.input(i).element)) cost.backward_written += context.input(i).bytes();
  }
  if (cost.backward_written > Bytes{}) cost.backward_read = written;
  return cost;
}

}  // namespace joulecast
