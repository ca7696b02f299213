// SPDX-License-Identifier: Apache-2.0
// torch.roll is exported as concat(x[s:], x[:s]), once an axis.
#include "graph/passes/match.h"
#include "graph/passes/passes.h"

namespace joulecast::passes {
namespace {

struct AxisRange {
  ValueId x = kNoValue;
  std::int64_t start = 0, end = 0, axis = 0;
};

std::optional<std::int64_t> single(const Rewriter& graph, ValueId id) {
  const Contents* known = graph.known(id);
  return known != nullptr && known->ints.size() == 1 ? std::optional(known->ints[0]) : std::nullopt;
}

// A slice along one axis, read by nobody else.
std::optional<AxisRange> slice_of(const Rewriter& graph, ValueId id) {
  const Node* slice = made_by<Slice>(graph, id);
  if (slice == nullptr || !read_once(graph, id)) return std::nullopt;
  const auto start = single(graph, input(*slice, 1));
  const auto end = single(graph, input(*slice, 2));
  const auto axis = single(graph, input(*slice, 3));
  const bool stepped = input(*slice, 4) != kNoValue && single(graph, slice->inputs[4]) != 1;
  if (!start || !end || !axis || stepped) return std::nullopt;
  if (*start > kMaxElements || *start < -kMaxElements) return std::nullopt;
  return AxisRange{slice->inputs[0], *start, *end, *axis};
}

}  // namespace

bool fold_roll(Rewriter& graph, std::size_t root) {
  const Node& node = graph.node(root);
  const auto* concat = as<Concat>(node);
  if (concat == nullptr || node.inputs.size() != 2) return false;
  const auto tail = slice_of(graph, node.inputs[0]);
  const auto head = slice_of(graph, node.inputs[1]);
  if (!tail || !head || tail->x != head->x || tail->axis != concat->axis || head->axis != concat->axis) return false;
  // Gates of a recurrent layer's weights change places at export; nothing of that is run.
  if (graph.sketch(tail->x).weight) return false;
  // From the start to where the tail begins; the tail goes on to the end, whatever number stands for that.
  const bool to_end = tail->start < 0 ? tail->end >= 0 : tail->end > tail->start;
  if (head->start != 0 || head->end != tail->start || tail->start == 0 || !to_end) return false;
  Roll op{.axes = {concat->axis}, .shifts = {-tail->start}};
  ValueId x = tail->x;
  // Several axes are one call in the model.
  const Node* before = made_by<Roll>(graph, x);
  if (before != nullptr && graph.uses(x) == 2 && as<Roll>(*before)->axes.size() < kMaxRank) {
    op.axes.insert(op.axes.begin(), as<Roll>(*before)->axes.begin(), as<Roll>(*before)->axes.end());
    op.shifts.insert(op.shifts.begin(), as<Roll>(*before)->shifts.begin(), as<Roll>(*before)->shifts.end());
    x = input(*before, 0);
  }
  graph.replace(root, std::move(op), {x});
  return true;
}

}  // namespace joulecast::passes
