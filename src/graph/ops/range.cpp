// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"

namespace joulecast {
namespace {

// ceil((limit - start) / delta), at least 0. Unsigned: the distance between two std::int64_t need not be one.
std::uint64_t count_of(std::int64_t start, std::int64_t limit, std::int64_t delta) {
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  const auto from = static_cast<std::uint64_t>(start);
  const auto to = static_cast<std::uint64_t>(limit);
  const std::uint64_t distance = delta > 0 ? to - from : from - to;
  const std::uint64_t stride = delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
  return (distance - 1) / stride + 1;
}

std::uint64_t count_of(double start, double limit, double delta) {
  const double count = std::ceil((limit - start) / delta);
  if (std::isnan(count)) return static_cast<std::uint64_t>(kMaxElements) + 1;
  if (count <= 0.0) return 0;
  return static_cast<std::uint64_t>(std::min(count, 2.0 * static_cast<double>(kMaxElements)));
}

template <typename T>
Result<std::int64_t> checked_count(T start, T limit, T delta) {
  if (delta == T{0}) return invalid("the step is 0");
  const std::uint64_t count = count_of(start, limit, delta);
  if (count > static_cast<std::uint64_t>(kMaxElements)) {
    return invalid(fmt::format("from {} to {} in steps of {} is too long", start, limit, delta));
  }
  return static_cast<std::int64_t>(count);
}

// Input i as one number; fails where it depends on data.
Result<const Contents*> scalar(const InferContext& context, std::size_t i, std::string_view what) {
  JC_RETURN_IF_ERROR(context.require(i, what));
  const Contents* contents = context.known(i);
  if (contents == nullptr) {
    return unsupported(fmt::format("input {} ({}) depends on data, so the shape does too", i, what));
  }
  if (contents->ints.size() + contents->reals.size() != 1) return invalid(fmt::format("{} is not one number", what));
  return contents;
}

double real(const Contents& contents) {
  return contents.reals.empty() ? static_cast<double>(contents.ints[0]) : contents.reals[0];
}

bool small(std::int64_t count) {
  return count <= static_cast<std::int64_t>(kMaxKnownElements);
}

}  // namespace

Result<void> infer(const Range&, InferContext& context) {
  JC_ASSIGN_OR_RETURN(const Contents* start, scalar(context, 0, "start"));
  JC_ASSIGN_OR_RETURN(const Contents* limit, scalar(context, 1, "limit"));
  JC_ASSIGN_OR_RETURN(const Contents* delta, scalar(context, 2, "delta"));
  const ElementType element = context.input(0).element;
  if (start->ints.empty() || limit->ints.empty() || delta->ints.empty()) {
    JC_ASSIGN_OR_RETURN(const std::int64_t count, checked_count(real(*start), real(*limit), real(*delta)));
    return context.set(0, element, {count});
  }
  const std::int64_t first = start->ints[0];
  const std::int64_t step = delta->ints[0];
  JC_ASSIGN_OR_RETURN(const std::int64_t count, checked_count(first, limit->ints[0], step));
  JC_RETURN_IF_ERROR(context.set(0, element, {count}));
  if (!small(count)) return {};
  Contents out;
  for (std::int64_t i = 0; i < count; ++i) out.ints.push_back(first + i * step);
  context.set_known(0, std::move(out));
  return {};
}

Cost cost(const Range&, const CostContext& context) {
  Cost cost;
  cost.forward_written = output_bytes(context);
  return cost;
}

}  // namespace joulecast
