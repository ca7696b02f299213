// SPDX-License-Identifier: Apache-2.0
// Convolutions.
#include <fmt/format.h>

#include <algorithm>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

// One entry for each axis of the tensor, 1 for batch and channels.
std::vector<std::int64_t> full(const IntList& spatial, bool channels_first) {
  std::vector<std::int64_t> out{1};
  if (channels_first) out.push_back(1);
  out.insert(out.end(), spatial.begin(), spatial.end());
  if (!channels_first) out.push_back(1);
  return out;
}

struct Window {
  IntList kernel, stride, dilation;
  bool first = false;  // channels before the image
  std::string_view padding = "VALID";
  bool causal = false;
};

Result<Window> read_window(LayerContext& layer, std::size_t axes) {
  Window out;
  JC_ASSIGN_OR_RETURN(out.kernel, layer.per_axis("kernel_size", axes, 1));
  JC_ASSIGN_OR_RETURN(out.stride, layer.per_axis("strides", axes, 1));
  JC_ASSIGN_OR_RETURN(out.dilation, layer.per_axis("dilation_rate", axes, 1));
  JC_ASSIGN_OR_RETURN(out.first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const std::string_view padding, layer.text("padding", "valid"));
  if (padding != "same" && padding != "valid" && padding != "causal")
    return layer.wrong("padding", "is none that we know");
  out.padding = padding == "same" ? "SAME" : "VALID";
  out.causal = padding == "causal";
  for (const IntList* list : {&out.kernel, &out.stride, &out.dilation}) {
    for (const std::int64_t one : *list) {
      constexpr std::int64_t kLargest = 1 << 20;
      if (one < 1 || one > kLargest) return layer.wrong("kernel_size", fmt::format("or a stride is {}", one));
    }
  }
  return out;
}

Attributes attributes_of(const Window& window) {
  return Attributes()
      .text("padding", window.padding)
      .text("data_format", window.first ? "NCHW" : "NHWC")
      .list("strides", full(window.stride, window.first))
      .list("dilations", full(window.dilation, window.first));
}

Result<std::int64_t> channels_of(LayerContext& layer, const Tensor& x, bool first) {
  return layer.extent(x, first ? 1 : -1);
}

Shape filter_shape(const IntList& kernel, std::int64_t in, std::int64_t out) {
  Shape shape;
  for (const std::int64_t extent : kernel) shape.push_back(extent);
  shape.push_back(in);
  shape.push_back(out);
  return shape;
}

Result<void> add_bias(LayerContext& layer, std::int64_t channels, std::vector<Tensor>& inputs) {
  JC_ASSIGN_OR_RETURN(const bool bias, layer.flag("use_bias", true));
  if (!bias) return {};
  JC_ASSIGN_OR_RETURN(const Tensor weight, layer.weight("bias", Shape{channels}));
  inputs.push_back(weight);
  return {};
}

// Zeros before the first step, so that none sees a later one.
Result<Tensor> padded_before(LayerContext& layer, const Tensor& x, const Window& window) {
  if (!window.causal) return x;
  const std::int64_t zeros = window.dilation[0] * (window.kernel[0] - 1);
  const IntList pads = window.first ? IntList{0, 0, 0, 0, zeros, 0} : IntList{0, 0, zeros, 0, 0, 0};
  return layer.apply("Pad", {x, layer.matrix(pads, 2)});
}

Result<void> finish_active(LayerContext& layer, const Tensor& x) {
  JC_ASSIGN_OR_RETURN(const Tensor active, layer.activate(x));
  return layer.finish(active);
}

Result<void> conv(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const Window window, read_window(layer, axes));
  JC_ASSIGN_OR_RETURN(const std::int64_t filters, layer.integer("filters"));
  JC_ASSIGN_OR_RETURN(const std::int64_t groups, layer.integer("groups", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, channels_of(layer, layer.input(), window.first));
  if (groups < 1 || channels % groups != 0)
    return layer.wrong("groups", fmt::format("is {} for {} channels", groups, channels));
  JC_ASSIGN_OR_RETURN(const Tensor x, padded_before(layer, layer.input(), window));
  JC_ASSIGN_OR_RETURN(const Tensor kernel,
                      layer.weight("kernel", filter_shape(window.kernel, channels / groups, filters)));
  std::vector<Tensor> inputs{x, kernel};
  JC_RETURN_IF_ERROR(add_bias(layer, filters, inputs));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Conv2D", std::move(inputs), attributes_of(window)));
  return finish_active(layer, out);
}

// An image of height 1 for one of fewer axes.
Result<Tensor> depthwise(LayerContext& layer, Window window, const std::string& name, std::vector<Tensor> more) {
  JC_ASSIGN_OR_RETURN(const std::int64_t multiplier, layer.integer("depth_multiplier", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, channels_of(layer, layer.input(), window.first));
  JC_ASSIGN_OR_RETURN(Tensor x, padded_before(layer, layer.input(), window));
  JC_ASSIGN_OR_RETURN(Tensor kernel, layer.weight(name, filter_shape(window.kernel, channels, multiplier)));
  const bool flat = window.kernel.size() == 1;
  const std::int64_t axis = window.first ? 2 : 1;
  if (flat) {
    JC_ASSIGN_OR_RETURN(x, layer.apply("ExpandDims", {x, layer.ints({axis})}));
    kernel.view = filter_shape({1, window.kernel[0]}, channels, multiplier);
    window.stride.insert(window.stride.begin(), window.stride[0]);
    window.dilation.insert(window.dilation.begin(), 1);
  }
  std::vector<Tensor> inputs{x, kernel};
  inputs.insert(inputs.end(), more.begin(), more.end());
  JC_ASSIGN_OR_RETURN(Tensor out, layer.apply("DepthwiseConv2dNative", std::move(inputs), attributes_of(window)));
  if (!flat) return out;
  return layer.apply("Squeeze", {out}, Attributes().list("squeeze_dims", {axis}));
}

Result<void> depthwise_conv(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const Window window, read_window(layer, axes));
  JC_ASSIGN_OR_RETURN(const std::int64_t multiplier, layer.integer("depth_multiplier", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, channels_of(layer, layer.input(), window.first));
  if (multiplier < 1 || multiplier > 1 << 14) return layer.wrong("depth_multiplier", fmt::format("is {}", multiplier));
  std::vector<Tensor> bias;
  JC_RETURN_IF_ERROR(add_bias(layer, channels * multiplier, bias));
  // Keras 2 has another name for it; the file's weights are not read.
  JC_ASSIGN_OR_RETURN(const Tensor out, depthwise(layer, window, "kernel", std::move(bias)));
  return finish_active(layer, out);
}

Result<void> separable_conv(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const Window window, read_window(layer, axes));
  JC_ASSIGN_OR_RETURN(const std::int64_t filters, layer.integer("filters"));
  JC_ASSIGN_OR_RETURN(const Tensor deep, depthwise(layer, window, "depthwise_kernel", {}));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, channels_of(layer, deep, window.first));
  const IntList ones(axes, 1);
  JC_ASSIGN_OR_RETURN(const Tensor kernel, layer.weight("pointwise_kernel", filter_shape(ones, channels, filters)));
  std::vector<Tensor> inputs{deep, kernel};
  JC_RETURN_IF_ERROR(add_bias(layer, filters, inputs));
  const Window point{ones, ones, ones, window.first, "VALID", false};
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Conv2D", std::move(inputs), attributes_of(point)));
  return finish_active(layer, out);
}

// Sizes of the result where those of the input are known; 0 for the others.
IntList transposed_sizes(const Shape& x, const Window& window) {
  IntList out(x.size(), 0);
  const std::size_t begin = window.first ? 2 : 1;
  for (std::size_t i = 0; i < window.kernel.size() && begin + i < x.size(); ++i) {
    constexpr std::int64_t kLargest = std::int64_t{1} << 40;
    if (x[begin + i] < 1 || x[begin + i] > kLargest) continue;
    const std::int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    out[begin + i] = x[begin + i] * window.stride[i] + std::max<std::int64_t>(0, reach - window.stride[i]);
  }
  return out;
}

// Filters [kernel..., out, in].
Result<void> conv_transpose(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const Window window, read_window(layer, axes));
  JC_ASSIGN_OR_RETURN(const std::int64_t filters, layer.integer("filters"));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, channels_of(layer, layer.input(), window.first));
  JC_ASSIGN_OR_RETURN(const Tensor kernel, layer.weight("kernel", filter_shape(window.kernel, filters, channels)));
  const auto shape = layer.extents(layer.input());
  std::vector<Tensor> inputs{layer.ints(transposed_sizes(shape.value_or(Shape{}), window)), kernel, layer.input()};
  JC_RETURN_IF_ERROR(add_bias(layer, filters, inputs));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Conv2DBackpropInput", std::move(inputs), attributes_of(window)));
  return finish_active(layer, out);
}

}  // namespace

Result<void> lower_conv_1d(LayerContext& layer) {
  return conv(layer, 1);
}
Result<void> lower_conv_2d(LayerContext& layer) {
  return conv(layer, 2);
}
Result<void> lower_conv_3d(LayerContext& layer) {
  return conv(layer, 3);
}
namespace {

Result<Tensor> convolved(LayerContext& cell, const Tensor& x, const std::string& name, const Window& window,
                         bool biased) {
  JC_ASSIGN_OR_RETURN(const std::int64_t filters, cell.integer("filters"));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, channels_of(cell, x, window.first));
  JC_ASSIGN_OR_RETURN(const Tensor kernel, cell.weight(name, filter_shape(window.kernel, channels, filters)));
  std::vector<Tensor> inputs{x, kernel};
  if (biased) {
    JC_ASSIGN_OR_RETURN(const Tensor bias, cell.weight(name + "/bias", Shape{filters}));
    inputs.push_back(bias);
  }
  return cell.apply("Conv2D", std::move(inputs), attributes_of(window));
}

}  // namespace

// Of a gate of ConvLSTM: of the step's input, and of the state, which keeps its size.
Result<Tensor> convolved_input(LayerContext& cell, const Tensor& x, const std::string& name) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, cell.rank(x));
  if (rank < 3) return invalid(fmt::format("is called on steps of {} axes", rank));
  JC_ASSIGN_OR_RETURN(const Window window, read_window(cell, rank - 2));
  JC_ASSIGN_OR_RETURN(const bool biased, cell.flag("use_bias", true));
  return convolved(cell, x, name, window, biased);
}

Result<Tensor> convolved_state(LayerContext& cell, const Tensor& h, const std::string& name) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, cell.rank(h));
  if (rank < 3) return invalid(fmt::format("has a state of {} axes", rank));
  JC_ASSIGN_OR_RETURN(Window window, read_window(cell, rank - 2));
  window.stride.assign(rank - 2, 1);
  window.dilation.assign(rank - 2, 1);
  window.padding = "SAME";
  return convolved(cell, h, name, window, false);
}

// The extents of a state of ConvLSTM on x [batch, time, ...], batch aside.
Result<Shape> conv_lstm_state(LayerContext& layer, const Tensor& x) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(x));
  if (rank < 4) return invalid(fmt::format("is called on an input of {} axes", rank));
  JC_ASSIGN_OR_RETURN(const Window window, read_window(layer, rank - 3));
  JC_ASSIGN_OR_RETURN(const std::int64_t filters, layer.integer("filters"));
  Shape out;
  if (window.first) out.push_back(filters);
  for (std::size_t i = 0; i + 3 < rank; ++i) {
    JC_ASSIGN_OR_RETURN(const std::int64_t extent,
                        layer.extent(x, static_cast<std::int64_t>(i + (window.first ? 3 : 2))));
    const std::int64_t reach = window.padding == "SAME" ? 1 : window.dilation[i] * (window.kernel[i] - 1) + 1;
    if (extent < reach) return layer.wrong("kernel_size", "is larger than the image");
    out.push_back((extent - reach) / window.stride[i] + 1);
  }
  if (!window.first) out.push_back(filters);
  return out;
}

// x, filters.
Result<void> lower_conv_operation(LayerContext& layer) {
  std::vector<Tensor> all = layer.operands();
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (all.size() != 2 || rank < 3) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Window window, read_window(layer, rank - 2));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Conv2D", std::move(all), attributes_of(window)));
  return layer.finish(out);
}

Result<void> lower_conv_1d_transpose(LayerContext& layer) {
  return conv_transpose(layer, 1);
}
Result<void> lower_conv_2d_transpose(LayerContext& layer) {
  return conv_transpose(layer, 2);
}
Result<void> lower_conv_3d_transpose(LayerContext& layer) {
  return conv_transpose(layer, 3);
}
Result<void> lower_depthwise_conv_1d(LayerContext& layer) {
  return depthwise_conv(layer, 1);
}
Result<void> lower_depthwise_conv_2d(LayerContext& layer) {
  return depthwise_conv(layer, 2);
}
Result<void> lower_separable_conv_1d(LayerContext& layer) {
  return separable_conv(layer, 1);
}
Result<void> lower_separable_conv_2d(LayerContext& layer) {
  return separable_conv(layer, 2);
}

namespace {

Result<void> pool(LayerContext& layer, std::string_view op, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const IntList size, layer.per_axis("pool_size", axes, 2));
  JC_ASSIGN_OR_RETURN(IntList stride, layer.integers("strides"));
  if (stride.empty()) stride = size;
  if (stride.size() == 1) stride.resize(axes, stride[0]);
  JC_ASSIGN_OR_RETURN(const std::string_view padding, layer.text("padding", "valid"));
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply(op, {layer.input()},
                                                    Attributes()
                                                        .text("padding", padding == "same" ? "SAME" : "VALID")
                                                        .text("data_format", first ? "NCHW" : "NHWC")
                                                        .list("ksize", full(size, first))
                                                        .list("strides", full(stride, first))));
  return layer.finish(out);
}

Result<void> global_pool(LayerContext& layer, std::string_view op) {
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const bool keep, layer.flag("keepdims", false));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  IntList axes;
  for (std::size_t i = first ? 2 : 1; i + (first ? 0 : 1) < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply(op, {layer.input(), layer.ints(std::move(axes))},
                                                    Attributes().flag("keep_dims", keep)));
  return layer.finish(out);
}

}  // namespace

// Of operations: the image has as many axes as the input, batch and channels aside.
Result<void> lower_pool(LayerContext& layer, std::string_view op) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  return rank < 3 ? layer.opaque() : pool(layer, op, rank - 2);
}

Result<void> lower_max_pool_1d(LayerContext& layer) {
  return pool(layer, "MaxPool", 1);
}
Result<void> lower_max_pool_2d(LayerContext& layer) {
  return pool(layer, "MaxPool", 2);
}
Result<void> lower_max_pool_3d(LayerContext& layer) {
  return pool(layer, "MaxPool", 3);
}
Result<void> lower_average_pool_1d(LayerContext& layer) {
  return pool(layer, "AvgPool", 1);
}
Result<void> lower_average_pool_2d(LayerContext& layer) {
  return pool(layer, "AvgPool", 2);
}
Result<void> lower_average_pool_3d(LayerContext& layer) {
  return pool(layer, "AvgPool", 3);
}
Result<void> lower_global_average_pool(LayerContext& layer) {
  return global_pool(layer, "Mean");
}
Result<void> lower_global_max_pool(LayerContext& layer) {
  return global_pool(layer, "Max");
}

}  // namespace joulecast::keras
