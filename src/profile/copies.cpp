// SPDX-License-Identifier: Apache-2.0
#include "profile/copies.h"

#include <numeric>
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
OperationText copy_of(const TensorType& type, const IntList& order) {
  Shape before = type.shape;
  for (std::size_t i = 0; i < order.size(); ++i) before[static_cast<std::size_t>(order[i])] = type.shape[i];
  OperationBuilder builder(type.element);
  builder.input(before);
  return operation_text(std::move(builder).build(Transpose{order, true}));
}

}  // namespace

std::vector<OperationText> Copies::of(const Visit& visit) {
  Body& body = bodies_.try_emplace(&visit.graph, options_, visit.graph.values.size()).first->second;
  const CostContext context(visit.graph, visit.node, visit.types);
  std::vector<LoweredOperation> lowered;
  body.lowering.lower(context, operator_cost(context), lowered);
  std::vector<OperationText> out;
  for (const LoweredOperation& one : lowered) {
    if (!one.copied_input) continue;
    const ValueId id = visit.node.inputs[*one.copied_input];
    const TensorType& type = visit.types.type(id);
    IntList order = body.orders[index(id)];
    if (order.empty()) order = order_of(body.lowering.storage(id), type.shape.size());
    if (!order.empty() && !moves_nothing(type.shape, order)) out.push_back(copy_of(type, order));
  }
  body.follow(visit);
  return out;
}

// What keeps the shape of a transposed value mostly keeps its order too, as elementwise operators do.
void Copies::Body::follow(const Visit& visit) {
  const ValueId x = visit.node.inputs.empty() ? kNoValue : visit.node.inputs[0];
  if (x == kNoValue) return;
  IntList order = orders[index(x)];
  const Shape& shape = visit.types.type(x).shape;
  if (const auto* op = std::get_if<Transpose>(&visit.node.op)) {
    const bool plain = order.empty() && lowering.storage(x) == Storage::kContiguous;
    const IntList turned = resolved(*op, shape.size());
    if (plain) order = turned;
    for (std::size_t i = 0; !plain && i < order.size(); ++i) {
      order[i] = orders[index(x)][static_cast<std::size_t>(turned[i])];
    }
  }
  for (const ValueId y : visit.node.outputs) {
    if (y == kNoValue || lowering.storage(y) == Storage::kContiguous) continue;
    if (visit.types.type(y).shape.size() == order.size()) orders[index(y)] = order;
  }
}

}  // namespace joulecast::profile
