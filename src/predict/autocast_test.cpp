// SPDX-License-Identifier: Apache-2.0
// Against the lists of operators in the documentation of torch.autocast.
#include "predict/autocast.h"

#include <gtest/gtest.h>

#include <map>

#include "joulecast/predict.h"
#include "predict/lower.h"
#include "predict/parsed_graph.h"

namespace joulecast {
namespace {

// Element types of all values by name, under autocast to FP16.
std::map<std::string, ElementType> types_of(std::string_view text) {
  const Graph graph = autocast(parsed(text), ElementType::kFloat16);
  EXPECT_TRUE(validate(graph)) << validate(graph).error().text();
  const auto types = infer_types(graph, {});
  EXPECT_TRUE(types) << types.error().text();
  std::map<std::string, ElementType> out;
  for (std::size_t i = 0; types && i < graph.values.size(); ++i) {
    out[graph.values[i].name] = types->type(ValueId{static_cast<std::uint32_t>(i)}).element;
  }
  return out;
}

std::size_t casts_in(const Graph& graph) {
  std::size_t count = 0;
  for (const Node& node : graph.nodes) count += std::holds_alternative<Cast>(node.op) ? 1U : 0U;
  return count;
}

TEST(Autocast, MatrixWorkIsHalfAndNormsAreNot) {
  const auto types = types_of(R"(graph "t" {
    input %x : f32[2, 8, 16]
    parameter %w : f32[16, 16]
    parameter %s : f32[16]
    %n = layer_norm(%x, %s, %s) {axes = 1}
    %y = linear(%n, %w)
    %g = activation(%y) {kind = gelu}
    %p = softmax(%g) {axis = -1}
    output %p
  })");
  EXPECT_EQ(types.at("n"), ElementType::kFloat32);
  EXPECT_EQ(types.at("y"), ElementType::kFloat16);
  EXPECT_EQ(types.at("g"), ElementType::kFloat16);
  EXPECT_EQ(types.at("p"), ElementType::kFloat32);
}

// A kernel of its own reads halves and writes FP32: nothing is cast before it.
TEST(Autocast, TheSoftmaxReadsHalves) {
  const Graph graph = autocast(parsed(R"(graph "t" {
    input %x : f32[2, 16]
    parameter %w : f32[16, 16]
    %y = linear(%x, %w)
    %p = softmax(%y) {axis = -1, log = true}
    output %p
  })"),
                               ElementType::kFloat16);
  EXPECT_EQ(casts_in(graph), 2U);  // of the layer's
}

// torch.autocast's list of FP32 has every upsampling.
TEST(Autocast, ResizesImagesInFullPrecision) {
  const auto types = types_of(R"(graph "t" {
    input %x : f32[1, 8, 16, 16]
    parameter %w : f32[8, 8, 1, 1]
    constant %s : f32[4] = [1.0, 1.0, 2.0, 2.0]
    %a = conv(%x, %w) {stride = [1, 1]}
    %b = resize(%a, %s)
    %c = conv(%b, %w) {stride = [1, 1]}
    output %c
  })");
  EXPECT_EQ(types.at("a"), ElementType::kFloat16);
  EXPECT_EQ(types.at("b"), ElementType::kFloat32);
  EXPECT_EQ(types.at("c"), ElementType::kFloat16);
}

// A residual stream that began in FP32 stays there: fp32 + fp16 is fp32. A scalar widens nothing.
TEST(Autocast, ArithmeticPromotes) {
  const auto types = types_of(R"(graph "t" {
    input %x : f32[2, 16]
    parameter %w : f32[16, 16]
    constant %c : f32 = 0.5
    %y = linear(%x, %w)
    %h = binary(%y, %c) {kind = mul}
    %r = binary(%h, %x) {kind = add}
    %k = concat(%h, %y) {axis = 1}
    %m = concat(%h, %x) {axis = 1}
    output %r, %k, %m
  })");
  EXPECT_EQ(types.at("h"), ElementType::kFloat16);
  EXPECT_EQ(types.at("r"), ElementType::kFloat32);
  EXPECT_EQ(types.at("k"), ElementType::kFloat16);
  EXPECT_EQ(types.at("m"), ElementType::kFloat32);
}

// Autocast remembers casts of parameters, not of activations.
TEST(Autocast, ParametersAreCastOnceAndActivationsForEveryReader) {
  const Graph graph = autocast(parsed(R"(graph "t" {
    input %x : f32[2, 16]
    parameter %w : f32[16, 16]
    %a = linear(%x, %w)
    %b = linear(%x, %w)
    %c = linear(%a, %w)
    output %b, %c
  })"),
                               ElementType::kFloat16);
  EXPECT_EQ(casts_in(graph), 3U);  // the weight, and x twice
}

// As timm's --fast-norm computes them: the norm of a layer's result needs no cast, and its parameters one each.
TEST(Autocast, NormsMayWorkInHalves) {
  const Graph network = parsed(R"(graph "t" {
    input %x : f32[2, 16]
    parameter %w : f32[16, 16]
    parameter %g : f32[16]
    %a = linear(%x, %w)
    %n = layer_norm(%a, %g)
    %y = linear(%n, %w)
    output %y
  })");
  EXPECT_EQ(casts_in(autocast(network, ElementType::kFloat16)), 2U + 2U) << "into the norm and out of it";
  const Graph fast = autocast(network, ElementType::kFloat16, ElementType::kFloat16);
  EXPECT_EQ(casts_in(fast), 2U + 1U) << "its parameter";
  const auto bytes = [&](bool fast_norms) {
    const auto load = prepare(network, {}, {.precision = Precision::kAmp, .norms_in_halves = fast_norms});
    EXPECT_TRUE(load);
    std::int64_t found = 0;
    for (const LoweredOperation& operation : load->operations) {
      if (const auto* norm = std::get_if<ReductionWork>(&operation.work)) found = norm->element_bytes;
    }
    return found;
  };
  EXPECT_EQ(bytes(false), 4);
  EXPECT_EQ(bytes(true), 2);
}

// A convolution on an image: its input and its weight are cast, 4 bytes read and 2 written an element.
TEST(Autocast, CastsAreWork) {
  const auto load = prepare(parsed(R"(graph "t" {
    input %x : f32[1, 3, 8, 8]
    parameter %w : f32[4, 3, 3, 3]
    %y = conv(%x, %w) {stride = [1, 1], padding_begin = [1, 1], padding_end = [1, 1]}
    output %y
  })"),
                            {}, {.precision = Precision::kAmp});
  ASSERT_TRUE(load);
  ASSERT_EQ(load->operations.size(), 3U);
  EXPECT_EQ(std::get<PointwiseWork>(load->operations[0].work).forward_bytes, 192 * 6);
  EXPECT_EQ(std::get<PointwiseWork>(load->operations[1].work).forward_bytes, 108 * 6);
  EXPECT_EQ(std::get<ConvWork>(load->operations[2].work).arithmetic, Arithmetic::kFp16);
  EXPECT_EQ(std::get<ConvWork>(load->operations[2].work).element_bytes, 2);
}

}  // namespace
}  // namespace joulecast
