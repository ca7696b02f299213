// SPDX-License-Identifier: Apache-2.0
// Types through bodies, how often they run, and the costs of whole graphs.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "graph/walk.h"

namespace joulecast {
namespace {

struct Typed {
  Graph graph;
  TypeTable types;

  [[nodiscard]] const Shape& output(std::size_t i) const { return types.type(graph.outputs[i]).shape; }
  [[nodiscard]] std::optional<std::int64_t> trips() const { return repetitions(graph, graph.nodes.back(), types); }
};

Result<Typed> typed(std::string_view text) {
  JC_ASSIGN_OR_RETURN(Graph graph, parse_graph(text));
  JC_ASSIGN_OR_RETURN(TypeTable types, infer_types(graph, {}));
  return Typed{std::move(graph), std::move(types)};
}

// A loop over %state : f32[2, 3] with the given trip count, body and initial condition.
std::string loop(std::string_view trips, std::string_view body, std::string_view condition = "_") {
  return fmt::format(R"(graph {{
  {}
  input %state : f32[2, 3]
  %out, %stack = loop({}, {}, %state) {{states = 1}}
  output %out, %stack
  body 0 {{
    input %i : i64
    input %go : bool
    input %s : f32[2, 3]
    {}
  }}
}})",
                     trips, trips.empty() ? "_" : "%trips", condition, body);
}

TEST(ControlFlow, LoopStacksScannedOutputsByItsTripCount) {
  const auto t = typed(loop("constant %trips : i64 = 5", "%n = unary(%s) output %go, %n, %n"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->trips(), 5);
  EXPECT_EQ(t->output(0), (Shape{2, 3}));
  EXPECT_EQ(t->output(1), (Shape{5, 2, 3}));
  EXPECT_EQ(total_cost(t->graph, t->types).forward_flops, Flops{5 * 6});
}

TEST(ControlFlow, TripCountOnDataIsUnknownAndCountsOnce) {
  const auto t = typed(loop("input %trips : i64", "%n = unary(%s) output %go, %n, %n"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_FALSE(t->trips());
  EXPECT_EQ(t->output(1), (Shape{1, 2, 3}));
  bool inside = false;
  for_each_operation(t->graph, t->types, [&](const Visit& visit) {
    if (!std::holds_alternative<Unary>(visit.node.op)) return;
    inside = true;
    EXPECT_EQ(visit.repetitions, 1);
    EXPECT_FALSE(visit.repetitions_known);
  });
  EXPECT_TRUE(inside);
}

TEST(ControlFlow, LoopThatDecidesOnDataHasNoKnownTripCount) {
  const auto t = typed(loop("constant %trips : i64 = 5",
                            "%n = unary(%s) %stop = unary(%go) {kind = is_nan} input %x : bool output %x, %n, %n"));
  EXPECT_FALSE(t) << "the body has an input more than the loop gives";
  const auto unknown =
      typed(loop("constant %trips : i64 = 5", "%n = unary(%s) %c = opaque(%go) {name = \"Stop\"} output %c, %n, %n"));
  ASSERT_TRUE(unknown) << unknown.error().text();
  EXPECT_FALSE(unknown->trips());
  const auto endless = typed(loop("constant %trips : i64 = 9223372036854775807", "output %go, %s, %s"));
  ASSERT_TRUE(endless) << endless.error().text();
  EXPECT_FALSE(endless->trips());
}

TEST(ControlFlow, LoopThatNeverRunsReturnsItsInitialStates) {
  const auto t =
      typed(loop("constant %trips : i64 = 0", "constant %r : i64[2] = [2, 2] %n = tile(%s, %r) output %go, %n, %n"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->trips(), 0);
  EXPECT_EQ(t->output(0), (Shape{2, 3}));
  EXPECT_EQ(t->output(1), (Shape{0, 4, 6}));
  EXPECT_EQ(total_cost(t->graph, t->types).forward_read, Bytes{0});
}

// A first repetition that broadcasts its state: from then on the types stay.
TEST(ControlFlow, StateThatSettlesHasItsLaterTypeInTheBody) {
  const auto t = typed(loop("constant %trips : i64 = 3",
                            "constant %b : f32[4, 1, 1] = [0, 0, 0, 0] %n = binary(%s, %b) output %go, %n, %s"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->output(0), (Shape{4, 2, 3}));
  EXPECT_EQ(t->types.body(0).type(t->graph.bodies[0].inputs[2].value).shape, (Shape{4, 2, 3}));
}

TEST(ControlFlow, StateThatGrowsKeepsTheTypesOfTheFirstRepetition) {
  const auto t = typed(loop("constant %trips : i64 = 3", "%n = concat(%s, %s) output %go, %n, %s"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->output(0), (Shape{4, 3}));
  EXPECT_EQ(t->types.body(0).type(t->graph.bodies[0].inputs[2].value).shape, (Shape{2, 3}));
}

std::string choice(std::string_view condition) {
  return fmt::format(R"(graph {{
  {}
  input %x : f32[4, 4]
  %y = if(%c, %x, %x) {{else_body = 1, then_captures = 1}}
  output %y
  body 0 {{ input %x : f32[4, 4] %y = unary(%x) output %y }}
  body 1 {{ input %x : f32[4, 4] %y = matmul(%x, %x) %z = squeeze(%y) output %z }}
}})",
                     condition);
}

TEST(ControlFlow, IfOnDataCountsTheDearerBody) {
  const auto t = typed(choice("input %c : bool"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(counted_body(t->graph, t->graph.nodes[0], t->types), 1U);
  EXPECT_EQ(total_cost(t->graph, t->types).forward_flops, Flops{128});
}

TEST(ControlFlow, IfWithKnownConditionCountsTheBodyItTakes) {
  const auto t = typed(choice("constant %c : bool = 1"));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(counted_body(t->graph, t->graph.nodes[0], t->types), 0U);
  EXPECT_EQ(total_cost(t->graph, t->types).forward_flops, Flops{16});
}

// Exporters guard a squeeze by an If on the extent: the other body then does not fit.
TEST(ControlFlow, BodyThatIsNotTakenNeedNotFit) {
  constexpr std::string_view kText = R"(graph {{
  constant %c : bool = {}
  input %x : f32[4, 3]
  %y = if(%c, %x, %x) {{else_body = 1, then_captures = 1}}
  output %y
  body 0 {{ input %x : f32[4, 3] %y = squeeze(%x) {{axes = [1]}} output %y }}
  body 1 {{ input %x : f32[4, 3] output %x }}
}})";
  const auto t = typed(fmt::format(kText, 0));
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->output(0), (Shape{4, 3}));
  EXPECT_EQ(total_cost(t->graph, t->types).forward_flops, Flops{0});
  const auto wrong = typed(fmt::format(kText, 1));
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().text(), "node 0 (if): body 0: node 0 (squeeze): axis 1 of 4x3 is not 1");
}

TEST(ControlFlow, ScanTakesTheLengthOfItsInput) {
  const auto t = typed(R"(graph {
  input %h : f32[8]
  input %x : f32[20, 8]
  %last, %all = scan(%h, %x) {states = 1, scanned = 1}
  output %last, %all
  body 0 { input %h : ? input %x : ? %n = binary(%h, %x) output %n, %n }
})");
  ASSERT_TRUE(t) << t.error().text();
  EXPECT_EQ(t->trips(), 20);
  EXPECT_EQ(t->output(0), (Shape{8}));
  EXPECT_EQ(t->output(1), (Shape{20, 8}));
  EXPECT_EQ(total_cost(t->graph, t->types).forward_flops, Flops{160});
}

TEST(ControlFlow, NestedLoopsMultiplyAndParametersCountOnce) {
  const auto t = typed(R"(graph {
  constant %three : i64 = 3
  constant %four : i64 = 4
  parameter %w : f32[2, 2]
  input %x : f32[1, 2]
  %y = loop(%three, _, %x, %four, %w) {states = 1}
  output %y
  body 0 {
    input %i : i64 input %go : bool input %x : ? input %four : ? input %w : ?
    %y = loop(%four, _, %x, %w) {states = 1}
    output %go, %y
    body 0 { input %i : i64 input %go : bool input %x : ? input %w : ? %y = linear(%x, %w) output %go, %y }
  }
})");
  ASSERT_TRUE(t) << t.error().text();
  const Cost cost = total_cost(t->graph, t->types);
  EXPECT_EQ(cost.forward_flops, Flops{12 * 8});
  EXPECT_EQ(cost.parameter_count, 4);
  EXPECT_EQ(cost.parameters, Bytes{16});
}

TEST(ControlFlow, WrongOperandsAreErrors) {
  const auto error = [](std::string_view node) {
    const auto t =
        typed(fmt::format("graph {{ input %x : f32[2] input %c : bool %y = {} body 0 {{ input %a : ? output "
                          "%a }} body 1 {{}} }}",
                          node));
    return t ? "no error" : t.error().text();
  };
  EXPECT_EQ(error("loop(_, _, %x) {states = 2}"), "node 0 (loop): 2 states, there are 1 operands");
  EXPECT_EQ(error("loop(_, _, %x) {states = -1}"), "node 0 (loop): -1 states, there are 1 operands");
  EXPECT_EQ(error("loop(_, _, %x) {states = 1}"), "node 0 (loop): body 0 has 1 inputs, the node gives 3");
  EXPECT_EQ(error("loop(_, _) {body = 1}"), "node 0 (loop): body 1 has 0 inputs, the node gives 2");
  EXPECT_EQ(error("scan(%x) {states = 1}"), "node 0 (scan): 1 states and 0 scanned inputs of 1 inputs");
  EXPECT_EQ(error("scan(%c) {scanned = 1}"), "node 0 (scan): a scalar cannot be scanned");
  EXPECT_EQ(error("if(%c, %x) {then_captures = 2, else_body = 1}"),
            "node 0 (if): 2 captures of the first body, there are 1 in all");
  EXPECT_EQ(error("if(%c, %x) {then_captures = 1, else_body = 1}"), "node 0 (if): body 1 returns 0 values of 1");
}

TEST(TotalCost, RunningStatisticsAreBytesAndNoTrainedParameters) {
  const auto t = typed(R"(graph {
  input %x : f32[2, 3, 4, 4]
  parameter %scale : f32[3]
  parameter %shift : f32[3]
  parameter %mean : f32[3]
  parameter %variance : f32[3]
  %y = batch_norm(%x, %scale, %shift, %mean, %variance)
  output %y
})");
  ASSERT_TRUE(t) << t.error().text();
  const Cost cost = total_cost(t->graph, t->types);
  EXPECT_EQ(cost.parameter_count, 6);
  EXPECT_EQ(cost.parameters, Bytes{48});
}

}  // namespace
}  // namespace joulecast
