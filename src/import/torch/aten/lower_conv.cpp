// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools. Where the batch axis is missing it is put there for the operator and taken away again.
#include <fmt/format.h>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {

Result<Extents> per_axis(const Call& call, std::string_view name, std::size_t axes, std::int64_t absent) {
  JC_ASSIGN_OR_RETURN(const IntList list, call.numbers(name));
  constexpr std::int64_t kMaxWindow = std::int64_t{1} << 24;
  if (list.empty()) return Extents(axes, absent);
  if (list.size() != 1 && list.size() != axes) {
    return call.wrong(name, fmt::format("has {} entries for {} spatial axes", list.size(), axes));
  }
  Extents out;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t value = list[list.size() == 1 ? 0 : i];
    if (value < 0 || value > kMaxWindow) return call.wrong(name, fmt::format("has an entry of {}", value));
    out.push_back(value);
  }
  return out;
}

namespace {

Result<std::size_t> spatial_axes(const Call& call, ValueId weight) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(weight));
  if (rank < 3 || rank > 5)
    return unsupported(fmt::format("weight of rank {} is not that of 1 to 3 spatial axes", rank));
  return rank - 2;
}

// The operator on x with its batch axis, as output 0 of the call.
Result<void> emit_batched(Call& call, Operator op, ValueId x, std::vector<ValueId> others, std::size_t axes,
                          std::size_t outputs) {
  const bool batched = call.guess(x).rank.value_or(axes + 2) != axes + 1;
  if (!batched) x = call.step(Unsqueeze{{0}}, {x}, "batch");
  std::vector<ValueId> inputs{x};
  inputs.insert(inputs.end(), others.begin(), others.end());
  if (batched) return call.emit(std::move(op), std::move(inputs), outputs);
  if (call.any_used_after(0)) return unsupported("has no batch axis, and more than one output");
  return call.emit(Squeeze{{0}}, {call.step(std::move(op), std::move(inputs), "batched")});
}

Result<void> read_padding(const Call& call, Conv& op, std::size_t axes) {
  if (call.is<std::string_view>("padding")) {
    JC_ASSIGN_OR_RETURN(const std::string_view mode, call.text("padding", ""));
    if (mode != "same" && mode != "valid") return call.wrong("padding", "is not same or valid");
    op.same_padding = mode == "same";
    op.padding_begin = op.padding_end = op.same_padding ? Extents{} : Extents(axes, 0);
    return {};
  }
  JC_ASSIGN_OR_RETURN(op.padding_begin, per_axis(call, "padding", axes, 0));
  op.padding_end = op.padding_begin;
  return {};
}

Result<Conv> read_conv(const Call& call, std::size_t axes) {
  Conv op;
  JC_ASSIGN_OR_RETURN(op.stride, per_axis(call, "stride", axes, 1));
  JC_ASSIGN_OR_RETURN(op.dilation, per_axis(call, "dilation", axes, 1));
  JC_RETURN_IF_ERROR(read_padding(call, op, axes));
  JC_ASSIGN_OR_RETURN(op.groups, call.number("groups", 1));
  if (op.groups < 1 || op.groups > kMaxElements) return call.wrong("groups", fmt::format("is {}", op.groups));
  return op;
}

}  // namespace

// conv1d, conv2d, conv3d, convolution, _convolution; of the last two `transposed` says which.
Result<void> lower_conv(Call& call) {
  JC_ASSIGN_OR_RETURN(const bool transposed, call.flag("transposed", false));
  if (transposed) return lower_conv_transpose(call);
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, weight));
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(call, axes));
  return emit_batched(call, op, x, {weight, bias}, axes, 1);
}

Result<void> lower_conv_transpose(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, weight));
  JC_ASSIGN_OR_RETURN(Conv op, read_conv(call, axes));
  op.transposed = true;
  JC_ASSIGN_OR_RETURN(op.output_padding, per_axis(call, "output_padding", axes, 0));
  return emit_batched(call, op, x, {weight, bias}, axes, 1);
}

// torchvision's: the input is sampled at the offsets, which we have no operator for, and convolved.
Result<void> lower_deform_conv(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId offset, call.tensor("offset"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.optional_tensor("mask"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  Conv op;
  for (const std::string_view side : {"h", "w"}) {
    JC_ASSIGN_OR_RETURN(const Extents stride, per_axis(call, fmt::format("stride_{}", side), 1, 1));
    JC_ASSIGN_OR_RETURN(const Extents padding, per_axis(call, fmt::format("pad_{}", side), 1, 0));
    JC_ASSIGN_OR_RETURN(const Extents dilation, per_axis(call, fmt::format("dilation_{}", side), 1, 1));
    op.stride.push_back(stride[0]);
    op.dilation.push_back(dilation[0]);
    op.padding_begin.push_back(padding[0]);
  }
  op.padding_end = op.padding_begin;
  JC_ASSIGN_OR_RETURN(op.groups, call.number("groups", 1));
  const ValueId sampled = call.step(Opaque{"DeformConv", {}}, {x, offset, mask}, "sampled");
  return call.emit(op, {sampled, weight, bias});
}

// An absent or empty stride is the kernel's size.
Result<void> lower_pool_of(Call& call, PoolKind kind, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  if (!call.has("kernel_size")) return call.wrong("kernel_size", "is missing");
  Pool op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.kernel, per_axis(call, "kernel_size", axes, 1));
  JC_ASSIGN_OR_RETURN(const IntList stride, call.numbers("stride"));
  op.stride = op.kernel;
  if (!stride.empty()) {
    JC_ASSIGN_OR_RETURN(op.stride, per_axis(call, "stride", axes, 1));
  }
  JC_ASSIGN_OR_RETURN(op.dilation, per_axis(call, "dilation", axes, 1));
  JC_ASSIGN_OR_RETURN(op.padding_begin, per_axis(call, "padding", axes, 0));
  op.padding_end = op.padding_begin;
  JC_ASSIGN_OR_RETURN(op.ceil_mode, call.flag("ceil_mode", false));
  return emit_batched(call, op, x, {}, axes, kind == PoolKind::kMax ? 2 : 1);
}

// An extent that is None (or -1) keeps that of the input: then the size depends on it.
Result<void> lower_adaptive_pool_of(Call& call, PoolKind kind, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  AdaptivePool op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.size, per_axis(call, "output_size", axes, 1));
  return emit_batched(call, op, x, {}, axes, call.any_used_after(0) ? 2 : 1);
}

}  // namespace joulecast::aten
