// SPDX-License-Identifier: Apache-2.0
// The text form: whatever is printed reads back as the same graph, and errors say where they are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "joulecast/graph.h"

namespace joulecast {
namespace {

constexpr std::string_view kSample = R"(graph "resnet" {
  input %x : f32[batch, 3, 224, 224]
  parameter %w : f32[64, 3, 7, 7]
  constant %shape : i64[2] = [-1, 64]
  %y = conv(%x, %w) {stride = [2, 2], padding_begin = [3, 3], padding_end = [3, 3]} "conv1"
  %v, %i = top_k(%y, _) {axis = 1}
  output %y
  note "..."
}
)";

std::string parse_error(std::string_view text) {
  const auto graph = parse_graph(text);
  return graph ? "no error" : graph.error().text();
}

void expect_round_trip(const Graph& graph) {
  const auto valid = validate(graph);
  ASSERT_TRUE(valid) << valid.error().text();
  const std::string text = print_graph(graph);
  const auto again = parse_graph(text);
  ASSERT_TRUE(again) << again.error().text() << "\n" << text;
  EXPECT_EQ(*again, graph) << text << "\nbecame\n" << print_graph(*again);
}

ValueId add(Graph& graph, std::string name, ValueKind kind = ValueKind::kComputed, TensorType type = {}) {
  return graph.add_value({std::move(name), kind, type, std::nullopt});
}

ValueId add_input(Graph& graph, std::string name) {
  const ValueId id = add(graph, std::move(name), ValueKind::kInput);
  graph.inputs.push_back({id, ElementType::kFloat32, {{std::nullopt, "n"}}});
  return id;
}

TEST(TextForm, ReadsAndPrintsTheSample) {
  const auto graph = parse_graph(kSample);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->name, "resnet");
  ASSERT_EQ(graph->values.size(), 6U);
  EXPECT_EQ(graph->inputs[0].dimensions[0].symbol, "batch");
  EXPECT_EQ(graph->inputs[0].dimensions[1].extent, 3);
  EXPECT_EQ(graph->known(ValueId{2})->ints, (std::vector<std::int64_t>{-1, 64}));
  Conv conv;
  conv.stride = {2, 2};
  conv.padding_begin = conv.padding_end = {3, 3};
  EXPECT_EQ(graph->nodes[0].op, Operator(conv));
  EXPECT_EQ(graph->nodes[0].name, "conv1");
  EXPECT_EQ(graph->nodes[1].inputs[1], kNoValue);
  EXPECT_EQ(print_graph(*graph), kSample);
}

// Sets a field to something other than its default, whatever its type.
void change(bool& field) {
  field = !field;
}
void change(std::int64_t& field) {
  field = std::numeric_limits<std::int64_t>::min();
}
void change(std::uint32_t& field) {
  ++field;
}
void change(double& field) {
  field = 0.1 + 0.2;
}
void change(std::string& field) {
  field = "a \"quoted\"\n\t\\name\x01\xc3\xa9";
}
void change(std::optional<std::int64_t>& field) {
  field = 0;
}
void change(Extents& field) {
  field = {1, -2, std::numeric_limits<std::int64_t>::max()};
}
void change(IntList& field) {
  field.assign(12, -7);
}
void change(std::vector<TensorType>& field) {
  field = {{ElementType::kFloat8E4M3, {2, -1}}, {ElementType::kUnknown, {}}, {ElementType::kString, {0}}};
}
template <typename E>
void change(E& field) requires std::is_enum_v<E> {
  field = static_cast<E>(field == E{1} ? 2 : 1);
}

// A graph of one such operator, with bodies enough for its body fields.
template <typename Op>
Graph graph_of(Op op) {
  Graph graph;
  graph.bodies.resize(3);
  const ValueId x = add_input(graph, "x");
  const ValueId y = add(graph, "y");
  if constexpr (std::is_same_v<Op, If>) {
    op.else_body = op.then_body + 1;
  }
  graph.nodes.push_back({op, {x, kNoValue, x}, {kNoValue, y}, "the node"});
  graph.outputs = {y};
  return graph;
}

template <typename Op>
void expect_operator_round_trips() {
  SCOPED_TRACE(Op::kName);
  expect_round_trip(graph_of(Op{}));
  Op all;
  int count = 0;
  Op::fields([&](std::string_view name, auto member) {
    SCOPED_TRACE(name);
    Op one;
    change(one.*member);
    EXPECT_NE(one, Op{});
    expect_round_trip(graph_of(one));
    change(all.*member);
    ++count;
  });
  expect_round_trip(graph_of(all));
}

template <std::size_t... I>
void expect_all_operators_round_trip(std::index_sequence<I...>) {
  (expect_operator_round_trips<std::variant_alternative_t<I, Operator>>(), ...);
}

TEST(TextForm, EveryOperatorRoundTripsWithAndWithoutEachField) {
  expect_all_operators_round_trip(std::make_index_sequence<std::variant_size_v<Operator>>());
}

template <typename E, std::size_t N>
void expect_elements_round_trip(E Cast::*field) {
  for (std::size_t i = 0; i < N; ++i) {
    Cast cast;
    cast.*field = static_cast<E>(i);
    expect_round_trip(graph_of(cast));
  }
}

TEST(TextForm, EveryElementTypeRoundTrips) {
  expect_elements_round_trip<ElementType, static_cast<std::size_t>(ElementType::kString) + 1>(&Cast::to);
}

TEST(TextForm, OddNamesRoundTrip) {
  Graph graph;
  graph.name = "\"";
  for (const char* name : {"", "x", "x", "", "x@1", "odd name/1", "%", "\\", "a\nb", "onnx::Conv_1", "_", "497", "#",
                           "/layer1/conv-1.out", "\xff\xfe", "\x7f", "x"}) {
    add_input(graph, name);
  }
  graph.values[1].name = std::string("nul\0byte", 8);
  graph.outputs = {ValueId{3}, ValueId{2}, ValueId{2}};
  expect_round_trip(graph);
}

TEST(TextForm, ValuesInAnyOrderKeepTheirIds) {
  Graph graph;
  const ValueId y = add(graph, "y");
  const ValueId orphan = add(graph, "orphan", ValueKind::kComputed, {ElementType::kInt8, {4}});
  const ValueId w = add(graph, "y", ValueKind::kParameter, {ElementType::kFloat32, {2, 3}});
  const ValueId second = add_input(graph, "second");
  const ValueId first = add_input(graph, "first");
  std::swap(graph.inputs[0], graph.inputs[1]);
  graph.nodes.push_back({Linear{}, {first, w, second}, {y}, ""});
  graph.outputs = {y};
  expect_round_trip(graph);
  EXPECT_NE(print_graph(graph).find("order %y, %orphan : i8[4], %y@1, %second, %first\n"), std::string::npos)
      << print_graph(graph);
  EXPECT_EQ(index(orphan), 1U);
}

// Importers add constants where the file has them; that order needs no order statement.
TEST(TextForm, ConstantsBetweenNodesNeedNoOrderStatement) {
  constexpr std::string_view kText = R"(graph "g" {
  parameter %w : f32[2]
  input %x : f32[2]
  %a = binary(%x, %w)
  constant %c : f32[1] = [0.1]
  %b = binary(%a, %c) {kind = mul}
  output %b
}
)";
  const auto graph = parse_graph(kText);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->value(ValueId{1}).type, (TensorType{ElementType::kFloat32, {2}}));
  EXPECT_EQ(print_graph(*graph), kText);
}

TEST(TextForm, NumbersRoundTripExactly) {
  Graph graph;
  Contents reals;
  reals.reals = {0.1, 1e300, 5e-324, -0.0, 1.0 / 3.0, HUGE_VAL, -HUGE_VAL, 123456789012345678.0};
  Contents ints;
  ints.ints = {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), 0};
  graph.contents = {reals, ints, {}};
  graph.values = {{"reals", ValueKind::kConstant, {ElementType::kFloat64, {2, 4}}, 0},
                  {"ints", ValueKind::kConstant, {ElementType::kUInt64, {3}}, 1},
                  {"none", ValueKind::kParameter, {ElementType::kInt32, {0}}, 2}};
  expect_round_trip(graph);
  const auto again = parse_graph(print_graph(graph));
  ASSERT_TRUE(again);
  EXPECT_TRUE(std::signbit(again->contents[0].reals[3]));
}

TEST(TextForm, SharedAndUnusedContentsRoundTrip) {
  Graph graph;
  graph.contents = {Contents{{1, 2}, {}}, Contents{{7}, {0.5}}, Contents{{}, {2.5}}};
  graph.values = {{"a", ValueKind::kConstant, {ElementType::kInt64, {2}}, 0},
                  {"b", ValueKind::kConstant, {ElementType::kInt64, {2}}, 0},
                  {"c", ValueKind::kConstant, {ElementType::kFloat16, {}}, 2}};
  expect_round_trip(graph);
}

TEST(TextForm, DimensionsRoundTrip) {
  Graph graph;
  const ValueId x = add(graph, "x", ValueKind::kInput, {ElementType::kInt8, {1}});
  graph.inputs.push_back(
      {x, ElementType::kFloat32, {{3, ""}, {std::nullopt, "2*n + 1"}, {std::nullopt, ""}, {4, "batch"}, {-1, "a b"}}});
  graph.inputs.back().dimensions.resize(11);
  expect_round_trip(graph);
}

TEST(TextForm, BodiesAndNotesRoundTrip) {
  Graph graph;
  graph.bodies.resize(2);
  graph.bodies[0].name = "then";
  graph.bodies[0].notes = {{"inside"}};
  graph.bodies[0].outputs = {add_input(graph.bodies[0], "x")};
  graph.bodies[1].bodies.resize(1);
  graph.notes = {{""}, {"two\nlines"}};
  graph.nodes.push_back({If{.then_body = 1, .else_body = 0}, {}, {}, ""});
  expect_round_trip(graph);
}

TEST(TextForm, CommentsAndLineBreaksDoNotMatter) {
  const auto graph = parse_graph("# a\ngraph{input%x:f32 # b }\n%y=unary(%x\n)output %y}#");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(print_graph(*graph), "graph \"\" {\n  input %x : f32[]\n  %y = unary(%x)\n  output %y\n}\n");
}

TEST(TextForm, ErrorsNameLineAndColumn) {
  EXPECT_EQ(parse_error(""), "line 1, column 1: expected 'graph', the text ends here");
  EXPECT_EQ(parse_error("graph {\n  input %x : f32[2\n}"), "line 3, column 1: expected ']', found '}'");
  EXPECT_EQ(parse_error("graph {\n%y = relu(%x)}"), "line 2, column 6: expected an operator, found 'relu'");
  EXPECT_EQ(parse_error("graph {\n%y = unary(%x)}"), "line 2, column 12: %x is read before it is produced");
  EXPECT_EQ(parse_error("graph { %y = unary(%y)}"), "line 1, column 20: %y is read before it is produced");
  EXPECT_EQ(parse_error("graph { input %x : f32 input %x : f32 }"), "line 1, column 30: %x is produced twice");
  EXPECT_EQ(parse_error("graph { %y = unary() {sort = neg}}"), "line 1, column 23: 'unary' has no field 'sort'");
  EXPECT_EQ(parse_error("graph { %y = concat() {axis = 1, axis = 2}}"),
            "line 1, column 34: field 'axis' is given twice");
  EXPECT_EQ(parse_error("graph { %y = concat() {axis = 9223372036854775808}}"),
            "line 1, column 31: expected a whole number of 64 bits, found '9223372036854775808'");
  EXPECT_EQ(parse_error("graph { %y = pool() {kind = min}}"),
            "line 1, column 29: expected one of max, average, lp, found 'min'");
  EXPECT_EQ(parse_error("graph { note \"open\n\"}"), "line 1, column 14: the quote is never closed on its line");
  EXPECT_EQ(parse_error("graph { order %a, %a }"), "line 1, column 19: the value was announced before");
  EXPECT_EQ(parse_error("graph { } x"), "line 1, column 11: expected the end of the text, found 'x'");
  EXPECT_EQ(parse_error("graph { ; }"), "line 1, column 9: unexpected ';'");
}

TEST(TextForm, WhatIsReadIsValidated) {
  EXPECT_EQ(parse_error("graph { constant %c : i64[2] = [1] }"), "value 'c': 1 known elements do not fit shape 2");
  EXPECT_EQ(parse_error("graph { parameter %c : i64[99999999, 99999999] }"),
            "value 'c': shape 99999999x99999999 is not a possible tensor");
  EXPECT_EQ(parse_error("graph { () = loop() }"), "node 0 '': body 0 does not exist");
  EXPECT_EQ(parse_error("graph { () = loop() () = scan() body 0 {} }"), "node 1 '': body 0 is used twice");
}

std::string nested(std::size_t depth) {
  std::string text = "graph ";
  for (std::size_t i = 0; i < depth; ++i) text += "{ body 0 ";
  return text + "{" + std::string(depth + 1, '}');
}

TEST(TextForm, NestingIsLimited) {
  EXPECT_EQ(parse_error(nested(kMaxBodyDepth)), "no error");
  EXPECT_NE(parse_error(nested(kMaxBodyDepth + 1)).find("nested more than 8 deep"), std::string::npos);
  EXPECT_NE(parse_error(nested(100'000)).find("nested more than 8 deep"), std::string::npos);
}

std::string contents_of(const std::filesystem::path& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

// tests/data/graph_text/*.jcg are as print_graph writes them, behind their comment lines.
TEST(TextForm, SampleFilesRoundTrip) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(JOULECAST_SOURCE_DIR "/tests/data/graph_text")) {
    if (entry.path().extension() != ".jcg") continue;
    SCOPED_TRACE(entry.path().string());
    const std::string text = contents_of(entry.path());
    const auto graph = parse_graph(text);
    ASSERT_TRUE(graph) << graph.error().text();
    EXPECT_EQ(print_graph(*graph), text.substr(text.find("graph \"")));
    expect_round_trip(*graph);
    ++count;
  }
  EXPECT_GE(count, 4);
}

}  // namespace
}  // namespace joulecast
