// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools and interpolation. With channels last the image is turned for the operator and back; filters are
// stored in the same order either way.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/paddle/lowerings.h"

namespace joulecast::paddle {
namespace {

constexpr std::int64_t kMaxWindow = std::int64_t{1} << 24;

// One entry an axis; a single one stands for all.
Result<Extents> window(const Call& call, std::string_view name, std::size_t axes, std::int64_t absent) {
  JC_ASSIGN_OR_RETURN(const IntList list, call.numbers(name));
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

Result<bool> channels_last(const Call& call) {
  JC_ASSIGN_OR_RETURN(const std::string_view format, call.text("data_format", "NCHW"));
  return format.size() > 2 && format.ends_with('C');
}

IntList turned(std::size_t rank, bool to_front) {
  const auto last = static_cast<std::int64_t>(rank) - 1;
  IntList out{0};
  if (to_front) out.push_back(last);
  for (std::int64_t i = to_front ? 1 : 2; i < last + (to_front ? 0 : 1); ++i) out.push_back(i);
  if (!to_front) out.push_back(1);
  return out;
}

Result<std::size_t> spatial_axes(const Call& call, ValueId x) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank < 3 || rank > 5) return unsupported(fmt::format("rank {} is not that of 1 to 3 spatial axes", rank));
  return rank - 2;
}

// The operator on x with its channels first, and what is behind x; output 0 of the call.
Result<void> emit_image(Call& call, Operator op, ValueId x, const std::vector<ValueId>& others, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const bool last, channels_last(call));
  if (last) x = call.step(Transpose{turned(axes + 2, true)}, {x}, "channels_first");
  std::vector<ValueId> inputs{x};
  inputs.insert(inputs.end(), others.begin(), others.end());
  if (!last) return call.emit(std::move(op), std::move(inputs));
  const ValueId made = call.step(std::move(op), std::move(inputs), "made");
  return call.emit(Transpose{turned(axes + 2, false)}, {made});
}

struct Padding {
  Extents begin, end;
  bool same = false;
};

// EXPLICIT (one entry an axis, or before and behind of each), SAME or VALID.
Result<Padding> read_padding(const Call& call, std::size_t axes) {
  Padding out;
  JC_ASSIGN_OR_RETURN(const std::string_view algorithm, call.text("padding_algorithm", "EXPLICIT"));
  if (algorithm == "SAME") {
    out.same = true;
    return out;
  }
  out.begin = out.end = Extents(axes, 0);
  if (algorithm == "VALID") return out;
  JC_ASSIGN_OR_RETURN(IntList list, call.numbers("paddings"));
  if (list.size() == 2 * (axes + 2)) {  // of all axes, batch and channels too
    JC_ASSIGN_OR_RETURN(const bool last, channels_last(call));
    const auto skip = static_cast<std::ptrdiff_t>(last ? 2 : 4);
    list = IntList(list.begin() + skip, list.begin() + skip + static_cast<std::ptrdiff_t>(2 * axes));
  }
  if (list.size() != 2 * axes) {
    JC_ASSIGN_OR_RETURN(out.begin, window(call, "paddings", axes, 0));
    out.end = out.begin;
    return out;
  }
  for (std::size_t i = 0; i < axes; ++i) {
    const auto [low, high] = std::minmax(list[2 * i], list[2 * i + 1]);
    if (low < 0 || high > kMaxWindow) return call.wrong("paddings", fmt::format("has entries of {} and {}", low, high));
    out.begin[i] = list[2 * i];
    out.end[i] = list[2 * i + 1];
  }
  return out;
}

Result<Conv> read_conv(const Call& call, std::size_t axes) {
  Conv op;
  JC_ASSIGN_OR_RETURN(op.stride, window(call, "strides", axes, 1));
  JC_ASSIGN_OR_RETURN(op.dilation, window(call, "dilations", axes, 1));
  JC_ASSIGN_OR_RETURN(const Padding padding, read_padding(call, axes));
  op.padding_begin = padding.begin;
  op.padding_end = padding.end;
  op.same_padding = padding.same;
  JC_ASSIGN_OR_RETURN(op.groups, call.number("groups", 1));
  if (op.groups < 1 || op.groups > kMaxElements) return call.wrong("groups", fmt::format("is {}", op.groups));
  return op;
}

}  // namespace

Result<void> lower_conv(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId filter, call.tensor("filter"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, filter));
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(call, axes));
  return emit_image(call, op, x, {filter, bias}, axes);
}

// An output size takes the place of what is added behind: of the sizes that a stride allows it is one.
Result<void> lower_conv_transpose(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId filter, call.tensor("filter"));
  JC_ASSIGN_OR_RETURN(const ValueId bias, call.optional_tensor("bias"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, filter));
  JC_ASSIGN_OR_RETURN(Conv op, read_conv(call, axes));
  op.transposed = true;
  JC_ASSIGN_OR_RETURN(op.output_padding, window(call, "output_padding", axes, 0));
  JC_ASSIGN_OR_RETURN(const auto size, call.integers("output_size"));
  const bool given =
      std::any_of(size.begin(), size.end(), [](const Integer& n) { return n.symbolic() || n.value > 0; });
  if (given || op.same_padding) return unsupported("an output of a given size");
  return emit_image(call, op, x, {filter, bias}, axes);
}

// The input is sampled at the offsets, which we have no operator for, and convolved.
Result<void> lower_deformable_conv(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId offset, call.tensor("offset"));
  JC_ASSIGN_OR_RETURN(const ValueId filter, call.tensor("filter"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.optional_tensor("mask"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, filter));
  JC_ASSIGN_OR_RETURN(const Conv op, read_conv(call, axes));
  const ValueId sampled = call.step(Opaque{"DeformConv", {}}, {x, offset, mask}, "sampled");
  return call.emit(op, {sampled, filter});
}

namespace {

Result<void> pool(Call& call, PoolKind kind, std::size_t outputs) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, x));
  JC_ASSIGN_OR_RETURN(const bool global, call.flag("global_pooling", false));
  JC_ASSIGN_OR_RETURN(const bool adaptive, call.flag("adaptive", false));
  if (global || adaptive) {
    AdaptivePool op{kind, Extents(axes, 1)};
    if (!global) {
      JC_ASSIGN_OR_RETURN(op.size, window(call, "kernel_size", axes, 1));
    }
    if (outputs == 1) return emit_image(call, op, x, {}, axes);
    return call.emit(op, {x}, call.any_used_after(0) ? 2 : 1);
  }
  if (!call.has("kernel_size")) return call.wrong("kernel_size", "is missing");
  Pool op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.kernel, window(call, "kernel_size", axes, 1));
  JC_ASSIGN_OR_RETURN(op.stride, window(call, "strides", axes, 1));
  op.dilation = Extents(axes, 1);
  JC_ASSIGN_OR_RETURN(const Padding padding, read_padding(call, axes));
  op.padding_begin = padding.begin;
  op.padding_end = padding.end;
  op.same_padding = padding.same;
  JC_ASSIGN_OR_RETURN(op.ceil_mode, call.flag("ceil_mode", false));
  if (outputs == 1) return emit_image(call, op, x, {}, axes);
  return call.emit(op, {x}, outputs);
}

}  // namespace

Result<void> lower_pool(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::string_view type, call.text("pooling_type", "max"));
  if (type != "max" && type != "avg") return call.wrong("pooling_type", "is neither max nor avg");
  return pool(call, type == "max" ? PoolKind::kMax : PoolKind::kAverage, 1);
}

Result<void> lower_max_pool_with_index(Call& call) {
  return pool(call, PoolKind::kMax, 2);
}

Result<void> lower_grid_sample(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId grid, call.tensor("grid"));
  JC_ASSIGN_OR_RETURN(const std::string_view mode, call.text("mode", "bilinear"));
  return call.emit(GridSample{mode == "nearest" ? ResizeKind::kNearest : ResizeKind::kLinear}, {x, grid});
}

// To sizes (a tensor, one for every axis, or attributes), else by factors (a tensor, or an attribute).
Result<void> lower_resize_of(Call& call, ResizeKind kind) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::size_t axes, spatial_axes(call, x));
  Resize op{kind, {}};
  for (std::size_t axis = 0; axis < axes; ++axis) op.axes.push_back(static_cast<std::int64_t>(axis) + 2);
  for (const std::string_view name : {"size_tensor", "out_size"}) {
    if (!call.has(name)) continue;
    JC_ASSIGN_OR_RETURN(const ValueId size, vector_of(call, name));
    return emit_image(call, std::move(op), x, {kNoValue, size}, axes);
  }
  if (call.has("scale_tensor") && !call.is<double>("scale_tensor")) {
    JC_ASSIGN_OR_RETURN(const ValueId scale, call.tensor("scale_tensor"));
    return emit_image(call, std::move(op), x, {scale}, axes);
  }
  IntList sizes;
  constexpr std::array<std::string_view, 3> kSizes{"out_d", "out_h", "out_w"};
  for (std::size_t i = 3 - axes; i < 3; ++i) {
    JC_ASSIGN_OR_RETURN(const std::int64_t size, call.number(kSizes[i], -1));
    sizes.push_back(size);
  }
  JC_ASSIGN_OR_RETURN(std::vector<double> factors,
                      call.is<double>("scale")
                          ? call.real("scale", 1.0).map([](double one) { return std::vector{one}; })
                          : call.reals("scale"));
  const bool sized = std::all_of(sizes.begin(), sizes.end(), [](std::int64_t size) { return size > 0; });
  if (sized && (factors.empty() || factors[0] <= 0.0)) {
    return emit_image(call, std::move(op), x, {kNoValue, call.int_vector(sizes)}, axes);
  }
  if (factors.size() == 1) factors.resize(axes, factors[0]);
  if (factors.size() != axes) return call.wrong("scale", fmt::format("has {} entries", factors.size()));
  return emit_image(call, std::move(op), x, {call.real_vector(std::move(factors))}, axes);
}

}  // namespace joulecast::paddle
