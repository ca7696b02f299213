// SPDX-License-Identifier: Apache-2.0
// Files that TensorFlow's converter wrote (tools/zoo/tflite_files.py) against what Keras counts for the same networks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "import/fixture_measures.h"
#include "import/registered_cases.h"
#include "import/tflite/flex.h"
#include "import/tflite/operators.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(JOULECAST_SOURCE_DIR) / "tests/data/tflite";

Graph imported(const std::string& file) {
  return simplified_import(kFolder / file);
}

void check(const std::string& network, const std::string& option) {
  const auto expected = nlohmann::json::parse(std::ifstream(kFolder / network / "expected.json"));
  const Graph graph = imported(network + "/" + option + ".tflite");
  expect_as_counted(graph, expected, expected["weights"][option].get<std::int64_t>(), 0.02);
}

const bool kRegistered = [] {
  std::map<std::string, std::function<void()>> cases;
  for (const auto& folder : fs::directory_iterator(kFolder)) {
    for (const auto& file : fs::directory_iterator(folder.path())) {
      if (file.path().extension() != ".tflite") continue;
      const auto network = folder.path().filename().string();
      cases[fmt::format("{}/{}", network, file.path().stem().string())] =
          [network, option = file.path().stem().string()] { check(network, option); };
    }
  }
  return register_cases("TfliteFiles", cases);
}();

const Node* first_conv(const Graph& graph) {
  const auto it = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                               [](const Node& node) { return std::holds_alternative<Conv>(node.op); });
  return it == graph.nodes.end() ? nullptr : &*it;
}

TEST(Tflite, NamesAreThoseOfTheSignature) {
  const Graph graph = imported("convolutions/float.tflite");
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs[0].value).name, "image");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "output_0");
  EXPECT_EQ(graph.inputs[0].dimensions[0].symbol, "batch");
}

TEST(Tflite, ImagesNeedNoTranspositions) {
  for (const std::string file : {"convolutions/float.tflite", "convolutions/int8.tflite", "upsampling/float.tflite"}) {
    EXPECT_EQ(count<Transpose>(imported(file)), 0U) << file;
  }
}

TEST(Tflite, FusedActivationsAreOperators) {
  const Graph graph = imported("convolutions/float.tflite");
  const auto relu6 = std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    const auto* op = std::get_if<Activation>(&node.op);
    return op != nullptr && op->kind == ActivationKind::kRelu6;
  });
  EXPECT_EQ(relu6, 1);
}

TEST(Tflite, IntegersOfOneByteCountOneByte) {
  const Graph graph = imported("convolutions/int8.tflite");
  const Node* conv = first_conv(graph);
  ASSERT_NE(conv, nullptr);
  EXPECT_EQ(graph.value(conv->inputs[1]).type.element, ElementType::kInt8);
  const auto types = infer_types(graph, small_sizes(graph));
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(types->type(conv->outputs[0]).element, ElementType::kInt8);
}

TEST(Tflite, WeightsOfIntegersMayMeetRealActivations) {
  const Graph graph = imported("convolutions/dynamic.tflite");
  const auto types = infer_types(graph, small_sizes(graph));
  ASSERT_TRUE(types) << types.error().text();
  const auto linear = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                   [](const Node& node) { return std::holds_alternative<Linear>(node.op); });
  ASSERT_NE(linear, graph.nodes.end());
  EXPECT_EQ(graph.value(linear->inputs[1]).type.element, ElementType::kInt8);
  EXPECT_EQ(types->type(linear->outputs[0]).element, ElementType::kFloat32);
}

TEST(Tflite, LoopsOverTimeAreRecurrentLayers) {
  const Graph graph = imported("recurrent/select.tflite");
  EXPECT_EQ(count<Rnn>(graph), 3U);  // an LSTM, a GRU in both directions
  EXPECT_EQ(count<Loop>(graph), 0U);
}

TEST(Tflite, OtherLoopsAreLoopsOfTheirOutputs) {
  const Graph graph = imported("loop/select.tflite");
  EXPECT_EQ(count<Rnn>(graph), 0U);
  EXPECT_EQ(count<Loop>(graph), 1U);
}

TEST(Tflite, AttentionIsRecognised) {
  EXPECT_EQ(count<Attention>(imported("transformer/float.tflite")), 1U);
}

TEST(Tflite, MasksOfTheShapeOfTheScoresBelongToAttention) {
  const Graph graph = imported("causal/float.tflite");
  EXPECT_EQ(count<Attention>(graph), 1U);
  EXPECT_EQ(count<Softmax>(graph) + count<Fill>(graph) + count<MatMul>(graph), 0U);
}

TEST(Tflite, OperatorsAreThoseOfTheDocumentation) {
  std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/formats/tflite.md");
  std::string page(std::istreambuf_iterator<char>(file), {});
  std::replace(page.begin(), page.end(), '\n', ' ');
  std::string list;
  for (const auto& entry : tflite::builtin_list()) {
    if (entry.convert != nullptr) list += (list.empty() ? "" : ", ") + std::string(entry.name);
  }
  EXPECT_NE(page.find(' ' + list + '.'), std::string::npos) << "docs/formats/tflite.md wants: " << list;
}

TEST(Tflite, OperatorsAreSortedAndLeadSomewhere) {
  const auto list = tflite::builtin_list();
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.code < b.code; }));
  for (const auto& entry : list) {
    if (entry.target.empty()) continue;
    const bool known =
        tensorflow::find_operator(entry.target) != nullptr || tflite::lite_operator(entry.target) != nullptr;
    EXPECT_TRUE(known) << entry.name << " becomes " << entry.target;
  }
}

TEST(Tflite, OptionsOfTensorflowsOwnOperatorsAreTwoStrings) {
  using namespace std::string_view_literals;
  // "Erf" and the node, each behind its length; then how far back they lie, their types, how far back the list lies.
  constexpr auto kOptions =
      "\x03"
      "Erf\0"
      "\x04"
      "node\0"
      "\x02"
      "\x0b\x07"
      "\x14\x14"
      "\x04\x28\x01"sv;
  EXPECT_EQ(tflite::flex_node(kOptions), "node");
  EXPECT_FALSE(tflite::flex_node(kOptions.substr(0, kOptions.size() - 1)));
  EXPECT_FALSE(tflite::flex_node(""));
}

}  // namespace
}  // namespace joulecast
