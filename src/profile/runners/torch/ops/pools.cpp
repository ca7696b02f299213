// SPDX-License-Identifier: Apache-2.0
// Pooling, resizing, pixel shuffles.
#include "operators.h"

namespace joulecast::runner {
namespace {

struct Window {
  std::vector<std::int64_t> kernel, stride, dilation, padding;
  bool ceil = false;
};

std::vector<std::int64_t> or_filled(std::vector<std::int64_t> list, std::size_t size, std::int64_t value) {
  if (list.empty()) list.assign(size, value);
  return list;
}

Window window(const StepContext& context) {
  const Fields& fields = context.fields();
  const std::vector<std::int64_t> kernel = fields.integers("kernel");
  const std::size_t axes = kernel.size();
  Window out{kernel, or_filled(fields.integers("stride"), axes, 1), or_filled(fields.integers("dilation"), axes, 1),
             or_filled(fields.integers("padding_begin"), axes, 0), fields.flag("ceil_mode")};
  if (fields.flag("same_padding") || or_filled(fields.integers("padding_end"), axes, 0) != out.padding) {
    refuse(context, "padding that differs between the sides");
  }
  return out;
}

Kernel max_pool(const StepContext& context, const Window& w) {
  if (context.optional_out(1)) refuse(context, "with indices");
  switch (w.kernel.size()) {
    case 1:
      return one_input(context, [w](const at::Tensor& x) {
        return at::max_pool1d(x, w.kernel, w.stride, w.padding, w.dilation, w.ceil);
      });
    case 2:
      return one_input(context, [w](const at::Tensor& x) {
        return at::max_pool2d(x, w.kernel, w.stride, w.padding, w.dilation, w.ceil);
      });
    case 3:
      return one_input(context, [w](const at::Tensor& x) {
        return at::max_pool3d(x, w.kernel, w.stride, w.padding, w.dilation, w.ceil);
      });
    default:
      refuse(context, "over that many axes");
  }
}

Kernel average_pool(const StepContext& context, const Window& w) {
  switch (w.kernel.size()) {
    case 1:
      return one_input(context,
                       [w](const at::Tensor& x) { return at::avg_pool1d(x, w.kernel, w.stride, w.padding, w.ceil); });
    case 2:
      return one_input(context,
                       [w](const at::Tensor& x) { return at::avg_pool2d(x, w.kernel, w.stride, w.padding, w.ceil); });
    case 3:
      return one_input(context,
                       [w](const at::Tensor& x) { return at::avg_pool3d(x, w.kernel, w.stride, w.padding, w.ceil); });
    default:
      refuse(context, "over that many axes");
  }
}

Kernel pool(const StepContext& context) {
  const std::string kind = context.fields().text("kind", "max");
  if (kind == "max") return max_pool(context, window(context));
  if (kind == "average") return average_pool(context, window(context));
  refuse(context, kind);
}

Kernel adaptive_pool(const StepContext& context) {
  const std::vector<std::int64_t> size = context.fields().integers("size");
  const bool average = context.fields().text("kind", "average") == "average";
  if (size.size() == 2 && average)
    return one_input(context, [size](const at::Tensor& x) { return at::adaptive_avg_pool2d(x, size); });
  if (size.size() == 2) {
    return one_input(context, [size](const at::Tensor& x) { return std::get<0>(at::adaptive_max_pool2d(x, size)); });
  }
  if (size.size() == 1 && average)
    return one_input(context, [size](const at::Tensor& x) { return at::adaptive_avg_pool1d(x, size); });
  if (size.size() == 3 && average)
    return one_input(context, [size](const at::Tensor& x) { return at::adaptive_avg_pool3d(x, size); });
  refuse(context, "over that many axes");
}

Kernel resize(const StepContext& context) {
  const std::string kind = context.fields().text("kind", "nearest");
  const std::vector<std::int64_t>& to = context.output().shape;
  if (context.rank(0) != 4) refuse(context, "of other than images");
  const std::vector<std::int64_t> size(to.begin() + 2, to.end());
  if (kind == "nearest")
    return one_input(context, [size](const at::Tensor& x) { return at::upsample_nearest2d(x, size); });
  if (kind == "linear")
    return one_input(context, [size](const at::Tensor& x) { return at::upsample_bilinear2d(x, size, false); });
  return one_input(context, [size](const at::Tensor& x) { return at::upsample_bicubic2d(x, size, false); });
}

Kernel grid_sample(const StepContext& context) {
  const std::int64_t kind = context.fields().text("kind", "linear") == "nearest" ? 1 : 0;
  return [kind, x = context.in(0), grid = context.in(1), y = context.out()](Slots& slots) {
    slots[y] = at::grid_sampler(slots[x], slots[grid], kind, 0, false);
  };
}

Kernel pixel_shuffle(const StepContext& context) {
  const std::int64_t factor = context.fields().integer("factor", 1);
  if (context.fields().flag("inverse"))
    return one_input(context, [factor](const at::Tensor& x) { return at::pixel_unshuffle(x, factor); });
  return one_input(context, [factor](const at::Tensor& x) { return at::pixel_shuffle(x, factor); });
}

}  // namespace

std::vector<OperatorEntry> pool_operators() {
  return {{"pool", pool},
          {"adaptive_pool", adaptive_pool},
          {"resize", resize},
          {"grid_sample", grid_sample},
          {"pixel_shuffle", pixel_shuffle}};
}

}  // namespace joulecast::runner
