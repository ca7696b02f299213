// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

// The attributes that convolutions and pools share.
struct Window {
  Extents kernel, stride, dilation, padding_begin, padding_end;
  bool same_padding = false;
};

Extents filled(const Extents& list, std::size_t axes, std::int64_t absent) {
  return list.empty() ? Extents(axes, absent) : list;
}

Result<void> check_length(const NodeContext& node, std::string_view name, const Extents& list, std::size_t axes) {
  if (list.empty() || axes == 0 || list.size() == axes) return {};
  return node.wrong_attribute(name, fmt::format("has {} entries for {} spatial axes", list.size(), axes));
}

// [begin of axis 0, begin of axis 1, ..., end of axis 0, ...]
Result<void> read_pads(const NodeContext& node, Window& out, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const auto pads, node.integers("pads"));
  if (!pads || pads->empty()) return {};
  if (pads->size() % 2 != 0 || (axes != 0 && pads->size() != 2 * axes)) {
    return node.wrong_attribute("pads", fmt::format("has {} entries for {} spatial axes", pads->size(), axes));
  }
  const std::size_t half = pads->size() / 2;
  if (half > Extents::capacity()) return node.wrong_attribute("pads", "has too many entries");
  constexpr std::int64_t kMaxPad = std::int64_t{1} << 24;
  for (std::size_t i = 0; i < half; ++i) {
    for (const std::int64_t pad : {(*pads)[i], (*pads)[half + i]}) {
      if (pad < -kMaxPad || pad > kMaxPad) return node.wrong_attribute("pads", fmt::format("{} is absurd", pad));
    }
    out.padding_begin.push_back((*pads)[i]);
    out.padding_end.push_back((*pads)[half + i]);
  }
  return {};
}

Result<void> read_auto_pad(const NodeContext& node, Window& out, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const std::string_view mode, node.string("auto_pad", "NOTSET"));
  if (mode == "NOTSET" || mode.empty()) return read_pads(node, out, axes);
  if (mode == "VALID") return {};
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") return node.wrong_attribute("auto_pad", "has an unknown mode");
  out.same_padding = true;
  return {};
}

// `axes`: spatial axes where known, 0 otherwise.
Result<Window> read_window(const NodeContext& node, std::size_t axes) {
  Window out;
  JC_ASSIGN_OR_RETURN(out.kernel, node.extents("kernel_shape"));
  JC_ASSIGN_OR_RETURN(out.stride, node.extents("strides"));
  JC_ASSIGN_OR_RETURN(out.dilation, node.extents("dilations"));
  JC_RETURN_IF_ERROR(check_length(node, "kernel_shape", out.kernel, axes));
  if (axes == 0) axes = out.kernel.size();
  JC_RETURN_IF_ERROR(check_length(node, "strides", out.stride, axes));
  JC_RETURN_IF_ERROR(check_length(node, "dilations", out.dilation, axes));
  JC_RETURN_IF_ERROR(read_auto_pad(node, out, axes));
  out.stride = filled(out.stride, axes, 1);
  out.dilation = filled(out.dilation, axes, 1);
  if (!out.same_padding) {
    out.padding_begin = filled(out.padding_begin, axes, 0);
    out.padding_end = filled(out.padding_end, axes, 0);
  }
  return out;
}

struct ConvInputs {
  std::size_t x, weight, bias;
};

Result<void> check_kernel(const NodeContext& node, const Extents& kernel, const TensorType* weight) {
  if (weight == nullptr || kernel.empty()) return {};
  for (std::size_t i = 0; i < kernel.size(); ++i) {
    if (weight->shape[i + 2] == kernel[i]) continue;
    return node.wrong_attribute("kernel_shape", fmt::format("does not fit the weight {}", text(weight->shape)));
  }
  return {};
}

Result<Conv> read_conv(const NodeContext& node, std::size_t weight_input) {
  const TensorType* weight = node.type(weight_input);
  const auto rank = weight != nullptr ? weight->shape.size() : node.guess(weight_input).rank.value_or(0);
  if (weight != nullptr && (rank < 3 || rank > 5)) {
    return unsupported(fmt::format("weight {} is not that of 1 to 3 spatial axes", text(weight->shape)));
  }
  JC_ASSIGN_OR_RETURN(const Window window, read_window(node, rank >= 3 ? rank - 2 : 0));
  JC_RETURN_IF_ERROR(check_kernel(node, window.kernel, weight));
  Conv out;
  out.stride = window.stride;
  out.dilation = window.dilation;
  out.padding_begin = window.padding_begin;
  out.padding_end = window.padding_end;
  out.same_padding = window.same_padding;
  JC_ASSIGN_OR_RETURN(out.groups, node.integer("group", 1));
  if (out.groups < 1 || out.groups > kMaxElements) return node.wrong_attribute("group", "is not a number of groups");
  return out;
}

}  // namespace

Result<void> lower_conv(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(node, 1));
  return node.emit(op, {node.input(0), node.input(1), node.input(2)});
}

// Of 8-bit integers; zero points cost next to nothing.
Result<void> lower_conv_integer(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(node, 1));
  return node.emit(op, {node.input(0), node.input(1)});
}

// x, scale, zero point, w, scale, zero point, scale of y, zero point of y, [bias].
Result<void> lower_qlinear_conv(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(node, 3));
  return node.emit(op, {node.input(0), node.input(3), node.input(8)});
}

// x, w, offset, [bias], [mask]: the input is sampled at the offsets, which we have no operator for, and convolved.
Result<void> lower_deform_conv(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(node, 1));
  const ValueId sampled = node.step(Opaque{"DeformConv", {}}, {node.input(0), node.input(2), node.input(4)}, "sampled");
  return node.emit(op, {sampled, node.input(1), node.input(3)});
}

Result<void> lower_conv_transpose(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(Conv op, read_conv(node, 1));
  JC_ASSIGN_OR_RETURN(op.output_padding, node.extents("output_padding"));
  op.transposed = true;
  JC_ASSIGN_OR_RETURN(const auto output_shape, node.integers("output_shape"));
  // The padding then follows from the size of the input: only SAME with out = in * stride is expressible.
  if (output_shape && !output_shape->empty()) return node.opaque();
  return node.emit(op, {node.input(0), node.input(1), node.input(2)});
}

namespace {

std::optional<ActivationKind> fused_activation(std::string_view name) {
  if (name == "Relu") return ActivationKind::kRelu;
  if (name == "LeakyRelu") return ActivationKind::kLeakyRelu;
  if (name == "Tanh") return ActivationKind::kTanh;
  if (name == "Sigmoid") return ActivationKind::kSigmoid;
  if (name == "Clip") return ActivationKind::kClip;
  if (name == "HardSigmoid") return ActivationKind::kHardSigmoid;
  return std::nullopt;
}

}  // namespace

// com.microsoft: x, w, [bias], [z to add]; then an activation.
Result<void> lower_fused_conv(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(node, 1));
  JC_ASSIGN_OR_RETURN(const std::string_view name, node.string("activation", ""));
  const auto activation = fused_activation(name);
  const std::vector<ValueId> inputs{node.input(0), node.input(1), node.input(2)};
  if (!activation && !node.has(3)) return node.emit(op, inputs);
  ValueId y = node.step(op, inputs, "conv");
  if (node.has(3) && !activation) return node.emit(Binary{BinaryKind::kAdd}, {y, node.input(3)});
  if (node.has(3)) y = node.step(Binary{BinaryKind::kAdd}, {y, node.input(3)}, "add");
  return node.emit(Activation{*activation}, {y});
}

Result<void> lower_pool_of(NodeContext& node, PoolKind kind) {
  JC_RETURN_IF_ERROR(node.integers("kernel_shape"));
  if (!node.has_attribute("kernel_shape")) return node.wrong_attribute("kernel_shape", "is missing");
  const std::size_t rank = node.guess(0).rank.value_or(0);
  JC_ASSIGN_OR_RETURN(const Window window, read_window(node, rank >= 3 && rank <= 5 ? rank - 2 : 0));
  Pool op;
  op.kind = kind;
  op.kernel = window.kernel;
  op.stride = window.stride;
  op.dilation = window.dilation;
  op.padding_begin = window.padding_begin;
  op.padding_end = window.padding_end;
  op.same_padding = window.same_padding;
  JC_ASSIGN_OR_RETURN(op.ceil_mode, node.flag("ceil_mode", false));
  return node.emit(op, {node.input(0)}, kind == PoolKind::kMax ? 2 : 1);
}

// Two spatial axes where the rank cannot be told.
Result<void> lower_global_pool_of(NodeContext& node, PoolKind kind) {
  const std::size_t rank = node.guess(0).rank.value_or(4);
  if (rank < 3 || rank > 5) return node.opaque();
  return node.emit(AdaptivePool{kind, Extents(rank - 2, 1)}, {node.input(0)});
}

}  // namespace joulecast::onnx
