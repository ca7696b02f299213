// SPDX-License-Identifier: Apache-2.0
// Layers as TensorFlow 1 ran them, from rows of cde_conv and cde_dense.
#include "predict/layer_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace joulecast {
namespace {

MeasuredNetwork conv_row(const std::string& details, Mode mode = Mode::kInference) {
  MeasuredNetwork row;
  row.from.table = "cde_conv";
  row.batch = 2;
  row.image_size = 9;
  row.channels = 5;
  row.at.mode = mode;
  row.details = details;
  return row;
}

// The operators' names, in order, and the shape of what comes out.
struct Told {
  std::vector<std::string> operators;
  Shape shape;
  std::size_t parameters = 0;
};

Told told(const MeasuredNetwork& row) {
  const auto graph = layer_graph(row);
  EXPECT_TRUE(graph) << graph.error().text();
  if (!graph) return {};
  EXPECT_TRUE(validate(*graph));
  const auto types = infer_types(*graph, {});
  EXPECT_TRUE(types) << types.error().text();
  if (!types) return {};
  Told out;
  for (const Node& node : graph->nodes)
    out.operators.emplace_back(std::visit([](const auto& op) { return op.kName; }, node.op));
  out.shape = types->type(graph->outputs[0]).shape;
  out.parameters = static_cast<std::size_t>(std::count_if(
      graph->values.begin(), graph->values.end(), [](const Value& v) { return v.kind == ValueKind::kParameter; }));
  return out;
}

using Words = std::vector<std::string>;

// Images and filters are turned to channels-first, the result back.
TEST(LayerGraph, ConvolutionsRunChannelsFirst) {
  const Told found = told(conv_row("channels_out=7; kernelsize=3; strides=2; padding=0; use_bias=1; activation=relu"));
  EXPECT_EQ(found.operators, (Words{"transpose", "transpose", "conv", "transpose", "activation"}));
  EXPECT_EQ(found.shape, (Shape{2, 4, 4, 7}));
  EXPECT_EQ(found.parameters, 3U);  // image, filters, bias
}

// "Same" padding of an even number of rows is the convolution's own; of an odd one a row is put below first.
TEST(LayerGraph, UnevenPaddingIsAKernelOfItsOwn) {
  const std::string same = "; padding=1; use_bias=0; activation=None";
  const Told even = told(conv_row("channels_out=7; kernelsize=3; strides=1" + same));
  EXPECT_EQ(even.operators, (Words{"transpose", "transpose", "conv", "transpose"}));
  EXPECT_EQ(even.shape, (Shape{2, 9, 9, 7}));
  const Told odd = told(conv_row("channels_out=7; kernelsize=4; strides=1" + same));
  EXPECT_EQ(odd.operators, (Words{"pad", "transpose", "transpose", "conv", "transpose"}));
  EXPECT_EQ(odd.shape, (Shape{2, 9, 9, 7}));
  // Of 9 places by fours the last window begins at 8: nothing is missing.
  const Told none = told(conv_row("channels_out=7; kernelsize=1; strides=4" + same));
  EXPECT_EQ(none.operators, (Words{"transpose", "transpose", "conv", "transpose"}));
  EXPECT_EQ(none.shape, (Shape{2, 3, 3, 7}));
}

// 1x1 without a stride, and a filter of the image's size, multiply what lies there.
TEST(LayerGraph, SomeConvolutionsAreProducts) {
  const std::string rest = "; padding=0; use_bias=1; activation=tanh";
  const Told one = told(conv_row("channels_out=7; kernelsize=1; strides=1" + rest));
  EXPECT_EQ(one.operators, (Words{"reshape", "linear", "activation"}));
  EXPECT_EQ(one.shape, (Shape{2 * 9 * 9, 7}));
  const Told whole = told(conv_row("channels_out=7; kernelsize=9; strides=3" + rest));
  EXPECT_EQ(whole.operators, (Words{"reshape", "linear", "activation"}));
  EXPECT_EQ(whole.shape, (Shape{2, 7}));
  const Told padded = told(conv_row("channels_out=7; kernelsize=9; strides=9; padding=1; use_bias=0; activation=None"));
  EXPECT_EQ(padded.operators, (Words{"transpose", "transpose", "conv", "transpose"}));
}

// In training the image and the target are variables too, and the loss is the mean of a square.
TEST(LayerGraph, TrainingHasATarget) {
  const Told found = told(
      conv_row("channels_out=7; kernelsize=1; strides=1; padding=0; use_bias=0; activation=None", Mode::kTraining));
  EXPECT_EQ(found.operators, (Words{"reshape", "linear", "binary", "unary", "reduce"}));
  EXPECT_EQ(found.parameters, 3U);  // image, filters, target
  EXPECT_TRUE(found.shape.empty());
}

TEST(LayerGraph, LinearLayersHaveABias) {
  MeasuredNetwork row;
  row.from.table = "cde_dense";
  row.batch = 8;
  row.details = "dim_input=30; dim_output=40; activation=sigmoid";
  const Told found = told(row);
  EXPECT_EQ(found.operators, (Words{"linear", "activation"}));
  EXPECT_EQ(found.shape, (Shape{8, 40}));
  EXPECT_EQ(found.parameters, 3U);
}

// Details come from files.
TEST(LayerGraph, RefusesWhatIsNoLayer) {
  const std::string good = "channels_out=7; kernelsize=3; strides=1; padding=0; use_bias=0; activation=None";
  ASSERT_TRUE(layer_graph(conv_row(good)));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string out = good;
    return out.replace(out.find(from), from.size(), to);
  };
  for (const std::string& details :
       {std::string(), with("channels_out=7; ", ""), with("kernelsize=3; ", ""), with("strides=1; ", ""),
        with("padding=0; ", ""), with("use_bias=0; ", ""), with("; activation=None", ""), with("out=7", "out=0"),
        with("size=3", "size=10"), with("strides=1", "strides=99999999999"), with("bias=0", "bias=2"),
        with("None", "softmax"), std::string("channels_out")})
    EXPECT_FALSE(layer_graph(conv_row(details))) << details;
  MeasuredNetwork row = conv_row(good);
  row.from.table = "cde_dense";
  EXPECT_FALSE(layer_graph(row));
}

// No product of extents leaves the range of numbers.
TEST(LayerGraph, RefusesHugeExtents) {
  const std::string good = "channels_out=7; kernelsize=1; strides=1; padding=0; use_bias=0; activation=None";
  constexpr std::int64_t kHuge = std::int64_t{1} << 32;
  for (auto extent : {&MeasuredNetwork::batch, &MeasuredNetwork::image_size, &MeasuredNetwork::channels}) {
    MeasuredNetwork row = conv_row(good);
    row.*extent = kHuge;
    EXPECT_FALSE(layer_graph(row));
    row.*extent = std::nullopt;
    EXPECT_FALSE(layer_graph(row));
  }
  MeasuredNetwork large = conv_row(good);
  large.batch = large.image_size = large.channels = 32767;
  const auto graph = layer_graph(large);
  EXPECT_FALSE(graph && infer_types(*graph, {})) << "more than 2^48 elements";
}

}  // namespace
}  // namespace joulecast
