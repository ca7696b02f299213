// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/import_torchscript.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "import/torchscript/archive_writer.h"
#include "import/torchscript/pickle.h"
#include "joulecast/passes.h"

namespace joulecast::torchscript {
namespace {

// A body of forward(self, x), four blanks in front of every line.
std::string code_of(std::string_view body) {
  return fmt::format(
      "class Net(Module):\n  weight : Tensor\n  def forward(self: __torch__.Net,\n    x: Tensor) -> Tensor:\n{}"
      "class Conv(Module):\n  kernel : Final[List[int]] = [3, 3]\n"
      "  def forward(self, input: Tensor) -> Tensor:\n"
      "    weight = self.weight\n    return torch.conv2d(input, weight, None, [1, 1], [1, 1])\n"
      "def twice(input: Tensor, times: int=2) -> Tensor:\n  return torch.mul(input, times)\n",
      body);
}

Result<Graph> import_body(std::string_view body, const std::vector<int>& shape = {2, 3, 8, 8}) {
  return import_bytes(archive_of(code_of(body), {}, inputs_pickle({shape})), "net");
}

Graph imported(std::string_view body, const std::vector<int>& shape = {2, 3, 8, 8}) {
  auto graph = import_body(body, shape);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? *std::move(graph) : Graph{};
}

std::string error_of(std::string_view body) {
  const auto graph = import_body(body);
  return graph ? "no error" : graph.error().text();
}

std::string labels(const Graph& graph) {
  std::string out;
  for (const Node& node : simplify(graph).nodes) out += (out.empty() ? "" : " ") + label(node.op);
  return out;
}

Shape output_shape(const Graph& graph, std::int64_t batch = 2) {
  Binding binding;
  for (const auto& open : unbound_dimensions(graph, binding)) binding.symbols[open.symbol] = batch;
  auto types = infer_types(graph, binding);
  EXPECT_TRUE(types) << types.error().text();
  return types && !graph.outputs.empty() ? types->type(graph.outputs[0]).shape : Shape{};
}

TEST(TorchScript, NamesAreThoseOfTheModules) {
  const Graph graph = imported("    conv = self.conv\n    return (conv).forward(x, )\n");
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].name, "conv/conv2d");
  EXPECT_EQ(graph.value(graph.nodes[0].inputs[1]).name, "conv.weight");
  EXPECT_EQ(graph.value(graph.nodes[0].inputs[1]).kind, ValueKind::kParameter);
  EXPECT_EQ(graph.value(graph.inputs.at(0).value).name, "x");
  EXPECT_EQ(graph.inputs[0].dimensions[0].symbol, "batch");
  EXPECT_EQ(graph.inputs[0].dimensions[1].extent, 3);
  EXPECT_EQ(output_shape(graph, 5), (Shape{5, 4, 8, 8}));
}

// A whole number as a tensor is one of integers: what it divides can still be places.
TEST(TorchScript, WholeNumbersBecomeTensorsOfIntegers) {
  const Graph graph = imported(
      "    _0, places = torch.topk(x, 2)\n    n = ops.prim.NumToTensor(torch.size(places, -1))\n"
      "    rows = annotate(List[Optional[Tensor]], [torch.floor_divide(places, n)])\n    return torch.index(x, rows)\n",
      {6, 4});
  EXPECT_EQ(labels(graph), "top_k div gather");
  EXPECT_EQ(output_shape(graph, 6), (Shape{6, 2, 4}));
}

// Nodes and edges of a graph: rows are taken by numbers that are no example's.
TEST(TorchScript, RowsThatAreTakenByTheirNumbersAreNoBatch) {
  const std::string code =
      "class Net(Module):\n  def forward(self: __torch__.Net,\n    x: Tensor,\n    edges: Tensor) -> Tensor:\n"
      "    y = torch.relu(x)\n    rows = torch.to(torch.select(edges, 0, 1), 4)\n"
      "    return torch.index_select(y, 0, rows)\n";
  const auto graph = import_bytes(archive_of(code, {}, inputs_pickle({{1000, 16}, {2, 400}})), "net");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->inputs.at(0).dimensions[0].extent, 1000);
  EXPECT_EQ(graph->inputs.at(1).dimensions[0].extent, 2);
  EXPECT_EQ(output_shape(*graph), (Shape{400, 16}));
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_EQ(graph->notes[0].text, "the trace holds for the sizes that it was made with only");
}

TEST(TorchScript, FunctionsAreEnteredWithTheirDefaults) {
  EXPECT_EQ(labels(imported("    twice = __torch__.twice\n    return twice(torch.relu(x), )\n")), "relu mul");
}

TEST(TorchScript, InPlaceOperatorsChangeWhatIsReadLater) {
  const Graph graph = imported("    y = torch.neg(x)\n    z = torch.relu_(y)\n    return torch.add(y, z)\n");
  EXPECT_EQ(labels(graph), "neg relu add");
  EXPECT_EQ(graph.nodes[2].inputs[0], graph.nodes[1].outputs[0]);
  EXPECT_EQ(graph.nodes[2].inputs[1], graph.nodes[1].outputs[0]);
}

// y[:, 1] = 0
TEST(TorchScript, ChangesOfAViewChangeItsTensor) {
  const Graph graph =
      imported("    y = torch.neg(x)\n    z = torch.fill_(torch.select(y, 1, 1), 0)\n    return torch.abs(y)\n");
  EXPECT_NE(labels(graph).find("scatter"), std::string::npos) << labels(graph);
  EXPECT_EQ(output_shape(graph), (Shape{2, 3, 8, 8}));
}

TEST(TorchScript, ExtentsAreFollowed) {
  const Graph graph = imported(
      "    n = ops.prim.NumToTensor(torch.size(x, 0))\n    m = torch.mul(n, CONSTANTS.c0)\n"
      "    return torch.view(x, [int(m), -1])\n");
  EXPECT_EQ(output_shape(graph, 5), (Shape{15, 64}));
}

// What Swin pads its windows with: (7 - batch % 7) % 7.
TEST(TorchScript, ExtentsAreFollowedThroughRemainders) {
  const Graph graph = imported(
      "    n = ops.prim.NumToTensor(torch.size(x, 0))\n    m = torch.remainder(torch.rsub(torch.remainder(n, 7), 7), "
      "7)\n"
      "    return torch.pad(x, [0, int(m)])\n");
  EXPECT_EQ(output_shape(graph, 5), (Shape{5, 3, 8, 10}));
}

TEST(TorchScript, ARangeOfOneNumberIsATensor) {
  const std::string_view ends[] = {"8", "annotate(number, ops.prim.NumToTensor(torch.size(x, 3)))"};
  for (const std::string_view end : ends) {
    const Graph graph = imported(fmt::format(
        "    i = torch.arange({}, dtype=None, layout=None, pin_memory=False)\n    return torch.add(x, i)\n", end));
    EXPECT_EQ(output_shape(graph), (Shape{2, 3, 8, 8})) << end;
  }
}

TEST(TorchScript, SmallConstantsAreKnown) {
  const Graph graph =
      imported("    i = torch.select(CONSTANTS.c1, 0, 1)\n    return torch.repeat(x, [1, 1, int(i), 1])\n");
  EXPECT_EQ(output_shape(graph), (Shape{2, 3, 40, 8}));
}

// 11 is bool, 15 is bfloat16.
TEST(TorchScript, ElementTypesAreNumbers) {
  const auto element = [](std::string_view body) {
    const Graph graph = imported(body);
    Binding binding;
    binding.batch = 2;
    const auto types = infer_types(graph, binding);
    return types ? types->type(graph.outputs.at(0)).element : ElementType::kUnknown;
  };
  EXPECT_EQ(element("    return torch.to(x, dtype=11, layout=0)\n"), ElementType::kBool);
  EXPECT_EQ(element("    return torch.to(x, 15)\n"), ElementType::kBFloat16);
  EXPECT_EQ(element("    return torch.to(x, torch.device(\"cpu\"), 5)\n"), ElementType::kFloat16);
  EXPECT_EQ(labels(imported("    return torch.relu(torch.to(x, 6))\n")), "relu");
}

TEST(TorchScript, KnownConditionsTakeTheirBranch) {
  const std::string_view body =
      "    if torch.eq(torch.dim(x), 4):\n      y = torch.relu(x)\n    else:\n      y = torch.neg(x)\n    return y\n";
  EXPECT_EQ(labels(imported(body)), "relu");
  EXPECT_EQ(labels(imported(body, {2, 3, 8})), "neg");
}

TEST(TorchScript, BranchesThatRaiseAreNotTaken) {
  const std::string_view body =
      "    if torch.ne(torch.size(x, 0), 7):\n      ops.prim.RaiseException(\"no\")\n    else:\n      pass\n"
      "    return torch.relu(x)\n";
  const Graph graph = imported(body);
  EXPECT_EQ(labels(graph), "relu");
  EXPECT_TRUE(graph.notes.empty());
}

// That an extent is none of the two tried does not prove that it is not the one that is asked for.
TEST(TorchScript, OpenExtentsMayBeWhatTheCodeWants) {
  const std::string_view body =
      "    if torch.eq(torch.size(x, 0), 7):\n      pass\n    else:\n      ops.prim.RaiseException(\"no\")\n"
      "    return torch.relu(x)\n";
  EXPECT_EQ(labels(imported(body)), "relu");
}

TEST(TorchScript, TruthsInLists) {
  const std::string_view body =
      "    if torch.all([True, torch.eq(torch.dim(x), 4)]):\n      y = torch.relu(x)\n    else:\n      y = x\n"
      "    if torch.any([False, torch.eq(torch.dim(x), 3)]):\n      y = torch.neg(y)\n    else:\n      pass\n    "
      "return y\n";
  EXPECT_EQ(labels(imported(body)), "relu");
  EXPECT_EQ(labels(imported(body, {2, 3, 8})), "neg");
}

TEST(TorchScript, ConditionsOnSizesAreNoted) {
  const Graph graph = imported(
      "    if torch.gt(torch.size(x, 0), 3):\n      y = torch.relu(x)\n    else:\n      y = torch.neg(x)\n    return "
      "y\n");
  EXPECT_EQ(labels(graph), "neg");  // of a batch of 2, as in the example
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_EQ(graph.notes[0].text, "the condition in code/__torch__.py, line 5, depends on sizes: taken as false");
}

TEST(TorchScript, LoopsAreUnrolled) {
  const Graph graph = imported(
      "    y = x\n    for i in range(3):\n      y = torch.relu(torch.add(y, i))\n    n = 0\n"
      "    while torch.lt(n, 2):\n      n = torch.add(n, 1)\n      y = torch.neg(y)\n    return y\n");
  EXPECT_EQ(labels(graph), "add relu add relu add relu neg neg");
}

TEST(TorchScript, LoopsOverRangesKnowTheirTurns) {
  const Graph graph = imported(
      "    y = x\n    for k in range(torch.__range_length(7, 1, -3)):\n"
      "      y = torch.sum(y, [torch.sub(torch.__derive_index(k, 7, -3), 4)], True)\n    return y\n");
  EXPECT_EQ(output_shape(graph), (Shape{1, 3, 8, 1}));  // of axes 7 - 4 and 4 - 4
  EXPECT_NE(
      error_of("    for k in range(torch.__range_length(0, 4, 0)):\n      pass\n    return x\n").find("step of 0"),
      std::string::npos);
}

TEST(TorchScript, ListsOfNumbersHaveASum) {
  const std::string_view body =
      "    if torch.gt(torch.sum([0, 2, 1]), 2):\n      y = torch.relu(x)\n    else:\n      y = x\n    return y\n";
  EXPECT_EQ(labels(imported(body)), "relu");
  EXPECT_EQ(labels(imported("    return torch.sum(x)\n")), "reduce_sum");
}

TEST(TorchScript, DictsStartEmpty) {
  EXPECT_EQ(labels(imported("    d = torch.dict()\n    _0 = torch._set_item(d, \"a\", torch.relu(x))\n"
                            "    return d[\"a\"]\n")),
            "relu");
}

TEST(TorchScript, NumbersInBracketsAreAConstant) {
  EXPECT_EQ(output_shape(imported("    return torch.tensor([[1, 2, 3], [4, 5, 6]], dtype=6)\n")), (Shape{2, 3}));
  EXPECT_EQ(output_shape(imported("    return torch.tensor(7)\n")), (Shape{}));
}

TEST(TorchScript, TensorsAreNoLists) {
  const std::string_view body =
      "    if isinstance(x, list):\n      y = torch.neg(x)\n    else:\n      y = torch.relu(x)\n"
      "    if isinstance([y], List[Tensor]):\n      y = torch.neg(y)\n    else:\n      pass\n    return y\n";
  EXPECT_EQ(labels(imported(body)), "relu neg");
}

TEST(TorchScript, ElementsAreCounted) {
  const Graph graph = imported("    return torch.slice(torch.flatten(x), 0, torch.floordiv(torch.numel(x), 3))\n");
  EXPECT_EQ(output_shape(graph), (Shape{256}));  // 2 * 3 * 8 * 8 elements without a third of them
}

TEST(TorchScript, ListsOfTensorsAreAsLongAsTheyAreUnpacked) {
  const Graph graph = imported("    _0 = torch.split(x, 1, 1)\n    a, b, c, = _0\n    return torch.cat([c, a], 1)\n");
  EXPECT_EQ(output_shape(graph), (Shape{2, 2, 8, 8}));
  const Graph indexed = imported("    return torch.neg((torch.chunk(x, 2, 2))[1])\n");
  EXPECT_EQ(output_shape(indexed), (Shape{2, 3, 4, 8}));
}

TEST(TorchScript, SplitsAtPlacesHaveOnePartMore) {
  const Graph graph = imported("    parts = torch.tensor_split(x, [1, 3], 2)\n    return torch.relu(parts[2])\n");
  EXPECT_EQ(output_shape(graph), (Shape{2, 3, 5, 8}));
}

TEST(TorchScript, OneWeightUnderTwoNamesIsOne) {
  const std::string weights = pickled_text("weight") + pickled_tensor({8, 8}) + pickled_text("tied") +
                              pickled_tensor({8, 8}) + pickled_text("other") +
                              pickled_tensor({8, 8}, "FloatStorage", "1");
  const std::string code =
      "class Net(Module):\n  def forward(self, x: Tensor) -> Tensor:\n"
      "    y = torch.linear(torch.linear(x, self.weight), self.tied)\n    return torch.linear(y, self.other)\n";
  const auto graph =
      import_bytes(archive_of(code, pickle_of(pickled_object("Net", weights)), inputs_pickle({{2, 8}})), "net");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->nodes[0].inputs[1], graph->nodes[1].inputs[1]);
  EXPECT_NE(graph->nodes[0].inputs[1], graph->nodes[2].inputs[1]);
}

// A trace with the batch written into it.
TEST(TorchScript, TracesThatHoldForOneBatchSaySo) {
  const Graph graph = imported("    return torch.view(x, [6, 64])\n");
  EXPECT_EQ(graph.inputs.at(0).dimensions[0].extent, 2);
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_EQ(graph.notes[0].text, "the trace holds for the sizes that it was made with only");
}

TEST(TorchScript, WithoutAnExampleTheReaderTellsTheShape) {
  const auto graph = import_bytes(archive_of(code_of("    return (self.conv).forward(x, )\n")), "net");
  ASSERT_TRUE(graph) << graph.error().text();
  const auto& dimensions = graph->inputs.at(0).dimensions;
  ASSERT_EQ(dimensions.size(), 4U);
  EXPECT_EQ(dimensions[0].symbol, "batch");
  EXPECT_EQ(dimensions[1].extent, 3);
  EXPECT_EQ(dimensions[2].symbol, "height");
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_EQ(
      graph->notes[0].text,
      "the file does not say the shape of input 'x': taken as batch x 3 x height x width, as the network reads it");
  const auto silent = import_bytes(archive_of(code_of("    return torch.flatten(x, 1)\n")), "net");
  ASSERT_FALSE(silent);
  EXPECT_NE(silent.error().text().find("does not say the shape of input 'x', and 'flatten' that reads it"),
            std::string::npos)
      << silent.error().text();
}

TEST(TorchScript, ShapesThatAreGivenStandForThoseThatTheFileDoesNotTell) {
  const std::string flat = archive_of(code_of("    return torch.flatten(x, 1)\n"));
  const auto graph = import_bytes(flat, "net", {{"x", {2, 5, 7}}, {"other", {1}}});
  ASSERT_TRUE(graph) << graph.error().text();
  const auto& dimensions = graph->inputs.at(0).dimensions;
  ASSERT_EQ(dimensions.size(), 3U);
  EXPECT_EQ(dimensions[0].symbol, "batch");
  EXPECT_EQ(dimensions[2].extent, 7);
  EXPECT_EQ(graph->notes.at(0).text,
            "the file does not say the shape of input 'x': taken as batch x 5 x 7, as was asked for");
  // What is asked for goes before what the reader tells; an example in the file goes before both.
  const auto image =
      import_bytes(archive_of(code_of("    return (self.conv).forward(x, )\n")), "net", {{"x", {1, 3, 64, 48}}});
  ASSERT_TRUE(image) << image.error().text();
  EXPECT_EQ(image->inputs.at(0).dimensions[3].extent, 48);
  const std::string traced = archive_of(code_of("    return torch.flatten(x, 1)\n"), {}, inputs_pickle({{2, 3, 8, 8}}));
  EXPECT_EQ(import_bytes(traced, "net", {{"x", {1, 9}}})->inputs.at(0).dimensions.size(), 4U);
}

TEST(TorchScript, WhatFailsAfterAShapeWasGuessedSaysWhatItWasTakenToBe) {
  const std::string code = code_of("    y = (self.conv).forward(x, )\n    return torch.transpose(y, 1, 4)\n");
  const auto guessed = import_bytes(archive_of(code), "net");
  ASSERT_FALSE(guessed);
  EXPECT_NE(guessed.error().text().find("of 4 axes; x was taken to be batch x 3 x 224 x 224; give what it is with "
                                        "--shapes x:AxBxC"),
            std::string::npos)
      << guessed.error().text();
  const auto given = import_bytes(archive_of(code), "net", {{"x", {1, 3, 8, 8}}});
  ASSERT_FALSE(given);
  EXPECT_EQ(given.error().text().find("taken to be"), std::string::npos) << given.error().text();
  const auto told = import_bytes(archive_of(code, {}, inputs_pickle({{2, 3, 8, 8}})), "net");
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().text().find("taken to be"), std::string::npos) << told.error().text();
}

TEST(TorchScript, UnknownOperatorsKeepTheirName) {
  EXPECT_EQ(labels(imported("    return ops.mylib.magic(x, 3)\n")), "mylib.magic");
}

// What an operator nobody knows returns is taken to be like what it reads; who then fails does not take the blame.
TEST(TorchScript, UnknownOperatorsAreNamedWhereTheirResultDoesNotFit) {
  const Graph graph = imported("    return torch.relu(ops.mylib.magic(x))\n");
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_EQ(graph.notes[0].text, "mylib.magic is not known: its result is taken to be shaped like its first input");
  const std::string error = error_of("    y = ops.mylib.magic(x)\n    return torch.size(torch.relu(y), 5)\n");
  EXPECT_NE(error.find("operator 'mylib.magic' of node 'mylib.magic' is not known"), std::string::npos) << error;
  EXPECT_NE(error.find("size of an axis that a tensor of 4 axes does not have"), std::string::npos) << error;
  EXPECT_EQ(error_of("    y = ops.mylib.magic(x)\n    return torch.size(x, 5)\n").find("mylib"), std::string::npos);
}

TEST(TorchScript, ErrorsNameFileAndLine) {
  EXPECT_NE(
      error_of("    y = torch.relu(x)\n    return torch.add(z, y)\n").find("code/__torch__.py:6: 'z' has no value"),
      std::string::npos);
  EXPECT_NE(error_of("    return torch.relu(x,,)\n").find("code/__torch__.py: line 5: ',' stands where a value should"),
            std::string::npos);
}

TEST(TorchScript, DataDependentLoopsAreRefused) {
  EXPECT_NE(error_of("    while bool(torch.sum(x)):\n      pass\n    return x\n")
                .find("how often a loop runs depends on sizes or data"),
            std::string::npos);
}

TEST(TorchScript, EndlessLoopsEnd) {
  EXPECT_NE(error_of("    while True:\n      pass\n    return x\n").find("runs more than"), std::string::npos);
  EXPECT_NE(error_of("    f = __torch__.Conv\n    return (self).forward(x, )\n").find("calls nested more than"),
            std::string::npos);
}

TEST(Pickles, OnlyNamesOfTorchScriptAreData) {
  const auto error_with = [](std::string_view bytes) {
    const auto pickle = Pickle::read(bytes);
    return pickle ? "no error" : pickle.error().text();
  };
  EXPECT_NE(error_with("\x80\x02"
                       "cos\nsystem\n(" +
                       pickled_text("ls") + "tR.")
                .find("names 'os.system'"),
            std::string::npos);
  EXPECT_NE(error_with("\x80\x02"
                       "ctorch\nload\n.")
                .find("names 'torch.load'"),
            std::string::npos);
  EXPECT_NE(error_with("\x80\x04\x93.").find("opcode 0x93"), std::string::npos);
  EXPECT_NE(error_with("\x80\x02]").find("cut off"), std::string::npos);
}

TEST(Pickles, AnythingCutOffIsAnError) {
  const std::string whole = net_pickle();
  ASSERT_TRUE(Pickle::read(whole));
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(Pickle::read(std::string_view(whole).substr(0, length))) << length;
  }
}

TEST(TorchScript, PicklesOfTorchSaveAreNotTakenForIt) {
  ZipWriter writer;
  writer.add("net/data.pkl", net_pickle());
  EXPECT_FALSE(recognises(writer.finish()));
  EXPECT_TRUE(recognises(archive_of("")));
}

}  // namespace
}  // namespace joulecast::torchscript
