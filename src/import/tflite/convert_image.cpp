// SPDX-License-Identifier: Apache-2.0
// Convolutions and pools. Images have their channels last in both; filters lie in another order.
#include <fmt/format.h>

#include "import/tflite/convert_operators.h"

namespace joulecast::tflite {
namespace {

std::string_view padding(const FlatTable& options) {
  return options.number<std::uint8_t>(0, 0) == 0 ? "SAME" : "VALID";
}

// Fields of options that all kinds of convolutions of images have, in different places.
struct Places {
  std::size_t stride_w, stride_h, activation, dilation_w, dilation_h;
};

Attributes conv_attributes(const FlatTable& options, const Places& at) {
  Attributes out;
  out.text("padding", padding(options));
  out.list("strides", {1, options.integer(at.stride_h, 1), options.integer(at.stride_w, 1), 1});
  if (at.dilation_w > 0) {
    out.list("dilations", {1, options.integer(at.dilation_h, 1), options.integer(at.dilation_w, 1), 1});
  }
  return out;
}

Result<void> add_bias(OperatorConverter& op, std::size_t i, std::vector<std::string_view>& inputs) {
  if (!op.has(i)) return {};
  JC_ASSIGN_OR_RETURN(const std::string_view bias, op.input(i));
  inputs.push_back(bias);
  return {};
}

}  // namespace

// x, filters [out, height, width, in], [bias].
Result<void> convert_conv(OperatorConverter& op) {
  constexpr Places kPlaces{1, 2, 3, 4, 5};
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  JC_ASSIGN_OR_RETURN(const std::string_view filters, op.permuted(1, {1, 2, 3, 0}));
  std::vector<std::string_view> inputs{x, filters};
  JC_RETURN_IF_ERROR(add_bias(op, 2, inputs));
  return op.finish_active(op.options().number<std::uint8_t>(kPlaces.activation, 0), "Conv2D", std::move(inputs),
                          conv_attributes(op.options(), kPlaces));
}

// x, filters [1, height, width, channels * multiplier], [bias].
Result<void> convert_depthwise_conv(OperatorConverter& op) {
  constexpr Places kPlaces{1, 2, 4, 5, 6};
  const Shape& image = op.input_tensor(0).shape;
  const Shape& shape = op.input_tensor(1).shape;
  const std::int64_t channels = image.size() == 4 ? image[3] : 0;
  if (shape.size() != 4 || channels < 1 || shape[3] < 0 || shape[3] % channels != 0) {
    return invalid(fmt::format("filters {} do not fit an image {}", text(shape), text(image)));
  }
  const Shape wanted{shape[1], shape[2], channels, shape[3] / channels};
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  JC_ASSIGN_OR_RETURN(auto filters, op.subgraph().constant(op.op().inputs[1], wanted));
  if (!filters) {
    std::vector<std::int32_t> extents;
    for (const std::int64_t extent : wanted) extents.push_back(static_cast<std::int32_t>(extent));
    JC_ASSIGN_OR_RETURN(const std::string_view computed, op.input(1));
    JC_ASSIGN_OR_RETURN(const std::string_view target, op.ints(extents));
    JC_ASSIGN_OR_RETURN(filters, op.step("Reshape", {computed, target}));
  }
  std::vector<std::string_view> inputs{x, *filters};
  JC_RETURN_IF_ERROR(add_bias(op, 2, inputs));
  return op.finish_active(op.options().number<std::uint8_t>(kPlaces.activation, 0), "DepthwiseConv2dNative",
                          std::move(inputs), conv_attributes(op.options(), kPlaces));
}

// Sizes of the result, filters [out, height, width, in], x, [bias].
Result<void> convert_transpose_conv(OperatorConverter& op) {
  constexpr Places kPlaces{1, 2, 3, 0, 0};
  JC_ASSIGN_OR_RETURN(const std::string_view sizes, op.input(0));
  JC_ASSIGN_OR_RETURN(const std::string_view filters, op.permuted(1, {1, 2, 0, 3}));
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(2));
  std::vector<std::string_view> inputs{sizes, filters, x};
  JC_RETURN_IF_ERROR(add_bias(op, 3, inputs));
  return op.finish_active(op.options().number<std::uint8_t>(kPlaces.activation, 0), "Conv2DBackpropInput",
                          std::move(inputs), conv_attributes(op.options(), kPlaces));
}

namespace {

Attributes volume_attributes(const FlatTable& options) {
  return Attributes()
      .text("padding", padding(options))
      .text("data_format", "NDHWC")
      .list("strides", {1, options.integer(1, 1), options.integer(3, 1), options.integer(2, 1), 1})
      .list("dilations", {1, options.integer(5, 1), options.integer(7, 1), options.integer(6, 1), 1});
}

}  // namespace

// x, filters [depth, height, width, in, out], [bias].
Result<void> convert_conv_3d(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish_active(op.options().number<std::uint8_t>(4, 0), "Conv3D", std::move(inputs),
                          volume_attributes(op.options()));
}

// Sizes of the result, filters [depth, height, width, out, in], x, [bias].
Result<void> convert_conv_3d_transpose(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish_active(op.options().number<std::uint8_t>(4, 0), "Conv3DBackpropInputV2", std::move(inputs),
                          volume_attributes(op.options()));
}

Result<void> convert_pool(OperatorConverter& op) {
  const FlatTable& options = op.options();
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  Attributes attributes;
  attributes.text("padding", padding(options));
  attributes.list("strides", {1, options.integer(2, 1), options.integer(1, 1), 1});
  attributes.list("ksize", {1, options.integer(4, 1), options.integer(3, 1), 1});
  return op.finish_active(options.number<std::uint8_t>(5, 0), op.target(), {x}, std::move(attributes));
}

// Space to depth and back.
Result<void> convert_block(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  return op.finish(op.target(), {x}, Attributes().integer("block_size", op.options().integer(0)));
}

}  // namespace joulecast::tflite
