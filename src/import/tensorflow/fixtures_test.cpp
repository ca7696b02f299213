// SPDX-License-Identifier: Apache-2.0
// Files that TensorFlow wrote (tools/zoo/tensorflow_files.py) against what Keras counts for the same networks.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string>
#include <string_view>

#include "import/fixture_measures.h"
#include "import/registered_cases.h"
#include "import/tensorflow/operators.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(JOULECAST_SOURCE_DIR) / "tests/data/tensorflow";

Graph imported(const std::string& file) {
  return simplified_import(kFolder / file);
}

void check(const std::string& network, const std::string& file) {
  const auto expected = nlohmann::json::parse(std::ifstream(kFolder / network / "expected.json"));
  expect_as_counted(imported(network + "/" + file), expected, expected["parameters"].get<std::int64_t>(), 0.02);
}

const bool kRegistered = [] {
  std::map<std::string, std::function<void()>> cases;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    const std::string network = entry.path().filename().string();
    for (const std::string file : {"saved_model.pb", "frozen.pb", "frames.pb"}) {
      if (fs::exists(entry.path() / file)) cases[fmt::format("{}/{}", network, file)] = [=] { check(network, file); };
    }
  }
  return register_cases("TensorflowFiles", cases);
}();

TEST(Tensorflow, OperatorsAreThoseOfTheDocumentation) {
  std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/formats/tensorflow.md");
  std::string page(std::istreambuf_iterator<char>(file), {});
  std::replace(page.begin(), page.end(), '\n', ' ');
  std::string list;
  for (const auto& entry : tensorflow::operator_list()) list += (list.empty() ? "" : ", ") + std::string(entry.name);
  EXPECT_NE(page.find(' ' + list + '.'), std::string::npos) << "docs/formats/tensorflow.md wants: " << list;
}

TEST(Tensorflow, OperatorsAreSorted) {
  const auto list = tensorflow::operator_list();
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
}

TEST(Tensorflow, ImagesNeedNoTranspositions) {
  for (const std::string file : {"convolutions/saved_model.pb", "upsampling/saved_model.pb"}) {
    EXPECT_EQ(count<Transpose>(imported(file)), 0U) << file;
  }
}

// A constant of two axes as a convolution's image: nothing is looked for where its other axes would be.
TEST(Tensorflow, AnImageWithoutItsAxesIsTold) {
  const auto graph = import_model((kFolder / "image_without_axes/model.pb").string());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, {});
  ASSERT_FALSE(types);
  EXPECT_EQ(types.error().text(), "node 'conv' (conv): input has rank 2, expected 3 to 5");
}

TEST(Tensorflow, DilatedConvolutionsAreOneOperator) {
  for (const std::string file : {"dilated/saved_model.pb", "dilated/frozen.pb"}) {
    const Graph graph = imported(file);
    EXPECT_EQ(count<Conv>(graph), 4U) << file;
    EXPECT_EQ(count<Opaque>(graph), 0U) << file;
  }
}

TEST(Tensorflow, SaysWhichInputsAreShownInAnotherOrder) {
  const Graph graph = imported("convolutions/saved_model.pb");
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_EQ(graph.notes[0].text, "input 'image' is shown with its channels first, in the file they are last");
  EXPECT_EQ(graph.inputs[0].dimensions[1].extent, 3);
}

TEST(Tensorflow, BatchNormalisationIsOneOperator) {
  const Graph graph = imported("convolutions/saved_model.pb");
  EXPECT_EQ(count<BatchNorm>(graph), 2U);
  EXPECT_EQ(count<Unary>(graph), 0U);  // no square roots left
}

TEST(Tensorflow, DepthwiseFiltersAreGroups) {
  const Graph graph = imported("convolutions/frozen.pb");
  const auto depthwise = std::find_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    const auto* conv = std::get_if<Conv>(&node.op);
    return conv != nullptr && conv->groups == 16;
  });
  ASSERT_NE(depthwise, graph.nodes.end());
  EXPECT_EQ(text(graph.value(depthwise->inputs[1]).type.shape), "16x1x3x3");
}

TEST(Tensorflow, LoopsOverTimeAreRecurrentLayers) {
  for (const std::string file : {"recurrent/saved_model.pb", "recurrent/frozen.pb", "recurrent/frames.pb"}) {
    const Graph graph = imported(file);
    EXPECT_EQ(count<Rnn>(graph), 3U) << file;  // an LSTM, a GRU in both directions
    EXPECT_EQ(count<Loop>(graph), 0U) << file;
  }
}

// What freezing leaves of functions that are no more, placeholders that nobody reads, is none of the network's inputs.
TEST(Tensorflow, LoopsThatStandInTheGraphAreThoseOfTheFunctions) {
  for (const std::string network : {"recurrent/", "loop/"}) {
    const Graph frames = imported(network + "frames.pb"), functions = imported(network + "frozen.pb");
    EXPECT_EQ(frames.inputs.size(), 1U) << network;
    EXPECT_EQ(frames.nodes.size(), functions.nodes.size()) << network;
    EXPECT_EQ(frames.notes.size(), network == "loop/" ? 0U : 1U) << network;
  }
}

TEST(Tensorflow, ALayerThatALoopBecomesIsAnAssumptionAndNoted) {
  const Graph graph = imported("recurrent/saved_model.pb");
  ASSERT_EQ(graph.notes.size(), 1U);
  EXPECT_NE(graph.notes[0].text.find("taken as cuDNN's kernels"), std::string::npos) << graph.notes[0].text;
}

// As of the same network's .keras: steps cost many times what the layer does.
TEST(Tensorflow, RecurrentLayersThatStayLoopsAreNoted) {
  for (const std::string file : {"masked/saved_model.pb", "masked/frozen.pb", "masked/frames.pb"}) {
    const Graph graph = imported(file);
    EXPECT_EQ(count<Loop>(graph), 2U) << file;
    ASSERT_EQ(graph.notes.size(), 2U) << file;
    EXPECT_NE(graph.notes[0].text.find("lstm_1/while' (LSTM) is a loop over its steps: in an exported file a mask "
                                       "rules cuDNN's kernel out"),
              std::string::npos)
        << graph.notes[0].text;
    EXPECT_NE(graph.notes[1].text.find("simple_rnn_1/while' (SimpleRNN) is a loop over its steps: Keras has no kernel "
                                       "of cuDNN for it"),
              std::string::npos)
        << graph.notes[1].text;
  }
}

TEST(Tensorflow, OtherLoopsAreLoopsOfTheirOutputs) {
  for (const std::string file : {"loop/saved_model.pb", "loop/frozen.pb", "loop/frames.pb"}) {
    const Graph graph = imported(file);
    EXPECT_EQ(count<Rnn>(graph), 0U) << file;
    ASSERT_EQ(count<Loop>(graph), 1U) << file;
    EXPECT_EQ(graph.bodies.size(), 1U) << file;
  }
}

TEST(Tensorflow, AttentionAndNormsAreRecognised) {
  const Graph graph = imported("transformer/saved_model.pb");
  EXPECT_EQ(count<Attention>(graph), 1U);
  EXPECT_EQ(count<LayerNorm>(graph), 2U);
  EXPECT_EQ(count<Linear>(graph), 7U);
}

TEST(Tensorflow, MasksOfTheShapeOfTheScoresBelongToAttention) {
  for (const std::string file : {"causal/saved_model.pb", "causal/frozen.pb"}) {
    const Graph graph = imported(file);
    ASSERT_EQ(count<Attention>(graph), 1U) << file;
    EXPECT_EQ(count<Softmax>(graph) + count<Triangle>(graph) + count<Fill>(graph) + count<MatMul>(graph), 0U) << file;
    const auto is_causal = [](const Node& node) {
      const auto* attention = std::get_if<Attention>(&node.op);
      return attention != nullptr && attention->causal;
    };
    EXPECT_TRUE(std::any_of(graph.nodes.begin(), graph.nodes.end(), is_causal)) << file;
  }
}

TEST(Tensorflow, AnImageThatBecomesASequenceIsNormalisedOverItsChannels) {
  for (const std::string file : {"patches/saved_model.pb", "patches/frozen.pb"}) {
    const Graph graph = imported(file);
    EXPECT_EQ(count<LayerNorm>(graph), 2U) << file;
    EXPECT_EQ(count<Attention>(graph), 1U) << file;
  }
}

TEST(Tensorflow, LayersOnTheChannelsOfOneImageHaveTheirBiases) {
  const Graph graph = imported("pointwise/frozen.pb");
  EXPECT_EQ(count<Linear>(graph), 2U);
  EXPECT_EQ(count<Reshape>(graph), 0U);
  EXPECT_EQ(count<Binary>(graph), 1U);
}

TEST(Tensorflow, AFolderIsAModelByTheNameOfTheFolder) {
  const Graph graph = imported("recurrent");
  EXPECT_EQ(graph.name, "recurrent");
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs[0].value).name, "tokens");
  EXPECT_EQ(graph.value(graph.outputs[0]).name, "output_0");
}

TEST(Tensorflow, OpenExtentsHaveNames) {
  const Graph graph = imported("recurrent");
  EXPECT_EQ(graph.inputs[0].dimensions[0].symbol, "batch");
  EXPECT_EQ(graph.inputs[0].dimensions[1].symbol, "tokens_axis1");
}

std::string node_text(const std::string& name, const std::string& op, const std::string& input) {
  std::string out;
  protozero::pbf_writer node(out);
  node.add_string(1, name);
  node.add_string(2, op);
  if (!input.empty()) node.add_string(3, input);
  if (op != "Placeholder") return out;
  for (const char* key : {"dtype", "shape"}) {
    protozero::pbf_writer entry(node, 5);
    entry.add_string(1, key);
    protozero::pbf_writer value(entry, 2);
    if (std::string_view(key) == "dtype") {
      value.add_int32(6, 1);
      continue;
    }
    protozero::pbf_writer shape(value, 7);
    protozero::pbf_writer extent(shape, 2);
    extent.add_int64(1, 4);
  }
  return out;
}

TEST(TensorflowLoops, FromBeforeTensorflow2AreOneRoundAndSayIt) {
  std::string bytes;
  protozero::pbf_writer file(bytes);
  file.add_message(1, node_text("x", "Placeholder", ""));
  file.add_message(1, node_text("enter", "Enter", "x"));
  file.add_message(1, node_text("body", "Relu", "enter"));
  file.add_message(1, node_text("exit", "Exit", "body"));
  const auto graph = import_tensorflow(std::as_bytes(std::span(bytes)), "loop");
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(count<Activation>(*graph), 1U);
  ASSERT_EQ(graph->notes.size(), 1U);
  EXPECT_EQ(graph->notes[0].text, "a loop from before TensorFlow 2 is counted as one round of its body");
}

}  // namespace
}  // namespace joulecast
