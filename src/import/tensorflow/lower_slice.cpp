// SPDX-License-Identifier: Apache-2.0
// Slice and StridedSlice. What numpy writes as x[1:, ..., 0, newaxis] is three lists of numbers and five bit masks.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

constexpr std::int64_t kFar = std::numeric_limits<std::int32_t>::max();

// Adds a slice with these numbers, axes as the tensor counts them.
struct Cut {
  IntList starts, ends, axes, steps;
};

std::vector<ValueId> cut_inputs(NodeContext& node, const Tensor& x, Cut cut) {
  for (std::int64_t& axis : cut.axes) {
    axis = static_cast<std::int64_t>(x.layout.in_value(static_cast<std::size_t>(axis)));
  }
  return {node.canvas().arranged(x, x.layout), node.int_vector(std::move(cut.starts)),
          node.int_vector(std::move(cut.ends)), node.int_vector(std::move(cut.axes)),
          node.int_vector(std::move(cut.steps))};
}

}  // namespace

// x, begin, size; a size of -1 goes to the end.
Result<void> lower_slice(NodeContext& node) {
  const auto begin = node.canvas().numbers(node.input(1));
  const auto size = node.integers(2);
  const auto rank = node.rank(0);
  if (!size || !rank || size->size() != *rank || (begin && begin->size() != *rank)) {
    const ValueId start = node.value(1);
    return node.emit(Slice{}, {node.value(0), start, node.step(Binary{}, {start, node.value(2)}, "end")});
  }
  Cut cut;
  for (std::size_t i = 0; i < *rank; ++i) {
    // Where the window begins makes no difference to its size, unless it reaches to the end.
    const std::int64_t start = begin && (*begin)[i] ? *(*begin)[i] : 0;
    const std::int64_t length = (*size)[i];
    if (start == 0 && length == -1) continue;
    if (start < 0 || start > kMaxElements || length > kMaxElements) return invalid("begin or size is absurd");
    cut.starts.push_back(start);
    cut.ends.push_back(length < 0 ? kFar : start + length);
    cut.axes.push_back(static_cast<std::int64_t>(i));
    cut.steps.push_back(1);
  }
  if (cut.axes.empty()) return node.output(0, node.input(0));
  const Layout layout = node.input(0).layout;
  return node.emit(Slice{}, cut_inputs(node, node.input(0), std::move(cut)), layout);
}

namespace {

struct Masks {
  std::int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink = 0;
};

bool bit(std::int64_t mask, std::size_t i) {
  return i < 63 && (mask >> i & 1) != 0;
}

Result<Masks> read_masks(const NodeContext& node) {
  Masks out;
  JC_ASSIGN_OR_RETURN(out.begin, node.attribute("begin_mask", std::int64_t{0}));
  JC_ASSIGN_OR_RETURN(out.end, node.attribute("end_mask", std::int64_t{0}));
  JC_ASSIGN_OR_RETURN(out.ellipsis, node.attribute("ellipsis_mask", std::int64_t{0}));
  JC_ASSIGN_OR_RETURN(out.new_axis, node.attribute("new_axis_mask", std::int64_t{0}));
  JC_ASSIGN_OR_RETURN(out.shrink, node.attribute("shrink_axis_mask", std::int64_t{0}));
  return out;
}

// What the entries come to: a cut, axes of the tensor that go, axes of the result that are new.
struct Plan {
  Cut cut;
  std::vector<std::size_t> gone;
  std::vector<std::size_t> fresh;  // in the result
};

class Planner {
 public:
  Planner(const NodeContext& node, Masks masks, std::size_t rank) : node_(node), masks_(masks), rank_(rank) {}

  Result<std::optional<Plan>> run() {
    const auto steps = node_.integers(3);
    if (!steps) return none();
    const auto begin = numbers(1, steps->size());
    const auto end = numbers(2, steps->size());
    if (begin.size() != steps->size() || end.size() != steps->size()) return none();
    if (steps->size() > 2 * kMaxRank) return invalid("has more entries than a tensor has axes");
    for (std::size_t i = 0; i < steps->size(); ++i) {
      if (bit(masks_.ellipsis, i)) {
        skip(*steps, i);
      } else if (bit(masks_.new_axis, i)) {
        plan_.fresh.push_back(result_++);
      } else {
        if (axis_ >= rank_) return invalid(fmt::format("has more entries than the {} axes of the tensor", rank_));
        if (!entry(i, begin[i], end[i], (*steps)[i])) return none();
      }
    }
    return std::optional(plan_);
  }

 private:
  static Result<std::optional<Plan>> none() { return std::optional<Plan>(); }

  // Those that are not known may still be of axes that go, whose place makes no difference.
  std::vector<std::optional<std::int64_t>> numbers(std::size_t input, std::size_t count) const {
    auto known = node_.canvas().numbers(node_.input(input));
    return known ? std::move(*known) : std::vector<std::optional<std::int64_t>>(count);
  }

  // The ellipsis stands for as many axes as the entries after it leave.
  void skip(const IntList& steps, std::size_t i) {
    std::size_t after = 0;
    for (std::size_t j = i + 1; j < steps.size(); ++j) after += bit(masks_.new_axis, j) ? 0 : 1;
    const std::size_t last = rank_ >= after ? rank_ - after : 0;
    for (; axis_ < last; ++axis_) ++result_;
  }

  bool entry(std::size_t i, std::optional<std::int64_t> begin, std::optional<std::int64_t> end, std::int64_t step) {
    if (bit(masks_.shrink, i)) {
      // Which element it is makes no difference to the work.
      const std::int64_t start = begin.value_or(0);
      if (start < -kFar || start > kFar) return false;
      add(start, start == -1 ? kFar : start + 1, 1);
      plan_.gone.push_back(axis_++);
      return true;
    }
    const bool from_start = bit(masks_.begin, i);
    const bool to_end = bit(masks_.end, i);
    if ((!from_start && !begin) || (!to_end && !end) || step == 0) return false;
    const std::int64_t first = from_start ? (step > 0 ? 0 : -1) : *begin;
    const std::int64_t last = to_end ? (step > 0 ? kFar : -kFar) : *end;
    if (first != 0 || last != kFar || step != 1) add(first, last, step);
    ++axis_;
    ++result_;
    return true;
  }

  void add(std::int64_t start, std::int64_t end, std::int64_t step) {
    plan_.cut.starts.push_back(start);
    plan_.cut.ends.push_back(end);
    plan_.cut.axes.push_back(static_cast<std::int64_t>(axis_));
    plan_.cut.steps.push_back(step);
  }

  const NodeContext& node_;
  Masks masks_;
  std::size_t rank_;
  std::size_t axis_ = 0, result_ = 0;
  Plan plan_;
};

// Numbers that are not known: the masks are put into them, which works as long as no axis comes or goes.
Result<void> slice_by_values(NodeContext& node, const Masks& masks) {
  const auto begin = node.extents(1);
  if (masks.ellipsis != 0 || masks.new_axis != 0 || masks.shrink != 0 || !begin || begin->size() != 1) {
    return node.opaque();
  }
  const std::int64_t count = (*begin)[0];
  if (count < 0 || count > static_cast<std::int64_t>(kMaxRank)) return node.opaque();
  IntList from_start, to_end, axes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    from_start.push_back(bit(masks.begin, i) ? 0 : 1);
    to_end.push_back(bit(masks.end, i) ? 1 : 0);
    axes.push_back(static_cast<std::int64_t>(i));
  }
  const ValueId starts = node.step(Binary{BinaryKind::kMul}, {node.value(1), node.int_vector(from_start)}, "starts");
  const ValueId ends =
      node.step(Where{}, {node.int_vector(to_end), node.int_vector(IntList(axes.size(), kFar)), node.value(2)}, "ends");
  return node.emit(Slice{}, {node.value(0), starts, ends, node.int_vector(axes), node.value(3)});
}

}  // namespace

Result<void> lower_strided_slice(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Masks masks, read_masks(node));
  const auto rank = node.rank(0);
  if (!rank) return node.opaque();
  JC_ASSIGN_OR_RETURN(auto plan, Planner(node, masks, *rank).run());
  if (!plan) return slice_by_values(node, masks);
  Tensor x = node.input(0);
  if (plan->cut.axes.empty() && plan->fresh.empty()) return node.output(0, x);
  if (x.is_source()) x = Tensor::value(node.value(0));
  Layout layout = x.layout;
  ValueId id = x.id;
  if (!plan->cut.axes.empty()) id = node.step(Slice{}, cut_inputs(node, x, std::move(plan->cut)), "slice");
  if (!plan->gone.empty()) {
    IntList held;
    for (const std::size_t axis : plan->gone) held.push_back(static_cast<std::int64_t>(layout.in_value(axis)));
    for (std::size_t i = plan->gone.size(); i-- > 0;) layout = layout.without(plan->gone[i]);
    std::sort(held.begin(), held.end());
    id = node.step(Squeeze{std::move(held)}, {id}, "rest");
  }
  std::size_t left = *rank - plan->gone.size();
  for (const std::size_t axis : plan->fresh) {
    layout = layout.with(axis, left++);
    id = node.step(Unsqueeze{{static_cast<std::int64_t>(layout.in_value(axis))}}, {id}, "axis");
  }
  return node.output(0, Tensor::value(id, layout));
}

}  // namespace joulecast::tensorflow
