// SPDX-License-Identifier: Apache-2.0
#include "profile/copies.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "dataset/operation.h"
#include "joulecast/cost.h"

namespace joulecast::profile {
namespace {

// The axes counted from the front.
IntList resolved(const Transpose& op, std::size_t rank) {
  IntList out;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::int64_t axis = op.order.empty() ? static_cast<std::int64_t>(rank - 1 - i) : op.order[i];
    out.push_back(axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis);
  }
  return out;
}

IntList order_of(Storage lies, std::size_t rank) {
  if (lies == Storage::kHeadsInner) return {0, 2, 1, 3};
  if (lies != Storage::kChannelsLast) return {};
  IntList out{0, static_cast<std::int64_t>(rank) - 1};
  for (std::size_t axis = 1; axis + 1 < rank; ++axis) out.push_back(static_cast<std::int64_t>(axis));
  return out;
}

// Whether a value of this shape lies contiguously all the same: axes of one element may be anywhere.
bool moves_nothing(const Shape& shape, const IntList& order) {
  std::int64_t last = -1;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (shape[i] == 1) continue;
    if (order[i] < last) return false;
    last = order[i];
  }
  return true;
}

// A value of this type, out of one that lies in another order.
OperationText transposition(const TensorType& type, const IntList& order) {
  Shape before = type.shape;
  for (std::size_t i = 0; i < order.size(); ++i) before[static_cast<std::size_t>(order[i])] = type.shape[i];
  OperationBuilder builder(type.element);
  builder.input(before);
  return operation_text(std::move(builder).build(Transpose{order, true}));
}

// `op` of an input of that shape and a list of whole numbers.
OperationText with_list(Operator op, ElementType element, const Shape& shape, IntList list) {
  OperationBuilder builder(element);
  builder.input(shape).integers(std::move(list));
  return operation_text(std::move(builder).build(std::move(op)));
}

OperationText cut_out(ElementType element, const Shape& before, const Shape& after) {
  IntList pads(2 * before.size(), 0);
  for (std::size_t i = 0; i < before.size(); ++i) pads[before.size() + i] = after[i] - before[i];
  return with_list(Pad{}, element, before, std::move(pads));
}

OperationText repeated(ElementType element, const Shape& before, const Shape& after) {
  IntList repeats;
  for (std::size_t i = 0; i < before.size(); ++i) repeats.push_back(after[i] / std::max<std::int64_t>(1, before[i]));
  return with_list(Tile{}, element, before, std::move(repeats));
}

// The order of a value's axes after a view that parts axes, or adds and takes away some of one element; empty where it
// is another view.
IntList parted(const IntList& order, const Shape& shape, const Shape& to) {
  std::vector<std::int64_t> parts(shape.size(), 0);  // of each axis
  std::size_t j = 0;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    std::int64_t found = 1;
    while (j < to.size() && (found < shape[i] || (to[j] == 1 && i + 1 == shape.size()))) {
      found *= to[j++];
      ++parts[i];
    }
    if (found != shape[i]) return {};
  }
  if (j != to.size()) return {};
  std::vector<std::int64_t> first(shape.size(), 0);  // part of an axis of the contiguous value
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (order[k] < order[i]) first[i] += parts[k];
    }
  }
  IntList out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (std::int64_t k = 0; k < parts[i]; ++k) out.push_back(first[i] + k);
  }
  return out;
}

IntList without_axis(const IntList& order, std::size_t axis) {
  IntList out;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i != axis) out.push_back(order[i] > order[axis] ? order[i] - 1 : order[i]);
  }
  return out;
}

IntList turned_again(const Transpose& op, const IntList& order, std::size_t rank) {
  IntList turned = resolved(op, rank);
  if (order.empty()) return turned;
  for (std::int64_t& axis : turned) axis = order[static_cast<std::size_t>(axis)];
  return turned;
}

// In front as many axes of one element as make it of that rank.
Shape widened(const Shape& shape, std::size_t rank) {
  Shape out;
  for (std::size_t i = shape.size(); i < rank; ++i) out.push_back(1);
  for (const std::int64_t extent : shape) out.push_back(extent);
  return out;
}

// Whether a part of a contiguous value is contiguous too: nothing of it lies apart.
bool in_one_piece(const Shape& before, const Shape& after) {
  std::size_t last = before.size();  // axis that is cut
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != after[i]) last = i;
  }
  return last == before.size() ||
         std::all_of(after.begin(), after.begin() + static_cast<std::ptrdiff_t>(last), [](auto e) { return e == 1; });
}

bool has_steps(const Visit& visit) {
  constexpr std::size_t kSteps = 4;
  if (visit.node.inputs.size() <= kSteps || visit.node.inputs[kSteps] == kNoValue) return false;
  const ValueId id = visit.node.inputs[kSteps];
  const Contents* known = visit.types.known(id) != nullptr ? visit.types.known(id) : visit.graph.known(id);
  if (known == nullptr) return true;
  return std::any_of(known->ints.begin(), known->ints.end(), [](std::int64_t step) { return step != 1; });
}

bool only_reshapes(const Operator& op) {
  return std::holds_alternative<Reshape>(op) || std::holds_alternative<Flatten>(op) ||
         std::holds_alternative<Squeeze>(op) || std::holds_alternative<Unsqueeze>(op);
}

}  // namespace

std::vector<OperationText> Copies::of(const Visit& visit) {
  Body& body = bodies_.try_emplace(&visit.graph, options_, visit.graph).first->second;
  const CostContext context(visit.graph, visit.node, visit.types);
  std::vector<LoweredOperation> lowered;
  body.lowering.lower(context, operator_cost(context), lowered);
  std::vector<OperationText> out;
  const auto* attention = std::get_if<Attention>(&visit.node.op);
  const bool any_order = attention != nullptr && !attention->by_hand;
  for (const LoweredOperation& one : lowered) {
    if (!one.copied_input || any_order) continue;
    const ValueId id = visit.node.inputs[*one.copied_input];
    if (auto copy = body.copy_of(visit.types.type(id), id)) out.push_back(std::move(*copy));
  }
  body.follow(visit);
  return out;
}

std::optional<OperationText> Copies::Body::copy_of(const TensorType& type, ValueId id) const {
  const View& view = views[index(id)];
  if (view.kind == View::Kind::kCut) {
    return in_one_piece(view.before, view.after) ? std::nullopt
                                                 : std::optional(cut_out(type.element, view.before, view.after));
  }
  if (view.kind == View::Kind::kRepeated) {
    return view.before == view.after ? std::nullopt : std::optional(repeated(type.element, view.before, view.after));
  }
  const IntList order = view.order.empty() ? order_of(lowering.storage(id), type.shape.size()) : view.order;
  if (order.empty() || moves_nothing(type.shape, order)) return std::nullopt;
  return transposition(type, order);
}

void Copies::Body::follow(const Visit& visit) {
  const ValueId x = visit.node.inputs.empty() ? kNoValue : visit.node.inputs[0];
  if (x == kNoValue) return;
  const View before = views[index(x)];
  for (const ValueId y : visit.node.outputs) {
    if (y != kNoValue && lowering.storage(y) != Storage::kContiguous) views[index(y)] = seen_through(visit, before, y);
  }
}

Copies::View Copies::Body::seen_through(const Visit& visit, const View& x, ValueId y) const {
  const Shape& shape = visit.types.type(visit.node.inputs[0]).shape;
  const Shape& to = visit.types.type(y).shape;
  const Operator& op = visit.node.op;
  const bool turned = x.kind == View::Kind::kTurned;
  if (const auto* transpose = std::get_if<Transpose>(&op)) {
    const bool remembered = turned || lowering.storage(visit.node.inputs[0]) == Storage::kContiguous;
    if (!remembered && x.kind == View::Kind::kUnknown) return {};
    return {View::Kind::kTurned, turned_again(*transpose, x.order, shape.size()), {}, {}};
  }
  if (std::holds_alternative<Expand>(op)) return {View::Kind::kRepeated, {}, widened(shape, to.size()), to};
  const bool part = (std::holds_alternative<Slice>(op) && !has_steps(visit)) || std::holds_alternative<Split>(op);
  if (part && turned) return x;
  if (part && shape.size() == to.size()) return {View::Kind::kCut, {}, shape, to};
  if (const auto* gather = std::get_if<Gather>(&op); gather != nullptr && to.size() + 1 == shape.size()) {
    const auto axis = static_cast<std::size_t>(gather->axis < 0 ? gather->axis + static_cast<std::int64_t>(shape.size())
                                                                : gather->axis);
    if (turned) return {View::Kind::kTurned, without_axis(x.order, axis), {}, {}};
    Shape one = shape;
    one[axis] = 1;
    return {View::Kind::kCut, {}, shape, one};
  }
  if (only_reshapes(op) && !turned) return x;
  if (only_reshapes(op)) {
    const IntList order = parted(x.order, shape, to);
    return order.empty() ? View{} : View{View::Kind::kTurned, order, {}, {}};
  }
  // What keeps the shape of a transposed value mostly keeps its order too, as elementwise operators do. Of parts and
  // repeats they make contiguous values.
  return turned && shape.size() == to.size() ? x : View{};
}

}  // namespace joulecast::profile
