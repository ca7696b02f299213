// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {

// Rows of a table of weights are an embedding.
Result<void> lower_gather(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", 0));
  const TensorType* table = node.type(0);
  const bool weights = table != nullptr && node.guess(0).parameter && is_floating(table->element);
  if (weights && table->shape.size() == 2 && (axis == 0 || axis == -2)) {
    return node.emit(Embedding{}, {node.input(0), node.input(1)});
  }
  return node.emit(Gather{GatherKind::kSlices, axis, 0}, {node.input(0), node.input(1)});
}

Result<void> lower_gather_elements(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", 0));
  return node.emit(Gather{GatherKind::kElements, axis, 0}, {node.input(0), node.input(1)});
}

Result<void> lower_gather_nd(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t batch_axes, node.integer("batch_dims", 0));
  return node.emit(Gather{GatherKind::kNd, 0, batch_axes}, {node.input(0), node.input(1)});
}

Result<void> lower_scatter_elements(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", 0));
  return node.emit(Scatter{GatherKind::kElements, axis}, {node.input(0), node.input(1), node.input(2)});
}

Result<void> lower_scatter_nd(NodeContext& node) {
  return node.emit(Scatter{GatherKind::kNd, 0}, {node.input(0), node.input(1), node.input(2)});
}

namespace {

// One-hot vectors of computed integers are shape arithmetic (repeats of a Tile): as a comparison and a choice, their
// contents can be followed.
bool is_shape_arithmetic(const NodeContext& node, const OneHot& op) {
  return op.depth && *op.depth > 0 && *op.depth <= static_cast<std::int64_t>(kMaxRank) && op.axis == -1 &&
         is_integer(node.guess(2).element) && node.known(2) == nullptr;
}

Result<void> emit_choice(NodeContext& node, std::int64_t depth) {
  IntList places;
  for (std::int64_t i = 0; i < depth; ++i) places.push_back(i);
  const ValueId column = node.step(Unsqueeze{{-1}}, {node.input(0)}, "column");
  const ValueId hot = node.step(Binary{BinaryKind::kEqual}, {column, node.int_vector(places)}, "hot");
  const ValueId off = node.step(Gather{}, {node.input(2), node.int_scalar(0)}, "off");
  const ValueId on = node.step(Gather{}, {node.input(2), node.int_scalar(1)}, "on");
  return node.emit(Where{}, {hot, on, off});
}

}  // namespace

// indices, depth, [off, on].
Result<void> lower_one_hot(NodeContext& node) {
  OneHot op;
  JC_ASSIGN_OR_RETURN(op.axis, node.integer("axis", -1));
  if (const ElementType element = node.guess(2).element; element != ElementType::kUnknown) op.element = element;
  ValueId depth = node.input(1);
  if (const Contents* known = node.known(1); known != nullptr && known->ints.size() == 1) {
    op.depth = known->ints[0];
    depth = kNoValue;
  }
  if (is_shape_arithmetic(node, op)) return emit_choice(node, *op.depth);
  return node.emit(op, {node.input(0), depth});
}

// k: an attribute before operator set 10, an input since.
Result<void> lower_top_k(NodeContext& node) {
  TopK op;
  JC_ASSIGN_OR_RETURN(op.axis, node.integer("axis", -1));
  ValueId k = node.input(1);
  if (node.opset() < 10) {
    JC_ASSIGN_OR_RETURN(op.k, node.integer("k"));
    k = kNoValue;
  } else if (!node.has(1)) {
    return invalid("input 1 (k) is needed");
  }
  if (const Contents* known = node.known(1); known != nullptr && known->ints.size() == 1) {
    op.k = known->ints[0];
    k = kNoValue;
  }
  return node.emit(op, {node.input(0), k}, 2);
}

// x, axis: it makes no difference to the work, so 0 where it is not known.
Result<void> lower_cumulate(NodeContext& node) {
  std::int64_t axis = 0;
  if (const Contents* known = node.known(1); known != nullptr && known->ints.size() == 1) axis = known->ints[0];
  return node.emit(Cumulate{axis}, {node.input(0)});
}

Result<void> lower_triangle(NodeContext& node) {
  return node.emit(Triangle{}, {node.input(0)});
}

namespace {

Result<ResizeKind> resize_kind(const NodeContext& node, std::string_view absent) {
  JC_ASSIGN_OR_RETURN(const std::string_view mode, node.string("mode", absent));
  if (mode == "nearest") return ResizeKind::kNearest;
  // bilinear, bicubic: Upsample 7 and GridSample 16.
  if (mode == "linear" || mode == "bilinear") return ResizeKind::kLinear;
  if (mode == "cubic" || mode == "bicubic") return ResizeKind::kCubic;
  return node.wrong_attribute("mode", "is not nearest, linear or cubic");
}

// An empty tensor stands for an absent input.
ValueId unless_empty(const NodeContext& node, std::size_t i) {
  const TensorType* type = node.type(i);
  return type != nullptr && type->elements() == 0 ? kNoValue : node.input(i);
}

}  // namespace

// Operator set 10: x, scales. Since 11: x, roi, scales, sizes; the region is for cropping, which none of us does.
Result<void> lower_resize(NodeContext& node) {
  Resize op;
  JC_ASSIGN_OR_RETURN(op.kind, resize_kind(node, "nearest"));
  JC_ASSIGN_OR_RETURN(auto axes, node.integers("axes"));
  if (axes) op.axes = std::move(*axes);
  JC_ASSIGN_OR_RETURN(const std::string_view policy, node.string("keep_aspect_ratio_policy", "stretch"));
  if (node.opset() < 11) return node.emit(op, {node.input(0), node.input(1)});
  const ValueId sizes = unless_empty(node, 3);
  if (policy != "stretch" && sizes != kNoValue) return node.opaque();
  return node.emit(std::move(op), {node.input(0), unless_empty(node, 2), sizes});
}

// Scales: an attribute before operator set 9, an input since.
Result<void> lower_upsample(NodeContext& node) {
  Resize op;
  JC_ASSIGN_OR_RETURN(op.kind, resize_kind(node, "nearest"));
  if (node.has(1)) return node.emit(op, {node.input(0), node.input(1)});
  JC_ASSIGN_OR_RETURN(auto scales, node.numbers("scales"));
  if (!scales) return node.wrong_attribute("scales", "is missing");
  return node.emit(op, {node.input(0), node.real_vector(std::move(*scales))});
}

Result<void> lower_grid_sample(NodeContext& node) {
  GridSample op;
  JC_ASSIGN_OR_RETURN(op.kind, resize_kind(node, "linear"));
  return node.emit(op, {node.input(0), node.input(1)});
}

}  // namespace joulecast::onnx
