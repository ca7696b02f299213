// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "graph/infer_context.h"
#include "graph/ops/helpers.h"
#include "graph/ops/known.h"
#include "graph/ops/slice_steps.h"

namespace joulecast {
namespace {

struct Cut {
  std::int64_t start = 0, step = 1, count = 0;
};

// ONNX Slice: negative indices count from the end, what is outside is clamped; "to the end" is often INT64_MAX, and
// INT64_MIN where the step is negative.
Cut cut(std::int64_t extent, std::int64_t start, std::int64_t end, std::int64_t step) {
  if (extent == 0) return {0, step, 0};
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  const bool forward = step > 0;
  start = std::clamp<std::int64_t>(start, 0, forward ? extent : extent - 1);
  end = std::clamp<std::int64_t>(end, forward ? 0 : -1, forward ? extent : extent - 1);
  const std::int64_t span = forward ? end - start : start - end;
  if (span <= 0) return {start, step, 0};
  // Unsigned: the magnitude of INT64_MIN is no std::int64_t.
  const std::uint64_t stride = forward ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  return {start, step, static_cast<std::int64_t>((static_cast<std::uint64_t>(span) - 1) / stride) + 1};
}

using Cuts = InlineVector<Cut, kMaxRank>;

Result<std::span<const std::int64_t>> optional_ints(const InferContext& context, std::size_t i, std::string_view what,
                                                    std::span<const std::int64_t> absent) {
  if (!context.has(i)) return absent;
  JC_ASSIGN_OR_RETURN(const auto given, context.ints(i, what));
  if (given.size() != absent.size())
    return invalid(fmt::format("{} {} for {} starts", given.size(), what, absent.size()));
  return given;
}

Result<Cuts> resolve(const InferContext& context) {
  const Shape& x = context.shape(0);
  JC_ASSIGN_OR_RETURN(const auto starts, context.ints(1, "starts"));
  JC_ASSIGN_OR_RETURN(const auto ends, context.ints(2, "ends"));
  if (starts.size() != ends.size() || starts.size() > x.size()) {
    return invalid(fmt::format("{} starts and {} ends for an input of rank {}", starts.size(), ends.size(), x.size()));
  }
  const Shape first_axes{0, 1, 2, 3, 4, 5, 6, 7};
  const Shape ones(kMaxRank, 1);
  JC_ASSIGN_OR_RETURN(const auto axes, optional_ints(context, 3, "axes", first_axes.span().first(starts.size())));
  JC_ASSIGN_OR_RETURN(const auto steps, optional_ints(context, 4, "steps", ones.span().first(starts.size())));
  JC_ASSIGN_OR_RETURN(const auto distinct, distinct_axes(axes, x.size()));
  Cuts cuts;
  for (const std::int64_t extent : x) cuts.push_back({0, 1, extent});
  for (std::size_t i = 0; i < distinct.size(); ++i) {
    if (steps[i] == 0) return invalid("a step is 0");
    cuts[distinct[i]] = cut(x[distinct[i]], starts[i], ends[i], steps[i]);
  }
  return cuts;
}

}  // namespace

Result<void> infer(const Slice&, InferContext& context) {
  JC_RETURN_IF_ERROR(context.require(0, "x"));
  JC_ASSIGN_OR_RETURN(const Cuts cuts, resolve(context));
  Shape shape;
  for (const Cut& c : cuts) shape.push_back(c.count);
  JC_RETURN_IF_ERROR(context.set(0, context.input(0).element, shape));
  follow_elements(context, 0, shape, [&](Position position) {
    for (std::size_t i = 0; i < cuts.size(); ++i) position[i] = cuts[i].start + position[i] * cuts[i].step;
    return position;
  });
  return {};
}

// A view: no kernel; what walks backwards is a copy (torch.flip).
Cost cost(const Slice&, const CostContext& context) {
  return walks_back(context.known(4)) ? copy_cost(context, output_bytes(context), output_bytes(context)) : Cost{};
}

}  // namespace joulecast
