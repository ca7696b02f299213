// SPDX-License-Identifier: Apache-2.0
// Files that Keras wrote (tools/zoo/keras_files.py) against what Keras counts for the same networks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <utility>

#include "import/fixture_measures.h"
#include "import/keras/import_keras.h"
#include "import/keras/layers.h"
#include "import/keras/operations.h"
#include "import/registered_cases.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(JOULECAST_SOURCE_DIR) / "tests/data/keras";

Graph imported(const std::string& file) {
  return simplified_import(kFolder / file);
}

void check(const std::string& network, const std::string& file) {
  const auto expected = nlohmann::json::parse(std::ifstream(kFolder / network / "expected.json"));
  expect_as_counted(imported(network + "/" + file), expected, expected["parameters"].get<std::int64_t>(), 0.001);
}

const bool kRegistered = [] {
  std::map<std::string, std::function<void()>> cases;
  for (const auto& folder : fs::directory_iterator(kFolder)) {
    for (const auto& file : fs::directory_iterator(folder.path())) {
      if (file.path().extension() == ".json") continue;
      const auto network = folder.path().filename().string();
      cases[fmt::format("{}/{}", network, file.path().filename().string())] =
          [network, name = file.path().filename().string()] { check(network, name); };
    }
  }
  return register_cases("KerasFiles", cases);
}();

// A chain of layers on an input.
Result<Graph> chain(const std::string& shape, const std::string& layers) {
  const std::string input =
      R"({"class_name": "InputLayer", "config": {"name": "x", "dtype": "float32", "batch_shape": )" + shape + "}}";
  return keras::import_config(
      R"({"class_name": "Sequential", "config": {"name": "net", "layers": [)" + input + ", " + layers + "]}}", "net");
}

TEST(Keras, AllFilesOfANetworkAreTheSameGraph) {
  const std::string archive = print_graph(imported("convolutions/model.keras"));
  const auto graph_text = [](const std::string& file) {
    Graph graph = imported(file);
    graph.name = "model";
    return print_graph(graph);
  };
  EXPECT_EQ(graph_text("convolutions/model.h5"), archive);
  EXPECT_EQ(graph_text("convolutions/newest.h5"), archive);
}

TEST(Keras, NormalisationAndConvolutionsAreWhatTheSavedModelHas) {
  const Graph graph = imported("convolutions/model.keras");
  auto saved = import_model(std::string(JOULECAST_SOURCE_DIR) + "/tests/data/tensorflow/convolutions/saved_model.pb");
  ASSERT_TRUE(saved) << saved.error().text();
  const Graph other = simplify(std::move(*saved));
  EXPECT_EQ(count<Conv>(graph), count<Conv>(other));
  EXPECT_EQ(count<BatchNorm>(graph), count<BatchNorm>(other));
  EXPECT_EQ(count<Transpose>(graph), 0U);
}

TEST(Keras, LayersOverTimeAreRecurrentLayers) {
  const Graph graph = imported("recurrent/model.keras");
  EXPECT_EQ(count<Rnn>(graph), 3U);  // an LSTM, a GRU in both directions
}

TEST(Keras, InputsStandInTheOrderOfTheModel) {
  const Graph graph = imported("nested/model.keras");
  ASSERT_EQ(graph.inputs.size(), 2U);
  EXPECT_EQ(graph.value(graph.inputs[0].value).name, "first");
  EXPECT_EQ(graph.value(graph.inputs[1].value).name, "second");
}

TEST(Keras, AClassOfTheModelsOwnIsKeptAndNoted) {
  const auto graph = chain("[null, 8]", R"({"class_name": "Lambda", "config": {"name": "twice"}},
      {"class_name": "Dense", "config": {"name": "d", "units": 4}})");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(count<Opaque>(*graph), 1U);
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_EQ(graph->notes[0].text, "'twice' (Lambda) is the model's own code: taken to keep the shape of its input");
  EXPECT_EQ(parameters(*graph), 8 * 4 + 4);
}

// A functional model of one input [null, 6, 8], this layer on it, and a Dense with 4 units on that.
Result<Graph> functional(const std::string& layer, const std::string& shape) {
  const auto tensor = [](const std::string& extents, const std::string& name) {
    return R"({"class_name": "__keras_tensor__", "config": {"shape": )" + extents +
           R"(, "dtype": "float32", "keras_history": [")" + name + R"(", 0, 0]}})";
  };
  const auto on = [&](const std::string& extents, const std::string& name) {
    return R"("inbound_nodes": [{"args": [)" + tensor(extents, name) + R"(], "kwargs": {}}])";
  };
  return keras::import_config(
      R"({"class_name": "Functional", "config": {"name": "net", "layers": [
          {"class_name": "InputLayer", "name": "x", "config": {"batch_shape": [null, 6, 8], "name": "x"},
           "inbound_nodes": []},
          {"name": "f", )" +
          layer + ", " + on("[null, 6, 8]", "x") +
          R"(}, {"module": "keras.layers", "class_name": "Dense", "name": "d", "config": {"name": "d", "units": 4}, )" +
          on(shape, "f") + R"(}], "input_layers": [["x", 0, 0]], "output_layers": [["d", 0, 0]]}})",
      "net");
}

TEST(Keras, AClassOfTheModelsOwnHasTheShapeThatItsReadersTell) {
  const auto graph = functional(R"("module": "mine", "class_name": "Fold", "config": {"name": "f"})", "[null, 48]");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(parameters(*graph), 48 * 4 + 4);
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_EQ(graph->notes[0].text, "'f' (Fold) is the model's own code: kept with the shape that the file tells");
}

TEST(Keras, AnOperationThatWeDoNotKnowIsNamedAndHasItsShape) {
  const auto graph =
      functional(R"("module": "keras.src.ops.linalg", "class_name": "Qr", "config": {"name": "f"})", "[null, 6, 6]");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(count<Opaque>(*graph), 1U);
  EXPECT_EQ(parameters(*graph), 6 * 4 + 4);
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_EQ(graph->notes[0].text, "'f' (Qr) is nothing of Keras that we know: kept with the shape that the file tells");
}

TEST(Keras, AnOperationIsNoLayerOfItsName) {
  const auto graph = functional(
      R"("module": "keras.src.ops.numpy", "class_name": "Reshape", "config": {"name": "f", "newshape": [-1, 48]})",
      "[null, 48]");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(count<Reshape>(*graph), 1U);
  EXPECT_EQ(parameters(*graph), 48 * 4 + 4);
}

// A mask is no key, in whatever order keywords stand: products with weights of 8 x 8, 6 x 6 scores in 2 heads of 4.
TEST(Keras, AMaskThatAttentionIsGivenIsItsMask) {
  const auto tensor = [](const std::string& name, const std::string& extents) {
    return R"({"class_name": "__keras_tensor__", "config": {"shape": )" + extents +
           R"(, "dtype": "float32", "keras_history": [")" + name + R"(", 0, 0]}})";
  };
  const std::string x = tensor("x", "[null, 6, 8]"), y = tensor("y", "[null, 9, 8]"), m = tensor("m", "[null, 6, 9]");
  for (const std::string& call : {R"({"args": [)" + x + ", " + y + R"(], "kwargs": {"attention_mask": )" + m + "}}",
                                  R"({"args": [)" + x + R"(], "kwargs": {"attention_mask": )" + m + R"(, "key": )" + y +
                                      R"(, "value": )" + y + "}}"}) {
    const auto input = [](const std::string& name, const std::string& extents) {
      return R"({"class_name": "InputLayer", "name": ")" + name + R"(", "config": {"batch_shape": )" + extents +
             R"(, "name": ")" + name + R"("}, "inbound_nodes": []}, )";
    };
    auto graph = keras::import_config(
        R"({"class_name": "Functional", "config": {"name": "net", "layers": [)" + input("x", "[null, 6, 8]") +
            input("y", "[null, 9, 8]") + input("m", "[null, 6, 9]") +
            R"({"module": "keras.layers", "class_name": "MultiHeadAttention", "name": "a",
                "config": {"name": "a", "num_heads": 2, "key_dim": 4}, "inbound_nodes": [)" +
            call + R"(]}], "input_layers": [["x", 0, 0], ["y", 0, 0], ["m", 0, 0]], "output_layers": [["a", 0, 0]]}})",
        "net");
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, small_sizes(*graph));
    ASSERT_TRUE(types) << types.error().text();
    EXPECT_EQ(parameters(*graph), 4 * (8 * 8 + 8));
    EXPECT_EQ(product_flops(*graph, *types), 2.0 * 2 * (2 * (6 + 9) * 8 * 8 + 2 * 6 * 9 * 8));
    for (const Node& node : graph->nodes) {
      if (std::holds_alternative<Attention>(node.op)) {
        EXPECT_EQ(node.inputs.size(), 4U);
      }
    }
  }
}

// By hand: of ConvLSTM 4 gates, 3 x 3 places, 3 x 3 x (3 + 4) weights for each of 4 filters; 36 x 20 and 5 x 20, then
// 5 x 12 and 4 x 12; 4 x 12 and 3 x 12 in two directions; 6 x 21 and 7 x 21; 7 x 5 and 5 x 5; 5 x 2 and 2 x 2.
TEST(Keras, CellsThatCudnnLacksAreLoopsOfTheirProducts) {
  const Graph graph = imported("cells/model.keras");
  EXPECT_EQ(count<Loop>(graph), 7U);
  EXPECT_EQ(count<Rnn>(graph), 0U);
  EXPECT_EQ(graph.notes.size(), 7U);
  const auto types = infer_types(graph, small_sizes(graph));
  ASSERT_TRUE(types) << types.error().text();
  const double conv = 4 * 9 * 9 * (3 + 4) * 4;
  const double cells = (36 + 5) * 20 + (5 + 4) * 12 + 2 * (4 + 3) * 12 + (6 + 7) * 21 + (7 + 5) * 5 + (5 + 2) * 2;
  EXPECT_EQ(product_flops(graph, *types), 2.0 * 2 * 12 * (conv + cells));
}

// Images whose channels an operator before has put first: the same work, of 5 steps 6 x 6 places.
TEST(Keras, StepsBehindALayerOfImagesAreThoseOfTheInput) {
  const std::string norm = R"({"class_name": "BatchNormalization", "config": {"name": "b"}}, )";
  for (const std::string& before : {std::string(), norm}) {
    const auto graph =
        chain("[null, 5, 8, 8, 3]",
              before + R"({"class_name": "ConvLSTM2D", "config": {"name": "c", "filters": 4, "kernel_size": [3, 3]}})");
    ASSERT_TRUE(graph) << graph.error().text();
    const auto types = infer_types(*graph, small_sizes(*graph));
    ASSERT_TRUE(types) << types.error().text();
    EXPECT_EQ(product_flops(*graph, *types), 2.0 * 2 * 5 * 36 * 9 * (3 + 4) * 16) << before;
  }
}

// What `config` makes of an LSTM or GRU: how many recurrent layers, how many loops.
std::pair<std::size_t, std::size_t> recurrent(const std::string& class_name, const std::string& config) {
  const auto graph =
      chain("[null, 5, 8]", R"({"class_name": ")" + class_name + R"(", "config": {"name": "r", "units": 4, )" +
                                R"("activation": "tanh", "recurrent_activation": "sigmoid")" + config + "}}");
  EXPECT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(graph->notes.size(), 1U);
  return {count<Rnn>(*graph), count<Loop>(*graph)};
}

TEST(Keras, ALoopRunsWhereTheConfigurationRulesCudnnOut) {
  const std::pair<std::size_t, std::size_t> kernel{1, 0}, loop{0, 1};
  EXPECT_EQ(recurrent("LSTM", ""), kernel);
  EXPECT_EQ(recurrent("GRU", R"(, "reset_after": true)"), kernel);
  EXPECT_EQ(recurrent("GRU", R"(, "reset_after": false)"), loop);
  EXPECT_EQ(recurrent("LSTM", R"(, "recurrent_dropout": 0.1)"), loop);
  EXPECT_EQ(recurrent("LSTM", R"(, "unroll": true)"), loop);
  EXPECT_EQ(recurrent("LSTM", R"(, "use_bias": false)"), loop);
  EXPECT_EQ(recurrent("SimpleRNN", ""), loop);
}

TEST(Keras, AnInputMayBeSaidByTheFirstLayerAlone) {
  const auto graph = keras::import_config(
      R"({"class_name": "Sequential", "config": [{"class_name": "Dense", "config":
          {"name": "d", "units": 4, "batch_input_shape": [null, 8]}}]})",
      "net");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(parameters(*graph), 8 * 4 + 4);
}

TEST(Keras, CallsOfVersion2NameTheirTensorsInLists) {
  const auto graph = keras::import_config(
      R"({"class_name": "Functional", "config": {"name": "net", "layers": [
          {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 8], "name": "x"},
           "inbound_nodes": []},
          {"class_name": "Dense", "name": "d", "config": {"name": "d", "units": 8},
           "inbound_nodes": [[["x", 0, 0, {}]], [["d", 0, 0, {}]]]},
          {"class_name": "Add", "name": "sum", "config": {"name": "sum"},
           "inbound_nodes": [[["d", 0, 0, {}], ["d", 1, 0, {}]]]}],
        "input_layers": [["x", 0, 0]], "output_layers": [["sum", 0, 0]]}})",
      "net");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(count<Binary>(*graph), 1U);
  EXPECT_EQ(parameters(*graph), 8 * 8 + 8);  // a layer that is called twice has its weights once
}

TEST(Keras, FunctionsOfTensorflowBetweenLayersAreOperators) {
  const auto graph = keras::import_config(
      R"({"class_name": "Functional", "config": {"name": "net", "layers": [
          {"class_name": "InputLayer", "name": "x", "config": {"batch_input_shape": [null, 8], "name": "x"},
           "inbound_nodes": []},
          {"class_name": "TFOpLambda", "name": "half", "config": {"name": "half", "function": "math.multiply"},
           "inbound_nodes": [["x", 0, 0, {"y": 0.5, "name": null}]]}],
        "input_layers": [["x", 0, 0]], "output_layers": [["half", 0, 0]]}})",
      "net");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(count<Binary>(*graph), 1U);
  EXPECT_EQ(graph->value(graph->outputs[0]).name, "half");
}

TEST(Keras, ATransposedConvolutionIsAsLargeAsKerasMakesIt) {
  const auto graph = chain("[1, 5, 5, 2]", R"({"class_name": "Conv2DTranspose", "config":
      {"name": "up", "filters": 3, "kernel_size": [2, 4], "strides": [3, 2], "padding": "valid"}})");
  ASSERT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, {});
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(text(types->type(graph->outputs[0]).shape), "1x3x15x12");
}

// Names in the order of the list, as the page has them.
std::string names_of(std::span<const tensorflow::OperatorEntry> list) {
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  std::string names;
  for (const auto& entry : list) names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

TEST(Keras, LayersAndOperationsAreSortedAndThoseOfTheDocumentation) {
  std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/formats/keras.md");
  std::string page(std::istreambuf_iterator<char>(file), {});
  std::replace(page.begin(), page.end(), '\n', ' ');
  for (const auto& list : {keras::layer_list(), keras::operation_list()}) {
    const std::string names = names_of(list);
    EXPECT_NE(page.find(' ' + names + '.'), std::string::npos) << "docs/formats/keras.md wants: " << names;
  }
}

}  // namespace
}  // namespace joulecast
