// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {

Result<void> lower_reshape(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const bool allow_zero, node.flag("allowzero", false));
  return node.emit(Reshape{allow_zero}, {node.input(0), node.input(1)});
}

Result<void> lower_flatten(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", 1));
  return node.emit(Flatten{axis, std::nullopt}, {node.input(0)});
}

namespace {

// Axes: an attribute, or since operator set 13 input 1, which becomes an attribute where its contents are known.
struct Axes {
  IntList list;
  ValueId input = kNoValue;
};
Result<Axes> read_axes(const NodeContext& node) {
  Axes out;
  JC_ASSIGN_OR_RETURN(const auto attribute, node.integers("axes"));
  if (attribute) out.list = *attribute;
  if (!node.has(1)) return out;
  const Contents* known = node.known(1);
  if (known == nullptr) {
    out.input = node.input(1);
  } else {
    out.list = known->ints;
  }
  return out;
}

}  // namespace

Result<void> lower_squeeze(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(Axes axes, read_axes(node));
  return node.emit(Squeeze{std::move(axes.list)}, {node.input(0), axes.input});
}

Result<void> lower_unsqueeze(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(Axes axes, read_axes(node));
  if (node.opset() < 13 && !node.has_attribute("axes")) return node.wrong_attribute("axes", "is missing");
  return node.emit(Unsqueeze{std::move(axes.list)}, {node.input(0), axes.input});
}

Result<void> lower_transpose(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(auto order, node.integers("perm"));
  return node.emit(Transpose{order.value_or(IntList{})}, {node.input(0)});
}

Result<void> lower_expand(NodeContext& node) {
  return node.emit(Expand{}, {node.input(0), node.input(1)});
}

Result<void> lower_tile(NodeContext& node) {
  return node.emit(Tile{}, {node.input(0), node.input(1)});
}

Result<void> lower_concat(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis"));
  return node.emit(Concat{axis}, node.inputs());
}

// Sizes: attribute `split` before operator set 13, input 1 since; none for equal parts.
Result<void> lower_split(NodeContext& node) {
  Split op;
  JC_ASSIGN_OR_RETURN(op.axis, node.integer("axis", 0));
  JC_ASSIGN_OR_RETURN(auto sizes, node.integers("split"));
  JC_ASSIGN_OR_RETURN(const std::int64_t parts,
                      node.integer("num_outputs", static_cast<std::int64_t>(node.output_count())));
  if (parts != static_cast<std::int64_t>(node.output_count())) {
    return node.wrong_attribute("num_outputs", fmt::format("is {}, there are {}", parts, node.output_count()));
  }
  if (sizes) op.sizes = std::move(*sizes);
  ValueId input = node.input(1);
  if (const Contents* known = node.known(1)) {
    op.sizes = known->ints;
    input = kNoValue;
  }
  if (!op.sizes.empty() && op.sizes.size() != node.output_count()) {
    return invalid(fmt::format("{} sizes for {} outputs", op.sizes.size(), node.output_count()));
  }
  return node.emit(std::move(op), {node.input(0), input}, node.output_count());
}

// Attributes before operator set 10, inputs since.
Result<void> lower_slice(NodeContext& node) {
  if (node.opset() >= 10) {
    if (!node.has(1) || !node.has(2)) return invalid("inputs 1 (starts) and 2 (ends) are needed");
    return node.emit(Slice{}, {node.input(0), node.input(1), node.input(2), node.input(3), node.input(4)});
  }
  JC_ASSIGN_OR_RETURN(const auto starts, node.integers("starts"));
  JC_ASSIGN_OR_RETURN(const auto ends, node.integers("ends"));
  JC_ASSIGN_OR_RETURN(const auto axes, node.integers("axes"));
  if (!starts) return node.wrong_attribute("starts", "is missing");
  if (!ends) return node.wrong_attribute("ends", "is missing");
  const ValueId axes_input = axes ? node.int_vector(*axes) : kNoValue;
  return node.emit(Slice{}, {node.input(0), node.int_vector(*starts), node.int_vector(*ends), axes_input});
}

// Attributes before operator set 11, inputs since.
Result<void> lower_pad(NodeContext& node) {
  if (node.opset() >= 11) {
    if (!node.has(1)) return invalid("input 1 (pads) is needed");
    return node.emit(Pad{}, {node.input(0), node.input(1), node.input(2), node.input(3)});
  }
  JC_ASSIGN_OR_RETURN(const auto pads, node.integers("pads"));
  if (!pads) return node.wrong_attribute("pads", "is missing");
  JC_ASSIGN_OR_RETURN(const double fill, node.number("value", 0.0));
  return node.emit(Pad{}, {node.input(0), node.int_vector(*pads), node.real_scalar(fill)});
}

Result<void> lower_shape(NodeContext& node) {
  ShapeOf op;
  JC_ASSIGN_OR_RETURN(op.begin, node.integer("start", 0));
  if (node.has_attribute("end")) {
    JC_ASSIGN_OR_RETURN(op.end, node.integer("end"));
  }
  return node.emit(op, {node.input(0)});
}

Result<void> lower_size(NodeContext& node) {
  return node.emit(ShapeOf{0, std::nullopt, true}, {node.input(0)});
}

}  // namespace joulecast::onnx
