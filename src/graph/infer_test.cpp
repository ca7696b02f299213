// SPDX-License-Identifier: Apache-2.0
// Binding: which numbers the symbols of the inputs stand for.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/walk.h"

namespace joulecast {
namespace {

Graph two_inputs() {
  return parse_graph(R"(graph {
  input %ids : i64[batch, tokens]
  input %mask : f32[batch, tokens, 8]
  %y = unary(%mask)
  output %y
})")
      .value();
}

Shape shape_of_output(const Binding& binding) {
  const Graph graph = two_inputs();
  const auto types = infer_types(graph, binding);
  EXPECT_TRUE(types) << types.error().text();
  return types ? types->type(graph.outputs[0]).shape : Shape{};
}

std::string error_of(const Binding& binding) {
  const auto types = infer_types(two_inputs(), binding);
  return types ? "no error" : types.error().text();
}

Binding bound(std::map<std::string, std::int64_t, std::less<>> symbols,
              std::map<std::string, Shape, std::less<>> shapes = {}, std::optional<std::int64_t> batch = {}) {
  return Binding{std::move(symbols), std::move(shapes), batch};
}

TEST(Binding, SymbolsAreSharedAmongInputs) {
  EXPECT_EQ(shape_of_output(bound({{"batch", 4}, {"tokens", 16}})), (Shape{4, 16, 8}));
}

TEST(Binding, UnboundSymbolIsNamedWithItsShape) {
  EXPECT_EQ(error_of({}), "input 'ids': dimension 'batch' of <batch>x<tokens> has no value");
  EXPECT_EQ(error_of(bound({{"batch", 4}})), "input 'ids': dimension 'tokens' of <batch>x<tokens> has no value");
}

TEST(Binding, UnboundDimensionsAreListedOnce) {
  const auto open = unbound_dimensions(two_inputs(), {});
  ASSERT_EQ(open.size(), 2U);
  EXPECT_EQ(open[0].symbol, "batch");
  EXPECT_EQ(open[1].symbol, "tokens");
  EXPECT_EQ(open[1].input, "ids");
  EXPECT_EQ(open[1].axis, 1U);
  EXPECT_EQ(unbound_dimensions(two_inputs(), bound({}, {{"ids", {2, 3}}})).size(), 0U);
}

TEST(Binding, BatchStandsForTheLeadingSymbol) {
  EXPECT_EQ(shape_of_output(bound({{"tokens", 16}}, {}, 7)), (Shape{7, 16, 8}));
  EXPECT_EQ(shape_of_output(bound({{"batch", 2}, {"tokens", 16}}, {}, 7)), (Shape{2, 16, 8})) << "the name wins";
}

TEST(Binding, ShapeOfOneInputFixesTheSymbolsOfTheOthers) {
  EXPECT_EQ(shape_of_output(bound({}, {{"ids", {3, 5}}})), (Shape{3, 5, 8}));
}

TEST(Binding, ShapesWinOverSymbols) {
  EXPECT_EQ(shape_of_output(bound({{"batch", 9}, {"tokens", 9}}, {{"mask", {3, 5, 8}}})), (Shape{3, 5, 8}));
}

TEST(Binding, ShapesThatDoNotFitAreErrors) {
  EXPECT_EQ(error_of(bound({}, {{"mask", {3, 5}}})), "input 'ids': dimension 'batch' of <batch>x<tokens> has no value");
  EXPECT_EQ(error_of(bound({}, {{"ids", {3, 5, 8}}})), "input 'ids': shape 3x5x8 has rank 3, the model wants 2");
  EXPECT_EQ(error_of(bound({}, {{"mask", {3, 5, 9}}})), "input 'mask': extent 9 of axis 2 is fixed to 8 in the model");
  EXPECT_EQ(error_of(bound({}, {{"other", {3}}})), "the model has no input 'other'; it has 'ids', 'mask'");
  EXPECT_EQ(error_of(bound({{"batch", -1}, {"tokens", 2}})), "input 'ids': shape -1x2 is not a possible tensor");
  EXPECT_EQ(error_of(bound({{"batch", std::int64_t{1} << 40}, {"tokens", std::int64_t{1} << 40}})),
            "input 'ids': shape 1099511627776x1099511627776 is not a possible tensor");
}

TEST(Infer, ErrorsNameTheNode) {
  const Graph graph = parse_graph("graph { input %a : f32[2] input %b : f32[3] %y = binary(%a, %b) \"plus\" }").value();
  const auto types = infer_types(graph, {});
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().text(), "node 'plus' (add): shapes 2 and 3 do not broadcast");
}

TEST(Infer, ShapeArithmeticIsFollowedThroughTheGraph) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[batch, 12, 64]
  %shape = shape_of(%x)
  constant %zero : i64 = 0
  constant %first : i64[1] = [0]
  %batch = gather(%shape, %zero)
  %batch_1d = unsqueeze(%batch, %first)
  constant %rest : i64[2] = [-1, 16]
  %wanted = concat(%batch_1d, %rest)
  %y = reshape(%x, %wanted)
  output %y
})")
                          .value();
  const auto types = infer_types(graph, bound({{"batch", 5}}));
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(types->type(graph.outputs[0]).shape, (Shape{5, 48, 16}));
}

// 2 x 3 -> linear 4 -> relu: 2*2*3*4 flops and 8; x, w, b read, then the hidden values read and written.
TEST(Infer, CostsOfAGraphAddUp) {
  const Graph graph = parse_graph(R"(graph {
  input %x : f32[2, 3]
  parameter %w : f32[4, 3]
  parameter %unread : f32[1000]
  %h = linear(%x, %w)
  %y = activation(%h)
  output %y
})")
                          .value();
  const auto types = infer_types(graph, {});
  ASSERT_TRUE(types) << types.error().text();
  const Cost cost = total_cost(graph, *types);
  EXPECT_EQ(cost.forward_flops, Flops{48 + 8});
  EXPECT_EQ(cost.forward_read, Bytes{4 * (6 + 12 + 8)});
  EXPECT_EQ(cost.forward_written, Bytes{4 * (8 + 8)});
  EXPECT_EQ(cost.parameter_count, 12);
}

TEST(Binding, TheBatchIsWhatIsCalledSo) {
  const auto shape = [](std::string_view dimensions) {
    const Graph graph =
        parse_graph(fmt::format("graph {{\n  input %x : f32[{}, 8]\n  %y = unary(%x)\n  output %y\n}}", dimensions))
            .value();
    const auto types = infer_types(graph, bound({{"steps", 9}}, {}, 4));
    return types ? types->type(graph.outputs[0]).shape : Shape{};
  };
  EXPECT_EQ(shape("steps, batch"), (Shape{9, 4, 8}));
  EXPECT_EQ(shape("7, batch"), (Shape{7, 4, 8}));
  EXPECT_EQ(shape("images, 3"), (Shape{4, 3, 8}));
}

TEST(Infer, UnknownOperatorsAreBlamedForTheShapesTheyLeaveOpen) {
  const auto error = [](std::string_view told) {
    const auto graph = parse_graph(fmt::format(R"(graph {{
  input %x : f32[2, 3, 4]
  parameter %w : f32[5, 3]
  %y = opaque(%x) {{name = "svd"{}}}
  %z = activation(%y)
  %out = linear(%z, %w)
  output %out
}})",
                                               told));
    EXPECT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, {});
    return types ? "no error" : types.error().text();
  };
  EXPECT_EQ(error(""),
            "operator 'svd' is not known: its result, taken to be shaped like its input, does not fit: node 2 "
            "(linear): input has 4 features, weight 5x3 wants 3");
  EXPECT_EQ(error(", output_types = [f32[2, 3, 4]]"), "node 2 (linear): input has 4 features, weight 5x3 wants 3");
  EXPECT_EQ(error(", output_types = [f32[2, 4, 3]]"), "no error");
}

}  // namespace
}  // namespace joulecast
