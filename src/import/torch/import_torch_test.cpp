// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "import/torch/import_bytes.h"
#include "import/torch/program_writer.h"
#include "import/zip_writer.h"
#include "joulecast/passes.h"

namespace joulecast::torch {
namespace {

std::string ints(std::string_view list) {
  return fmt::format(R"({{"as_ints":[{}]}})", list);
}
std::string integer(int value) {
  return fmt::format(R"({{"as_int":{}}})", value);
}

Graph imported(const ProgramWriter& program) {
  auto graph = import_program(program.text(), "net");
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? *std::move(graph) : Graph{};
}

TypeTable types_of(const Graph& graph, std::int64_t batch = 2) {
  Binding binding;
  for (const auto& open : unbound_dimensions(graph, binding)) binding.symbols[open.symbol] = batch;
  auto types = infer_types(graph, binding);
  EXPECT_TRUE(types) << types.error().text();
  return types ? *std::move(types) : TypeTable(graph.values.size());
}

std::string labels(const Graph& graph) {
  std::string out;
  for (const Node& node : graph.nodes) out += (out.empty() ? "" : " ") + label(node.op);
  return out;
}

Shape output_shape(const Graph& graph, std::size_t i = 0) {
  return types_of(graph).type(graph.outputs.at(i)).shape;
}

// x [batch, 3, 8, 8] through a convolution of 4 channels.
ProgramWriter convolution() {
  ProgramWriter program;
  program.parameter("p_conv_weight", "conv.weight", {"4", "3", "3", "3"}).input("x", {"s77", "3", "8", "8"});
  program.value("conv2d", {"s77", "4", "8", "8"});
  program.node("torch.ops.aten.conv2d.default",
               {"input", tensor("x"), "weight", tensor("p_conv_weight"), "bias", R"({"as_none":true})", "stride",
                ints("1, 1"), "padding", ints("1, 1")},
               {"conv2d"}, "L__self__,,Net;L__self__conv,conv,torch.nn.Conv2d");
  return program;
}

TEST(Programs, NamesAreThoseOfTheModule) {
  const Graph graph = imported(convolution().output("conv2d"));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].name, "conv/conv2d");
  EXPECT_EQ(graph.value(graph.nodes[0].inputs[1]).name, "conv.weight");
  EXPECT_EQ(graph.value(graph.nodes[0].inputs[1]).kind, ValueKind::kParameter);
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs[0].value).name, "x");
  EXPECT_EQ(graph.inputs[0].dimensions[0].symbol, "s77");
  EXPECT_EQ(graph.inputs[0].dimensions[1].extent, 3);
  EXPECT_EQ(output_shape(graph), (Shape{2, 4, 8, 8}));
}

TEST(Programs, SymbolsOfEveryVersion) {
  ProgramWriter program;
  program.input("a", {"s0", "Symbol('s1', integer=True)", "s0*2", "Mul(Integer(2), Symbol('s0', integer=True))"});
  const Graph graph = imported(program.output("a"));
  const auto& dimensions = graph.inputs.at(0).dimensions;
  EXPECT_EQ(dimensions[0].symbol, "s0");
  EXPECT_EQ(dimensions[1].symbol, "s1");
  EXPECT_EQ(dimensions[2].symbol, "a_axis2");
  EXPECT_EQ(dimensions[3].symbol, "a_axis3");
}

TEST(Programs, RangesAreNotes) {
  ProgramWriter program;
  program.input("x", {"s0", "s1"}).output("x");
  program.ranges(R"("s0":{"min_val":2,"max_val":64},"s1":{"min_val":0,"max_val":null},"u0":{"min_val":3,"max_val":4})");
  const Graph graph = imported(program);
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_EQ(graph.notes[0].text, "s0 was exported for sizes from 2 to 64");
}

TEST(Programs, InPlaceOperatorsChangeWhatIsReadLater) {
  ProgramWriter program = convolution();
  program.value("relu_", {"s77", "4", "8", "8"}).value("add", {"s77", "4", "8", "8"});
  program.node("torch.ops.aten.relu_.default", {"self", tensor("conv2d")}, {"relu_"});
  program.node("torch.ops.aten.add.Tensor", {"self", tensor("conv2d"), "other", tensor("relu_")}, {"add"});
  const Graph graph = imported(program.output("add"));
  ASSERT_EQ(labels(graph), "conv relu add");
  EXPECT_EQ(graph.nodes[2].inputs[0], graph.nodes[1].outputs[0]);
  EXPECT_EQ(graph.nodes[2].inputs[1], graph.nodes[1].outputs[0]);
}

// x[1] = 0 is select, fill_: what reads x later depends on it.
TEST(Programs, ChangesOfAViewChangeItsTensor) {
  ProgramWriter program;
  program.input("x", {"4", "5"}).value("select", {"5"}).value("fill_", {"5"}).value("neg", {"4", "5"});
  program.node("torch.ops.aten.select.int", {"self", tensor("x"), "dim", integer(0), "index", integer(1)}, {"select"});
  program.node("torch.ops.aten.fill_.Scalar", {"self", tensor("select"), "value", integer(0)}, {"fill_"});
  program.node("torch.ops.aten.neg.default", {"self", tensor("x")}, {"neg"});
  const Graph graph = simplify(imported(program.output("neg")));
  EXPECT_NE(labels(graph).find("scatter"), std::string::npos) << labels(graph);
  EXPECT_EQ(output_shape(graph), (Shape{4, 5}));
}

TEST(Programs, SymbolicIntegersAreFollowed) {
  ProgramWriter program;
  program.input("x", {"s0", "6"}).value("view", {"s0*2", "3"});
  program.node("torch.ops.aten.sym_size.int", {"self", tensor("x"), "dim", integer(0)},
               {R"({"as_sym_int":{"as_name":"size"}})"});
  program.node("_operator.mul", {"a", R"({"as_sym_int":{"as_name":"size"}})", "b", R"({"as_int":2})"},
               {R"({"as_sym_int":{"as_name":"twice"}})"});
  program.node("torch.ops.aten.view.default",
               {"self", tensor("x"), "size", R"({"as_sym_ints":[{"as_name":"twice"},{"as_int":3}]})"}, {"view"});
  const Graph graph = imported(program.output("view"));
  EXPECT_EQ(types_of(graph, 5).type(graph.outputs.at(0)).shape, (Shape{10, 3}));
}

// -((-s) // 2) is the half rounded up.
TEST(Programs, FloorDivisionRoundsDownBelowZero) {
  ProgramWriter program;
  program.input("x", {"s0"}).value("full", {"u"});
  const auto symbol = [](std::string_view name) { return fmt::format(R"({{"as_sym_int":{{"as_name":"{}"}}}})", name); };
  program.node("torch.ops.aten.sym_size.int", {"self", tensor("x"), "dim", integer(0)}, {symbol("size")});
  program.node("_operator.neg", {"a", symbol("size")}, {symbol("minus")});
  program.node("_operator.floordiv", {"a", symbol("minus"), "b", integer(2)}, {symbol("half")});
  program.node("_operator.neg", {"a", symbol("half")}, {symbol("up")});
  program.node("torch.ops.aten.full.default",
               {"size", R"({"as_sym_ints":[{"as_name":"up"}]})", "fill_value", integer(1)}, {"full"});
  const Graph graph = imported(program.output("full"));
  EXPECT_EQ(types_of(graph, 5).type(graph.outputs.at(0)).shape, (Shape{3}));
}

TEST(Programs, SeveralOutputsOfOneOperator) {
  ProgramWriter program;
  program.input("x", {"2", "4", "8", "8"})
      .value("getitem", {"2", "4", "4", "4"})
      .value("unused", {"2", "4", "4", "4"}, 5);
  program.node("torch.ops.aten.max_pool2d_with_indices.default",
               {"self", tensor("x"), "kernel_size", ints("2, 2"), "stride", ints("2, 2")}, {"getitem", "unused"});
  const Graph graph = imported(program.output("getitem"));
  ASSERT_EQ(labels(graph), "max_pool");
  EXPECT_EQ(graph.nodes[0].outputs.size(), 1U);
  EXPECT_EQ(output_shape(graph), (Shape{2, 4, 4, 4}));
}

TEST(Programs, UnknownOperatorsKeepTheirNameAndTheTypesOfTheFile) {
  ProgramWriter program;
  program.input("x", {"s0", "8"}).value("y", {"s0", "3"}, 6);
  program.node("torch.ops.mylib.magic.default", {"x", tensor("x"), "how", R"({"as_string":"well"})"}, {"y"});
  const Graph graph = imported(program.output("y"));
  ASSERT_EQ(labels(graph), "mylib.magic.default");
  const TypeTable types = types_of(graph);
  EXPECT_EQ(types.type(graph.outputs[0]).shape, (Shape{2, 3}));
  EXPECT_EQ(types.type(graph.outputs[0]).element, ElementType::kFloat16);
}

TEST(Programs, AssertionsAreLeftOut) {
  ProgramWriter program = convolution();
  program.node("torch.ops.aten._assert_tensor_metadata.default", {"a", tensor("x")}, {});
  EXPECT_EQ(labels(imported(program.output("conv2d"))), "conv");
}

TEST(Programs, ContextsAreInlined) {
  ProgramWriter inner;
  inner.value("arg", {"2", "3"}).value("neg", {"2", "3"});
  inner.node("torch.ops.aten.neg.default", {"self", tensor("arg")}, {"neg"});
  std::string graph = inner.graph();
  const auto replace = [&](std::string_view from, std::string_view to) {
    graph.replace(graph.find(from), from.size(), to);
  };
  replace(R"("inputs":[])", fmt::format(R"("inputs":[{}])", tensor("arg")));
  replace(R"("outputs":[])", fmt::format(R"("outputs":[{}])", tensor("neg")));
  ProgramWriter program;
  program.input("x", {"2", "3"}).value("y", {"2", "3"});
  program.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
               {"", R"({"as_bool":false})", "", fmt::format(R"({{"as_graph":{{"name":"sub","graph":{}}}}})", graph), "",
                tensor("x")},
               {"y"});
  EXPECT_EQ(labels(imported(program.output("y"))), "neg");
  ProgramWriter branching;
  branching.input("p", {}, 12).input("x", {"2", "3"}).value("y", {"2", "3"});
  const std::string branch = fmt::format(R"({{"as_graph":{{"name":"sub","graph":{}}}}})", graph);
  branching.node("torch.ops.higher_order.cond",
                 {"", tensor("p"), "", branch, "", branch, "", R"({"as_tensors":[{"name":"x"}]})"}, {"y"});
  const Graph with_bodies = imported(branching.output("y"));
  EXPECT_EQ(labels(with_bodies), "if");
  ASSERT_EQ(with_bodies.bodies.size(), 2U);
  EXPECT_EQ(labels(with_bodies.bodies[1]), "neg");
  EXPECT_EQ(output_shape(with_bodies), (Shape{2, 3}));
}

// Tables instead of lists of specifications, unions with every key, and the type one level deeper.
TEST(Programs, TheFirstLayout) {
  const std::string json = R"({"graph_module":{"graph":{"inputs":[{"as_tensor":{"name":"arg0_1"},"as_int":null},
      {"as_tensor":{"name":"arg1_1"}}],"outputs":[{"as_tensor":{"name":"mm"}}],"nodes":[{
      "target":"torch.ops.aten.mm.default","inputs":[{"name":"self","arg":{"as_none":null,"as_tensor":{"name":"arg1_1"}}},
      {"name":"mat2","arg":{"as_tensor":{"name":"arg0_1"}}}],"outputs":[{"as_tensor":{"name":"mm"}}],"metadata":{}}],
      "tensor_values":{"arg0_1":{"meta":{"dtype":7,"sizes":[{"as_expr":null,"as_int":4},{"as_int":5}]}},
      "arg1_1":{"meta":{"dtype":7,"sizes":[{"as_expr":{"expr_str":"s0","hint":2}},{"as_int":4}]}}}},
      "signature":{"inputs_to_parameters":{"arg0_1":"weight"},"inputs_to_buffers":{},"user_inputs":["arg1_1"],
      "user_outputs":["mm"],"buffers_to_mutate":{}}},"schema_version":1,"range_constraints":{}})";
  const auto graph = import_program(json, "net");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(labels(*graph), "linear");
  EXPECT_EQ(output_shape(*graph), (Shape{2, 5}));
}

TEST(Programs, LayoutsOfTheArchive) {
  const std::string program = convolution().output("conv2d").text();
  for (const std::string_view name :
       {"net/models/model.json", "net/models/other.json", "models/model.json", "serialized_exported_program.json"}) {
    ZipWriter writer;
    writer.add("net/data/weights/weight_0", "");
    writer.add_deflated(name, program);
    const auto graph = import_bytes(writer.finish(), "net");
    EXPECT_TRUE(graph) << name << ": " << graph.error().text();
  }
}

TEST(Programs, OtherArchivesAreRefusedWithWhatToDo) {
  const auto error_with = [](std::string_view member) {
    ZipWriter writer;
    writer.add(member, "x");
    return import_bytes(writer.finish(), "net").error().text();
  };
  EXPECT_NE(error_with("net/data.pkl").find("is a pickle of torch.save"), std::string::npos);
  EXPECT_NE(error_with("net/data.pkl").find("torch.export.save(torch.export.export(model, args)"), std::string::npos);
  EXPECT_NE(error_with("readme.txt").find("is a zip archive without a program"), std::string::npos);
  EXPECT_NE(error_with("net/data.pkl").find("torch.jit.save(torch.jit.trace(model, args)"), std::string::npos);
}

}  // namespace
}  // namespace joulecast::torch
