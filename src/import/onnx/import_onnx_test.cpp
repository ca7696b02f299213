// SPDX-License-Identifier: Apache-2.0
// Each ONNX operator, in the forms of several operator sets, and what it becomes: the operators and the output's type.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include "import/onnx/model_writer.h"
#include "import/onnx/operators.h"
#include "import/text.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

using namespace onnx::test;

Result<Graph> import_text(const std::string& file) {
  return import_onnx(std::as_bytes(std::span(file.data(), file.size())), "test");
}

// "conv relu -> f32 2x4x8x8": the operators in order, then the first output with every symbol at 2.
std::string summary(const std::string& file) {
  const auto graph = import_text(file);
  if (!graph) return graph.error().text();
  Binding binding;
  for (const auto& open : unbound_dimensions(*graph, binding)) binding.symbols[open.symbol] = 2;
  const auto types = infer_types(*graph, binding);
  std::string out;
  for (const Node& node : graph->nodes) out += label(node.op) + ' ';
  if (!types) return out + types.error().text();
  const TensorType& type = types->type(graph->outputs.at(0));
  return out + fmt::format("-> {} {}", name(type.element), text(type.shape));
}

std::string floats(const std::vector<float>& values) {
  std::string out(values.size() * sizeof(float), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

struct Case {
  std::string name;
  std::int64_t opset;
  std::vector<Encoded> nodes;
  std::vector<Encoded> initializers;
  std::string expected;
  std::vector<Extent> x{2, 4, 8, 8};
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

std::string case_name(const testing::TestParamInfo<Case>& test) {
  return test.param.name;
}

class Lowering : public testing::TestWithParam<Case> {};

TEST_P(Lowering, GivesOperatorsAndShape) {
  const Case& c = GetParam();
  const std::string file =
      model({.nodes = c.nodes, .inputs = {value("x", c.x)}, .outputs = {value("y")}, .initializers = c.initializers},
            {.opset_version = c.opset});
  EXPECT_EQ(summary(file), c.expected);
}

const Encoded kWeight = tensor("w", {6, 4, 3, 3});

INSTANTIATE_TEST_SUITE_P(
    Windows, Lowering,
    testing::Values(
        Case{"conv",
             11,
             {node("Conv", {"x", "w"}, {"y"}, {integers("strides", {2, 2}), integers("pads", {1, 1, 1, 1})})},
             {kWeight},
             "conv -> f32 2x6x4x4"},
        Case{"conv_same",
             11,
             {node("Conv", {"x", "w"}, {"y"}, {string("auto_pad", "SAME_UPPER"), integers("strides", {3, 3})})},
             {kWeight},
             "conv -> f32 2x6x3x3"},
        Case{"conv_valid",
             11,
             {node("Conv", {"x", "w"}, {"y"}, {string("auto_pad", "VALID")})},
             {kWeight},
             "conv -> f32 2x6x6x6"},
        Case{"conv_transpose",
             11,
             {node("ConvTranspose", {"x", "w"}, {"y"},
                   {integers("strides", {2, 2}), integers("output_padding", {1, 1})})},
             {tensor("w", {4, 5, 3, 3})},
             "conv_transpose -> f32 2x5x18x18"},
        Case{"max_pool",
             12,
             {node("MaxPool", {"x"}, {"y"},
                   {integers("kernel_shape", {3, 3}), integers("strides", {2, 2}), integer("ceil_mode", 1)})},
             {},
             "max_pool -> f32 2x4x4x4"},
        Case{"average_pool",
             19,
             {node("AveragePool", {"x"}, {"y"}, {integers("kernel_shape", {2, 2})})},
             {},
             "average_pool -> f32 2x4x7x7"},
        Case{"global_pool_1d",
             13,
             {node("GlobalAveragePool", {"x"}, {"y"})},
             {},
             "adaptive_average_pool -> f32 2x4x1",
             {2, 4, 8}},
        Case{"global_pool_after_reshape",
             13,
             {node("Shape", {"x"}, {"s"}), node("Reshape", {"x", "s"}, {"r"}), node("GlobalMaxPool", {"r"}, {"y"})},
             {},
             "shape_of reshape adaptive_max_pool -> f32 2x4x1x1x1",
             {2, 4, 2, 2, 2}}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Products, Lowering,
    testing::Values(
        Case{"gemm_linear",
             13,
             {node("Gemm", {"x", "w", "b"}, {"y"}, {integer("transB", 1)})},
             {tensor("w", {5, 4}), tensor("b", {5})},
             "linear -> f32 2x5",
             {2, 4}},
        Case{"gemm_of_values",
             13,
             {node("Gemm", {"x", "x", "b"}, {"y"}, {integer("transA", 1)})},
             {tensor("b", {4})},
             "matmul add -> f32 4x4",
             {4, 4}},
        Case{"gemm_beta_zero",
             13,
             {node("Gemm", {"x", "x", "b"}, {"y"}, {number("beta", 0.0F)})},
             {tensor("b", {4})},
             "matmul -> f32 4x4",
             {4, 4}},
        Case{"matmul_weight", 13, {node("MatMul", {"x", "w"}, {"y"})}, {tensor("w", {8, 3})}, "linear -> f32 2x4x8x3"},
        Case{"matmul_values", 13, {node("MatMul", {"x", "x"}, {"y"})}, {}, "matmul -> f32 2x4x8x8"},
        Case{"einsum_product",
             12,
             {node("Einsum", {"x", "x"}, {"y"}, {string("equation", "bhik, bhjk -> bhij")})},
             {},
             "transpose matmul -> f32 2x4x8x8"},
        Case{"einsum_merged",
             12,
             {node("Einsum", {"x", "w"}, {"y"}, {string("equation", "bhij,hjd->bid")})},
             {tensor("w", {4, 8, 5})},
             "transpose flatten flatten flatten matmul shape_of shape_of concat reshape -> f32 2x8x5"},
        Case{"einsum_other",
             12,
             {node("Einsum", {"x"}, {"y"}, {string("equation", "bhii->bhi")})},
             {},
             "Einsum -> f32 2x4x8x8"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Norms, Lowering,
    testing::Values(Case{"batch_norm",
                         9,
                         {node("BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"})},
                         {tensor("s", {4}), tensor("b", {4}), tensor("m", {4}), tensor("v", {4})},
                         "batch_norm -> f32 2x4x8x8"},
                    Case{"layer_norm_positive_axis",
                         17,
                         {node("LayerNormalization", {"x", "s"}, {"y"}, {integer("axis", 2)})},
                         {tensor("s", {8, 8})},
                         "layer_norm -> f32 2x4x8x8"},
                    Case{"rms_norm",
                         23,
                         {node("RMSNormalization", {"x", "s"}, {"y"})},
                         {tensor("s", {8})},
                         "rms_norm -> f32 2x4x8x8"},
                    Case{"group_norm_18",
                         18,
                         {node("GroupNormalization", {"x", "s", "b"}, {"y"}, {integer("num_groups", 2)})},
                         {tensor("s", {2}), tensor("b", {2})},
                         "group_norm -> f32 2x4x8x8"},
                    Case{"group_norm_21",
                         21,
                         {node("GroupNormalization", {"x", "s", "b"}, {"y"}, {integer("num_groups", 2)})},
                         {tensor("s", {4}), tensor("b", {4})},
                         "group_norm -> f32 2x4x8x8"},
                    Case{"mean_variance_norm",
                         13,
                         {node("MeanVarianceNormalization", {"x"}, {"y"})},
                         {},
                         "reduce_mean sub square reduce_mean sqrt div -> f32 2x4x8x8"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    AttributesThatBecameInputs, Lowering,
    testing::Values(
        Case{"slice_7",
             7,
             {node("Slice", {"x"}, {"y"},
                   {integers("starts", {1}), integers("ends", {9223372036854775807}), integers("axes", {2})})},
             {},
             "slice -> f32 2x4x7x8"},
        Case{"slice_13",
             13,
             {node("Slice", {"x", "s", "e", "a"}, {"y"})},
             {ints_tensor("s", {1}), ints_tensor("e", {-1}), ints_tensor("a", {-1})},
             "slice -> f32 2x4x8x6"},
        Case{"pad_7",
             7,
             {node("Pad", {"x"}, {"y"}, {integers("pads", {0, 0, 1, 1, 0, 0, 1, 1})})},
             {},
             "pad -> f32 2x4x10x10"},
        Case{"pad_18_axes",
             18,
             {node("Pad", {"x", "p", "", "a"}, {"y"})},
             {ints_tensor("p", {1, 2}), ints_tensor("a", {3})},
             "pad -> f32 2x4x8x11"},
        Case{"squeeze_unsqueeze_11",
             11,
             {node("Unsqueeze", {"x"}, {"u"}, {integers("axes", {0, 3})}),
              node("Squeeze", {"u"}, {"y"}, {integers("axes", {0})})},
             {},
             "unsqueeze squeeze -> f32 2x4x1x8x8"},
        Case{"squeeze_unsqueeze_13",
             13,
             {node("Unsqueeze", {"x", "a"}, {"u"}), node("Squeeze", {"u"}, {"y"})},
             {ints_tensor("a", {0, 3})},
             "unsqueeze squeeze -> f32 2x4x8x8"},
        Case{"reduce_11",
             11,
             {node("ReduceMean", {"x"}, {"y"}, {integers("axes", {2, 3}), integer("keepdims", 0)})},
             {},
             "reduce_mean -> f32 2x4"},
        Case{"reduce_18",
             18,
             {node("ReduceMean", {"x", "a"}, {"y"})},
             {ints_tensor("a", {-1})},
             "reduce_mean -> f32 2x4x8x1"},
        Case{"arg_max", 13, {node("ArgMax", {"x"}, {"y"}, {integer("axis", 1)})}, {}, "reduce_arg_max -> i64 2x1x8x8"},
        Case{"split_11",
             11,
             {node("Split", {"x"}, {"y", "z"}, {integers("split", {1, 3}), integer("axis", 1)})},
             {},
             "split -> f32 2x1x8x8"},
        Case{"split_18",
             18,
             {node("Split", {"x"}, {"y", "z", "q"}, {integer("num_outputs", 3), integer("axis", 2)})},
             {},
             "split -> f32 2x4x3x8"},
        Case{"top_k_9", 9, {node("TopK", {"x"}, {"y", "i"}, {integer("k", 3)})}, {}, "top_k -> f32 2x4x8x3"},
        Case{"top_k_11", 11, {node("TopK", {"x", "k"}, {"v", "y"})}, {ints_tensor("k", {3})}, "top_k -> i64 2x4x8x3"},
        Case{"upsample_7",
             7,
             {node("Upsample", {"x"}, {"y"}, {numbers("scales", {1, 1, 2, 2})})},
             {},
             "resize -> f32 2x4x16x16"},
        Case{"upsample_9",
             9,
             {node("Upsample", {"x", "s"}, {"y"})},
             {tensor("s", {4}, kFloat, floats({1, 1, 2, 2}))},
             "resize -> f32 2x4x16x16"},
        Case{"resize_10",
             10,
             {node("Resize", {"x", "s"}, {"y"})},
             {tensor("s", {4}, kFloat, floats({1, 1, 0.5, 2}))},
             "resize -> f32 2x4x4x16"},
        Case{"resize_11",
             11,
             {node("Resize", {"x", "roi", "s"}, {"y"}, {string("mode", "cubic")})},
             {tensor("roi", {0}), tensor("s", {4}, kFloat, floats({1, 1, 2, 2}))},
             "resize -> f32 2x4x16x16"},
        Case{"resize_13_sizes",
             13,
             {node("Resize", {"x", "", "", "z"}, {"y"}, {string("mode", "linear")})},
             {ints_tensor("z", {2, 4, 5, 6})},
             "resize -> f32 2x4x5x6"},
        Case{"resize_18_axes",
             18,
             {node("Resize", {"x", "", "", "z"}, {"y"}, {integers("axes", {2, 3})})},
             {ints_tensor("z", {5, 6})},
             "resize -> f32 2x4x5x6"},
        Case{"dropout_7", 7, {node("Dropout", {"x"}, {"y"}, {number("ratio", 0.25F)})}, {}, "dropout -> f32 2x4x8x8"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    Elementwise, Lowering,
    testing::Values(
        Case{"clip_6_relu6",
             6 + 1,
             {node("Clip", {"x"}, {"y"}, {number("min", 0), number("max", 6)})},
             {},
             "relu6 -> f32 2x4x8x8"},
        Case{"clip_13_relu6",
             13,
             {node("Clip", {"x", "l", "h"}, {"y"})},
             {tensor("l", {}, kFloat, floats({0})), tensor("h", {}, kFloat, floats({6}))},
             "relu6 -> f32 2x4x8x8"},
        Case{"clip_13_relu",
             13,
             {node("Clip", {"x", "l"}, {"y"})},
             {tensor("l", {}, kFloat, floats({0}))},
             "relu -> f32 2x4x8x8"},
        Case{"clip_13",
             13,
             {node("Clip", {"x", "l", "h"}, {"y"})},
             {tensor("l", {}, kFloat, floats({-1})), tensor("h", {}, kFloat, floats({1}))},
             "clip -> f32 2x4x8x8"},
        Case{"gelu_tanh",
             20,
             {node("Gelu", {"x"}, {"y"}, {string("approximate", "tanh")})},
             {},
             "gelu_tanh -> f32 2x4x8x8"},
        Case{"sum_of_three", 13, {node("Sum", {"x", "x", "x"}, {"y"})}, {}, "add add -> f32 2x4x8x8"},
        Case{"mean_of_two", 13, {node("Mean", {"x", "x"}, {"y"})}, {}, "add div -> f32 2x4x8x8"},
        Case{"max_of_one", 13, {node("Max", {"x"}, {"m"}), node("Relu", {"m"}, {"y"})}, {}, "relu -> f32 2x4x8x8"},
        Case{"identity", 13, {node("Identity", {"x"}, {"i"}), node("Relu", {"i"}, {"y"})}, {}, "relu -> f32 2x4x8x8"},
        Case{"cast_like",
             15,
             {node("Less", {"x", "x"}, {"b"}), node("CastLike", {"x", "b"}, {"y"})},
             {},
             "less cast -> bool 2x4x8x8"},
        Case{"swiglu", 28, {node("SwiGLU", {"x", "x"}, {"y"})}, {}, "silu mul -> f32 2x4x8x8"},
        Case{"unknown", 13, {node("NoSuchThing", {"x"}, {"y"})}, {}, "NoSuchThing -> f32 2x4x8x8"},
        Case{"foreign", 13, {node("Thing", {"x"}, {"y"}, {}, "ai.onnx.ml")}, {}, "ai.onnx.ml.Thing -> f32 2x4x8x8"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(
    IndicesAndFills, Lowering,
    testing::Values(
        Case{"gather_embedding",
             13,
             {node("Gather", {"w", "i"}, {"y"})},
             {tensor("w", {100, 16}), ints_tensor("i", {1, 2, 3})},
             "embedding -> f32 3x16"},
        Case{"gather",
             13,
             {node("Gather", {"x", "i"}, {"y"}, {integer("axis", 1)})},
             {ints_tensor("i", {1, 2, 3})},
             "gather -> f32 2x3x8x8"},
        Case{"depth_to_space",
             13,
             {node("DepthToSpace", {"x"}, {"y"}, {integer("blocksize", 2)})},
             {},
             "pixel_shuffle -> f32 2x1x16x16"},
        Case{"one_hot",
             11,
             {node("OneHot", {"i", "d", "v"}, {"y"})},
             {ints_tensor("i", {1, 2, 3}), ints_tensor("d", {7}), tensor("v", {2}, kFloat, floats({0, 1}))},
             "one_hot -> f32 3x7"},
        Case{"constant_of_shape",
             9,
             {node("Shape", {"x"}, {"s"}),
              node("ConstantOfShape", {"s"}, {"y"},
                   {tensor_attribute("value", tensor("", {1}, kInt64, std::string(8, '\1')))})},
             {},
             "shape_of fill -> i64 2x4x8x8"},
        Case{"random", 13, {node("RandomNormal", {}, {"y"}, {integers("shape", {3, 4})})}, {}, "fill -> f32 3x4"},
        Case{"eye_like",
             13,
             {node("EyeLike", {"x"}, {"y"}, {integer("dtype", 7)})},
             {},
             "shape_of fill -> i64 8x8",
             {8, 8}},
        Case{"range",
             11,
             {node("Range", {"a", "b", "c"}, {"y"})},
             {tensor("a", {}, kInt64, std::string(8, '\0')),
              tensor("b", {}, kInt64, std::string(1, '\5') + std::string(7, '\0')),
              tensor("c", {}, kInt64, std::string(1, '\2') + std::string(7, '\0'))},
             "range -> i64 3"},
        Case{"non_zero", 13, {node("NonZero", {"x"}, {"y"})}, {}, "NonZero -> i64 4x1"},
        Case{"shape_15",
             15,
             {node("Shape", {"x"}, {"y"}, {integer("start", 1), integer("end", -1)})},
             {},
             "shape_of -> i64 2"},
        Case{"size", 13, {node("Size", {"x"}, {"y"})}, {}, "shape_of -> i64 scalar"}),
    case_name);

INSTANTIATE_TEST_SUITE_P(Quantised, Lowering,
                         testing::Values(Case{"quantize",
                                              13,
                                              {node("QuantizeLinear", {"x", "s", "z"}, {"q"}),
                                               node("DequantizeLinear", {"q", "s", "z"}, {"y"})},
                                              {tensor("s", {}, kFloat, floats({1})), tensor("z", {}, kInt8, "\1")},
                                              "quantize dequantize -> f32 2x4x8x8"},
                                         Case{"dynamic_quantize",
                                              11,
                                              {node("DynamicQuantizeLinear", {"x"}, {"y", "s", "z"})},
                                              {},
                                              "reduce_max reduce_min sub cast quantize -> u8 2x4x8x8"},
                                         Case{"qlinear_conv",
                                              10,
                                              {node("QLinearConv", {"x", "s", "z", "w", "s", "z", "s", "z"}, {"y"})},
                                              {tensor("s", {}, kFloat, floats({1})), tensor("z", {}, kInt8, "\1"),
                                               tensor("w", {6, 4, 3, 3}, kInt8)},
                                              "conv -> f32 2x6x6x6"}),
                         case_name);

INSTANTIATE_TEST_SUITE_P(
    Fused, Lowering,
    testing::Values(
        Case{"lstm",
             14,
             {node("LSTM", {"x", "w", "r"}, {"y"}, {integer("hidden_size", 5), string("direction", "bidirectional")})},
             {tensor("w", {2, 20, 4}), tensor("r", {2, 20, 5})},
             "lstm -> f32 7x2x3x5",
             {7, 3, 4}},
        Case{"gru_batch_first",
             14,
             {node("GRU", {"x", "w", "r"}, {"y", "h"}, {integer("hidden_size", 5), integer("layout", 1)})},
             {tensor("w", {1, 15, 4}), tensor("r", {1, 15, 5})},
             "gru transpose transpose -> f32 7x3x1x5",
             {7, 3, 4}},
        Case{"attention_4d", 23, {node("Attention", {"x", "x", "x"}, {"y"})}, {}, "attention -> f32 2x4x8x8"},
        Case{"attention_3d",
             23,
             {node("Attention", {"x", "x", "x"}, {"y"}, {integer("q_num_heads", 4), integer("kv_num_heads", 4)})},
             {},
             "reshape transpose reshape transpose reshape transpose attention transpose reshape -> f32 2x9x32",
             {2, 9, 32}},
        Case{"skip_layer_norm",
             13,
             {node("SkipLayerNormalization", {"x", "x", "s"}, {"y"}, {}, "com.microsoft")},
             {tensor("s", {32})},
             "add layer_norm -> f32 2x9x32",
             {2, 9, 32}},
        Case{"ms_attention",
             13,
             {node("Attention", {"x", "w", "b"}, {"y"}, {integer("num_heads", 4)}, "com.microsoft")},
             {tensor("w", {32, 96}), tensor("b", {96})},
             "linear split reshape transpose reshape transpose reshape transpose attention transpose reshape -> f32 "
             "2x9x32",
             {2, 9, 32}}),
    case_name);

TEST(OnnxOperators, AreSortedAndEachListedOnce) {
  const auto list = onnx::operator_list();
  for (std::size_t i = 1; i < list.size(); ++i) {
    EXPECT_LT(std::tie(list[i - 1].domain, list[i - 1].name), std::tie(list[i].domain, list[i].name));
  }
  EXPECT_EQ(onnx::find_operator("", "Conv")->inputs, 2U);
  EXPECT_EQ(onnx::find_operator("com.microsoft", "Conv"), nullptr);
}

std::string flattened(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST(OnnxOperators, AreThoseOfTheDocumentation) {
  std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/formats/onnx.md");
  const std::string page = flattened(std::string(std::istreambuf_iterator<char>(file), {}));
  std::map<std::string_view, std::string> names;
  for (const auto& entry : onnx::operator_list()) {
    std::string& list = names[entry.domain];
    list += fmt::format("{}{}", list.empty() ? "" : ", ", entry.name);
  }
  for (const auto& [domain, list] : names) {
    EXPECT_NE(page.find(' ' + list + '.'), std::string::npos) << "docs/formats/onnx.md wants: " << list;
  }
}

TEST(OnnxImport, KeepsSymbolsAndMakesUpMissingOnes) {
  const auto graph = import_text(model(
      {.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {value("x", {"batch", 0, 7, -1})}, .outputs = {value("y")}}));
  ASSERT_TRUE(graph) << graph.error().text();
  const auto& dimensions = graph->inputs.at(0).dimensions;
  EXPECT_EQ(dimensions[0].symbol, "batch");
  EXPECT_EQ(dimensions[1].symbol, "x_axis1");
  EXPECT_EQ(dimensions[2].extent, 7);
  EXPECT_EQ(dimensions[3].symbol, "x_axis3");
}

TEST(OnnxImport, InitializersAreNoInputsEvenWhereListedAsSuch) {
  const auto graph = import_text(model({.nodes = {node("Gemm", {"x", "w"}, {"y"})},
                                        .inputs = {value("x", {2, 4}), value("w", {4, 3})},
                                        .outputs = {value("y")},
                                        .initializers = {tensor("w", {4, 3})}}));
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->inputs.size(), 1U);
  EXPECT_EQ(graph->value(graph->nodes[0].inputs[1]).kind, ValueKind::kParameter);
}

TEST(OnnxImport, SortsNodes) {
  EXPECT_EQ(summary(model({.nodes = {node("Tanh", {"a"}, {"y"}), node("Relu", {"x"}, {"a"})},
                           .inputs = {value("x", {3})},
                           .outputs = {value("y")}})),
            "relu tanh -> f32 3");
}

TEST(OnnxImport, InlinesFunctionsWithTheirAttributes) {
  const Encoded inner =
      function({"f", "Twice", {"a"}, {"b"}, {node("Relu", {"a"}, {"t"}), node("Tanh", {"t"}, {"b"})}});
  const Encoded outer = function(
      {"f",
       "Deep",
       {"a"},
       {"b"},
       {node("Twice", {"a"}, {"t"}, {}, "f"), node("Softmax", {"t"}, {"b"}, {reference("axis", "which", 2)})}});
  const std::string file =
      model({.nodes = {node("Deep", {"x"}, {"m"}, {integer("which", 1)}, "f"), node("Deep", {"m"}, {"y"}, {}, "f")},
             .inputs = {value("x", {2, 3})},
             .outputs = {value("y")}},
            {.functions = {inner, outer}});
  EXPECT_EQ(summary(file), "relu tanh softmax relu tanh softmax -> f32 2x3");
  const auto graph = import_text(file);
  EXPECT_EQ(std::get<Softmax>(graph->nodes[2].op).axis, 1);
  EXPECT_EQ(std::get<Softmax>(graph->nodes[5].op).axis, -1);
}

TEST(OnnxImport, BranchesSeeTheOutsideThroughInputs) {
  const Encoded yes =
      graph({.nodes = {node("Relu", {"x"}, {"t"}), node("Reshape", {"t", "s"}, {"yes"})}, .outputs = {value("yes")}});
  const Encoded no = graph({.nodes = {node("Add", {"x", "x"}, {"no"})}, .outputs = {value("no")}});
  const std::string file = model(
      {.nodes = {node("If", {"c"}, {"y"}, {graph_attribute("then_branch", yes), graph_attribute("else_branch", no)})},
       .inputs = {value("c", {}, kBool), value("x", {2, 3})},
       .outputs = {value("y")},
       .initializers = {ints_tensor("s", {3, 2})}});
  const auto graph = import_text(file);
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->bodies.size(), 2U);
  EXPECT_EQ(graph->nodes[0].inputs.size(), 3U);  // condition, x for then, x for else: the constant is copied
  EXPECT_EQ(std::get<If>(graph->nodes[0].op).then_captures, 1);
}

TEST(OnnxImport, LoopsStackWhatTheyScan) {
  const Encoded body =
      graph({.nodes = {node("Identity", {"c"}, {"c2"}), node("Add", {"s", "x"}, {"s2"}), node("Relu", {"s2"}, {"o"})},
             .inputs = {value("i", {}, kInt64), value("c", {}, kBool), value("s", {2, 3})},
             .outputs = {value("c2"), value("s2"), value("o")}});
  const std::string file =
      model({.nodes = {node("Loop", {"m", "", "x"}, {"last", "y"}, {graph_attribute("body", body)})},
             .inputs = {value("x", {2, 3})},
             .outputs = {value("y")},
             .initializers = {tensor("m", {}, kInt64, std::string(1, '\5') + std::string(7, '\0'))}});
  EXPECT_EQ(summary(file), "loop -> f32 5x2x3");
}

TEST(OnnxImport, ScansRunAlongTheFirstAxis) {
  const Encoded body = graph({.nodes = {node("Add", {"s", "e"}, {"s2"}), node("Relu", {"s2"}, {"o"})},
                              .inputs = {value("s", {3}), value("e", {3})},
                              .outputs = {value("s2"), value("o")}});
  const std::string file = model({.nodes = {node("Scan", {"h", "x"}, {"last", "y"},
                                                 {integer("num_scan_inputs", 1), graph_attribute("body", body)})},
                                  .inputs = {value("x", {7, 3}), value("h", {3})},
                                  .outputs = {value("y")}});
  EXPECT_EQ(summary(file), "scan -> f32 7x3");
}

TEST(OnnxImport, NotesNewerOperatorSets) {
  const auto graph =
      import_text(model({.nodes = {node("Relu", {"x"}, {"y"})}, .inputs = {value("x", {3})}, .outputs = {value("y")}},
                        {.opset_version = 99}));
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_NE(graph->notes[0].text.find("99"), std::string::npos);
}

std::string convolutions(const std::string& bias, std::size_t count) {
  GraphParts parts{.inputs = {value("v0", {1, 4, 8, 8})},
                   .initializers = {tensor("w", {4, 4, 1, 1}), tensor(bias, {4})}};
  for (std::size_t i = 0; i < count; ++i) {
    parts.nodes.push_back(node("Conv", {fmt::format("v{}", i), "w", bias}, {fmt::format("v{}", i + 1)}));
  }
  parts.outputs = {value(fmt::format("v{}", count))};
  return model(parts, {.producer = "pytorch"});
}

TEST(OnnxImport, NotesFoldedBatchNorms) {
  EXPECT_EQ(import_text(convolutions("conv1.weight_bias", 8))->notes.size(), 1U);
  EXPECT_EQ(import_text(convolutions("onnx::Conv_17", 8))->notes.size(), 1U);
  EXPECT_TRUE(import_text(convolutions("features.0.bias", 8))->notes.empty());
  EXPECT_TRUE(import_text(convolutions("onnx::Conv_17", 3))->notes.empty());
}

TEST(OnnxImport, NamesArePrintable) {
  EXPECT_EQ(printable("a\xFF\n\xC3\xA4"), "a\\xff\\x0a\xC3\xA4");
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable(std::string(5000, 'a')), std::string(200, 'a') + "...");
}

// torch.tensor_split: a list filled by a loop, and read by place.
TEST(OnnxImport, TakesSequencesApart) {
  const Encoded body =
      graph({.nodes = {node("Identity", {"c"}, {"c2"}), node("Gather", {"at", "i"}, {"from"}),
                       node("Slice", {"x", "from", "end"}, {"part"}), node("SequenceInsert", {"s", "part"}, {"s2"})},
             .inputs = {value("i", {}, kInt64), value("c", {}, kBool), value("s")},
             .outputs = {value("c2"), value("s2")},
             .initializers = {ints_tensor("end", {100})}});
  const auto integer_of = [](const std::string& name, char number) {
    return tensor(name, {}, kInt64, std::string(1, number) + std::string(7, '\0'));
  };
  const std::string file =
      model({.nodes = {node("SequenceEmpty", {}, {"none"}), node("Add", {"one", "one"}, {"two"}),
                       node("Loop", {"two", "", "none"}, {"list"}, {graph_attribute("body", body)}),
                       node("SequenceAt", {"list", "one"}, {"last"}), node("Relu", {"last"}, {"y"})},
             .inputs = {value("x", {9})},
             .outputs = {value("y")},
             .initializers = {integer_of("one", '\1'),
                              tensor("at", {2, 1}, kInt64, std::string(8, '\0') + '\4' + std::string(7, '\0'))}});
  EXPECT_EQ(summary(file), "add gather slice gather slice relu -> f32 5");
}

TEST(OnnxImport, RefusesMoreNodesThanAnyNetworkHas) {
  GraphParts parts{.inputs = {value("x", {1})}, .outputs = {value("x")}};
  parts.nodes.assign(250'001, node("Relu", {"x"}, {}));
  EXPECT_EQ(summary(model(parts)), "test: more than 250000 nodes");
}

// A network of a chain of functions that call the next one twice would have 2^30 nodes.
TEST(OnnxImport, BoundsWhatFunctionsExpandTo) {
  std::vector<Encoded> functions;
  for (int i = 0; i < 30; ++i) {
    const std::string next = i == 29 ? "Relu" : fmt::format("F{}", i + 1);
    const std::string domain = i == 29 ? "" : "f";
    functions.push_back(function({"f",
                                  fmt::format("F{}", i),
                                  {"a"},
                                  {"b"},
                                  {node(next, {"a"}, {"t"}, {}, domain), node(next, {"t"}, {"b"}, {}, domain)}}));
  }
  const std::string text = summary(
      model({.nodes = {node("F0", {"x"}, {"y"}, {}, "f")}, .inputs = {value("x", {3})}, .outputs = {value("y")}},
            {.functions = functions}));
  EXPECT_NE(text.find("more than 250000 nodes"), std::string::npos) << text.substr(0, 300);
}

}  // namespace
}  // namespace joulecast
