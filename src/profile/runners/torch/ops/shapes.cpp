// SPDX-License-Identifier: Apache-2.0
// What changes the shape of a tensor or puts tensors together. The shapes that come out are in the program.
#include <algorithm>

#include "operators.h"

namespace joulecast::runner {
namespace {

Kernel to_output_shape(const StepContext& context) {
  return one_input(context, [shape = context.output().shape](const at::Tensor& x) { return x.reshape(shape); });
}

Kernel transpose(const StepContext& context) {
  std::vector<std::int64_t> order = context.fields().integers("order");
  if (order.empty()) {
    for (std::int64_t i = context.rank(0); i-- > 0;) order.push_back(i);
  }
  if (context.fields().flag("contiguous"))
    return one_input(context, [order](const at::Tensor& x) { return x.permute(order).contiguous(); });
  return one_input(context, [order](const at::Tensor& x) { return x.permute(order); });
}

Kernel expand(const StepContext& context) {
  return one_input(context, [shape = context.output().shape](const at::Tensor& x) { return x.expand(shape); });
}

Kernel tile(const StepContext& context) {
  return one_input(context, [repeats = context.integers(1)](const at::Tensor& x) { return x.repeat(repeats); });
}

Kernel concat(const StepContext& context) {
  std::vector<std::size_t> parts;
  for (std::size_t i = 0; i < context.inputs(); ++i) parts.push_back(context.in(i));
  return [parts, axis = context.axis(context.fields().integer("axis")), y = context.out()](Slots& slots) {
    std::vector<at::Tensor> tensors;
    tensors.reserve(parts.size());
    for (const std::size_t part : parts) tensors.push_back(slots[part]);
    slots[y] = at::cat(tensors, axis);
  };
}

// Extents of the outputs along the axis; what nobody reads has the rest.
std::vector<std::int64_t> split_sizes(const StepContext& context, std::int64_t axis) {
  std::vector<std::int64_t> sizes = context.fields().integers("sizes");
  if (sizes.empty() && context.has(1)) sizes = context.integers(1);
  if (!sizes.empty()) return sizes;
  const std::int64_t all = context.input(0).shape[static_cast<std::size_t>(axis)];
  const auto parts = static_cast<std::int64_t>(context.outputs());
  const std::int64_t part = (all + parts - 1) / parts;
  for (std::int64_t i = 0; i < parts; ++i) sizes.push_back(std::min(part, all - i * part));
  return sizes;
}

Kernel split(const StepContext& context) {
  const std::int64_t axis = context.axis(context.fields().integer("axis"));
  std::vector<std::optional<std::size_t>> to;
  for (std::size_t i = 0; i < context.outputs(); ++i) to.push_back(context.optional_out(i));
  return [axis, to, x = context.in(0), sizes = split_sizes(context, axis)](Slots& slots) {
    const std::vector<at::Tensor> parts = at::split_with_sizes(slots[x], sizes, axis);
    for (std::size_t i = 0; i < to.size() && i < parts.size(); ++i) {
      if (to[i]) slots[*to[i]] = parts[i];
    }
  };
}

struct Cut {
  std::int64_t axis, start, end, step;
};

// ONNX's Slice: indices from the end, and beyond it.
Kernel slice(const StepContext& context) {
  const std::vector<std::int64_t> starts = context.integers(1), ends = context.integers(2);
  std::vector<Cut> cuts;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const std::int64_t axis = context.axis(context.has(3) ? context.integers(3)[i] : static_cast<std::int64_t>(i));
    const std::int64_t step = context.has(4) ? context.integers(4)[i] : 1;
    if (step < 1) refuse(context, "backwards");
    cuts.push_back({axis, starts[i], ends[i], step});
  }
  return one_input(context, [cuts](const at::Tensor& x) {
    at::Tensor y = x;
    for (const Cut& cut : cuts) y = y.slice(cut.axis, cut.start, cut.end, cut.step);
    return y;
  });
}

// begins then ends of each axis -> PyTorch's pairs from the last axis on.
Kernel pad(const StepContext& context) {
  const std::vector<std::int64_t> pads = context.integers(1);
  const auto rank = static_cast<std::size_t>(context.rank(0));
  std::vector<std::int64_t> begins(rank, 0), ends(rank, 0);
  const std::size_t axes = pads.size() / 2;
  for (std::size_t i = 0; i < axes; ++i) {
    const auto axis =
        static_cast<std::size_t>(context.axis(context.has(3) ? context.integers(3)[i] : static_cast<std::int64_t>(i)));
    begins.at(axis) = pads[i];
    ends.at(axis) = pads[axes + i];
  }
  std::vector<std::int64_t> order;
  for (std::size_t i = rank; i-- > 0;) order.insert(order.end(), {begins[i], ends[i]});
  return one_input(context, [order, fill = context.number(2).value_or(0.0)](const at::Tensor& x) {
    return at::constant_pad_nd(x, order, fill);
  });
}

Kernel roll(const StepContext& context) {
  return one_input(context, [shifts = context.fields().integers("shifts"), axes = context.fields().integers("axes")](
                                const at::Tensor& x) { return at::roll(x, shifts, axes); });
}

Kernel fill(const StepContext& context) {
  return [value = context.fields().real("value"), shape = context.output().shape, element = context.output().element,
          like = context.optional_in(0), y = context.out()](Slots& slots) {
    const at::Device device = like ? slots[*like].device() : at::Device(at::kCPU);
    slots[y] = at::full(shape, value, at::TensorOptions().dtype(element).device(device));
  };
}

}  // namespace

std::vector<OperatorEntry> shape_operators() {
  return {{"reshape", to_output_shape},
          {"flatten", to_output_shape},
          {"squeeze", to_output_shape},
          {"unsqueeze", to_output_shape},
          {"transpose", transpose},
          {"expand", expand},
          {"tile", tile},
          {"concat", concat},
          {"split", split},
          {"slice", slice},
          {"pad", pad},
          {"roll", roll},
          {"fill", fill}};
}

}  // namespace joulecast::runner
