// SPDX-License-Identifier: Apache-2.0
// Layers and idioms as torch writes them, traced, scripted and exported (tools/zoo/layer_files.py), against what they
// count by hand; torch's FlopCounterMode says the same of those that it counts.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "import/fixture_measures.h"

namespace joulecast {
namespace {

const std::filesystem::path kFolder = std::filesystem::path(JOULECAST_SOURCE_DIR) / "tests/data/torch_layers";

struct LayerCase {
  const char* name;
  InputShapes shapes;  // for the scripted file, which tells none
  double flops;        // of products
  std::int64_t parameters;
  Shape shape;
  std::vector<const char*> endings = {".traced.pt", ".scripted.pt", ".pt2"};
};

const LayerCase kCases[] = {
    // Two layers, two directions: 14 steps meet 80*10 + 80*5 + 5*20 weights each; then 14 rows of 10 by 3.
    {"projected", {{"x", {2, 7, 10}}}, 2.0 * 14 * (4 * 1300 + 30), 4 * (1300 + 160) + 33, {2, 7, 3}},
    // 192 places of [x, y, 1] by theta, and a convolution of 27 inputs.
    {"warped",
     {{"x", {2, 3, 24, 20}}, {"theta", {2, 2, 3}}},
     2.0 * 2 * 192 * (6 + 4 * 27),
     112,
     {2, 4, 16, 12},
     {".traced.pt", ".pt2", ".scripted.pt"}},
    // For each of 8 outputs a row by 6x7, then by a column of 7; then 8 by 3.
    {"pairs", {{"x", {4, 6}}, {"y", {4, 7}}}, 2.0 * 4 * (8 * 42 + 8 * 7 + 24), 336 + 8 + 27, {4, 3}},
    {"pairs_of_rows", {{"x", {4, 5, 6}}, {"y", {4, 5, 7}}}, 2.0 * 20 * (8 * 42 + 8 * 7 + 24), 336 + 8 + 27, {4, 5, 3}},
    {"ordered", {{"x", {2, 6, 5}}}, 2.0 * 10 * 18, 21, {2, 5, 3}},
    // The table goes through its layer each time; it is none of the parameters, which are a layer's and a norm's.
    {"table", {{"x", {2, 6}}}, 2.0 * (6 * 8 + 2 * 24), 12 + 4 * 4, {2, 4}},
    // 21 steps meet 60*10 + 60*20 weights.
    {"tokens", {{"tokens", {7, 3}}}, 2.0 * 21 * 1800, 500 + 1920, {7, 3, 20}},
    {"gru", {{"input", {7, 3, 10}}}, 2.0 * 21 * 1800, 1920, {7, 3, 20}},
    {"lstm", {{"input", {3, 7, 10}}}, 2.0 * 21 * (80 * 30 + 80 * 40), 5600 + 320, {3, 7, 20}},
    {"bag", {{"input", {4, 6}}}, 0.0, 1600, {4, 16}},
    {"instance_norm", {{"input", {2, 5, 8, 8}}}, 0.0, 0, {2, 5, 8, 8}},
    // 64 places of 27 inputs to 8, 36 of 72 to 4.
    {"modes", {{"x", {2, 3, 8, 8}}}, 2.0 * 2 * (64 * 8 * 27 + 36 * 4 * 72), 8 * 28 + 4 * 73, {2, 4, 6, 6}},
    // Of 14 rows: to query, key and value and out of attention, of 7 keys a row.
    {"attending", {{"x", {2, 7, 32}}}, 2.0 * 14 * (32 * 128 + 2 * 32 * 7), 128 * 32 + 128, {2, 7, 32}},
    {"similar", {{"x", {4, 6}}, {"y", {4, 6}}}, 2.0 * 2 * 4 * 6 * 16, 7 * 16, {4}},
    // Of 14 rows: to query, key and value, out of attention, and 32 to 64 and back; attention of 7 keys a row, twice.
    {"encoder",
     {{"src", {2, 7, 32}}},
     2.0 * 2 * 14 * (32 * 128 + 2 * 32 * 64 + 2 * 32 * 7),
     2 * (128 * 32 + 128 + 2 * 32 * 64 + 96 + 128),
     {2, 7, 32}},
    // The same once, on 14 rows; on 10 rows attention to themselves and to those 14.
    {"transformer",
     {{"src", {7, 2, 32}}, {"tgt", {5, 2, 32}}},
     2.0 * 14 * (32 * 128 + 2 * 32 * 64 + 2 * 32 * 7) + 2.0 * 10 * (32 * 128 + 2 * 32 * 64 + 2 * 32 * 5) +
         2.0 * 10 * (2 * 32 * 32 + 2 * 32 * 7) + 2.0 * 14 * 2 * 32 * 32,
     3 * (128 * 32 + 128) + 2 * (2 * 32 * 64 + 96) + 5 * 64 + 2 * 64,
     {5, 2, 32}},
};

TEST(TorchLayers, AreWhatTheyCountByHand) {
  for (const LayerCase& layer : kCases) {
    for (const char* ending : layer.endings) {
      SCOPED_TRACE(std::string(layer.name) + ending);
      auto graph = import_model((kFolder / (std::string(layer.name) + ending)).string(), {}, layer.shapes);
      ASSERT_TRUE(graph) << graph.error().text();
      const Graph simple = simplify(*std::move(graph));
      Binding binding;
      binding.shapes = layer.shapes;
      const auto types = infer_types(simple, binding);
      ASSERT_TRUE(types) << types.error().text();
      EXPECT_EQ(count<Opaque>(simple), 0U);
      EXPECT_EQ(parameters(simple), layer.parameters);
      EXPECT_EQ(product_flops(simple, *types), layer.flops);
      ASSERT_FALSE(simple.outputs.empty());
      EXPECT_EQ(text(types->type(simple.outputs[0]).shape), text(layer.shape));
    }
  }
}

Graph imported(const char* file, const InputShapes& shapes = {}) {
  auto graph = import_model((kFolder / file).string(), {}, shapes);
  EXPECT_TRUE(graph) << graph.error().text();
  return graph ? *std::move(graph) : Graph{};
}

// Operators with effects take and give tokens, which order them and hold nothing.
TEST(TorchLayers, EffectsOfDecomposedProgramsLeaveNoTrace) {
  const Graph graph = simplify(imported("printed.pt2"));
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(count<Linear>(graph), 1U);
  EXPECT_EQ(parameters(graph), 21);
}

// Where a recurrent layer has the time first, --batch is for the second axis.
TEST(TorchLayers, ThatHaveTheTimeFirstHaveTheirBatchBehind) {
  for (const char* file : {"gru.traced.pt", "gru.scripted.pt", "tokens.traced.pt", "tokens.scripted.pt"}) {
    SCOPED_TRACE(file);
    const bool tokens = std::string_view(file).starts_with("tokens");
    const Graph graph = imported(file, {{"input", Shape{7, 3, 10}}, {"tokens", Shape{7, 3}}});
    ASSERT_EQ(graph.inputs.size(), 1U);
    EXPECT_EQ(graph.inputs[0].dimensions[1].symbol, "batch");
    Binding binding;
    binding.batch = 6;
    if (tokens) binding.symbols["sequence"] = 7;
    const auto types = infer_types(graph, binding);
    ASSERT_TRUE(types) << types.error().text();
    EXPECT_EQ(text(types->type(graph.outputs[0]).shape), "7x6x20");
  }
  EXPECT_EQ(imported("gru.traced.pt").notes.at(0).text,
            "the batch of input 'input' is its second axis: a recurrent layer takes the first one as time");
  EXPECT_EQ(imported("lstm.traced.pt").inputs.at(0).dimensions[0].symbol, "batch");
}

}  // namespace
}  // namespace joulecast
