// SPDX-License-Identifier: Apache-2.0
// Programs that Paddle wrote (tools/zoo/paddle_files.py) against what its layers count, and the extents that it
// declares.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "import/fixture_measures.h"
#include "import/paddle/import_paddle.h"
#include "import/paddle/operators.h"
#include "import/registered_cases.h"
#include "joulecast/import.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

const fs::path kFolder = fs::path(JOULECAST_SOURCE_DIR) / "tests/data/paddle";

Graph imported(const std::string& file) {
  return simplified_import(kFolder / file);
}

void check(const fs::path& file) {
  auto expected = json::parse(std::ifstream(file.parent_path() / "expected.json"));
  auto& shape = expected["output_shape"];
  if (shape.size() == 4) shape = {shape[0], shape[2], shape[3], shape[1]};  // the function wants channels last
  expect_as_counted(simplified_import(file), expected, expected["parameters"].get<std::int64_t>(), 0.0);
}

// The extents that the file declares for the results of the program's own operators, by our names of them.
std::map<std::string, json> declared(const json& program) {
  std::map<std::string, json> out;
  for (const json& op : program["regions"][0]["blocks"][0]["ops"]) {
    const auto type = op["#"].get<std::string>();
    if (type == "p" || type.starts_with("0.")) continue;
    for (const json& made : op["O"]) {
      if (made["TT"]["#"] != "0.t_dtensor") continue;
      out[fmt::format("{}_{}", type.substr(2), made["%"].get<int>())] = made["TT"]["D"][1];
    }
  }
  return out;
}

// Every tensor has the extents that Paddle found for it; -1 is one that it left open.
void check_extents(const fs::path& file) {
  const auto wanted = declared(json::parse(std::ifstream(file))["program"]);
  const auto graph = import_model(file.string());
  ASSERT_TRUE(graph) << graph.error().text();
  const auto types = infer_types(*graph, small_sizes(*graph));
  ASSERT_TRUE(types) << types.error().text();
  std::size_t compared = 0;
  for (std::size_t i = 0; i < graph->values.size(); ++i) {
    const auto found = wanted.find(graph->values[i].name);
    if (found == wanted.end()) continue;
    const Shape& shape = types->type(ValueId{static_cast<std::uint32_t>(i)}).shape;
    ASSERT_EQ(shape.size(), found->second.size()) << found->first;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      const auto extent = found->second[axis].get<std::int64_t>();
      if (extent < 0) continue;
      EXPECT_EQ(shape[axis], extent) << found->first << ", axis " << axis;
    }
    ++compared;
  }
  EXPECT_GE(compared, 10U);
}

const bool kRegistered = [] {
  std::map<std::string, std::function<void()>> counts;
  std::map<std::string, std::function<void()>> extents;
  for (const auto& folder : fs::directory_iterator(kFolder)) {
    for (const auto& file : fs::directory_iterator(folder.path())) {
      if (file.path().stem() != "program") continue;
      const auto name = fmt::format("{}/{}", folder.path().filename().string(), file.path().filename().string());
      counts[name] = [path = file.path()] { check(path); };
      if (file.path().extension() == ".json") extents[name] = [path = file.path()] { check_extents(path); };
    }
  }
  return register_cases("PaddleFiles", counts) && register_cases("PaddleExtents", extents);
}();

constexpr std::array<std::string_view, 2> kForms{"program.pdmodel", "program.json"};

Graph form_of(std::string_view network, std::string_view form) {
  return imported(fmt::format("{}/{}", network, form));
}

TEST(Paddle, InputsHaveTheirNamesAndAnOpenBatch) {
  for (const std::string_view form : kForms) {
    const Graph graph = form_of("convolutions", form);
    ASSERT_EQ(graph.inputs.size(), 1U) << form;
    EXPECT_EQ(graph.value(graph.inputs[0].value).name, "image") << form;
    EXPECT_EQ(graph.inputs[0].dimensions[0].symbol, "batch") << form;
    EXPECT_EQ(graph.inputs[0].dimensions[1].extent, 3) << form;
    const Graph sequences = form_of("transformer", form);
    EXPECT_EQ(sequences.inputs[0].dimensions[1].symbol, "tokens_axis1") << form;
  }
}

TEST(Paddle, ParametersHaveTheirNames) {
  for (const std::string_view form : kForms) {
    const Graph graph = form_of("convolutions", form);
    EXPECT_TRUE(std::any_of(graph.values.begin(), graph.values.end(), [](const Value& value) {
      return value.name == "conv2d_0.w_0" && value.kind == ValueKind::kParameter;
    })) << form;
  }
}

TEST(Paddle, BiasesAreTheirConvolutions) {
  for (const std::string_view form : kForms) {
    const Graph graph = form_of("convolutions", form);
    const auto biased = std::count_if(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
      return std::holds_alternative<Conv>(node.op) && node.inputs.size() == 3;
    });
    EXPECT_EQ(biased, 4) << form;
  }
}

// Paddle 1 says at which axis the bias begins.
TEST(Paddle, BiasesOfOldProgramsAreTheirConvolutions) {
  const Graph graph = form_of("older", "program.pdmodel");
  const auto conv = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                 [](const Node& node) { return std::holds_alternative<Conv>(node.op); });
  ASSERT_NE(conv, graph.nodes.end());
  EXPECT_EQ(conv->inputs.size(), 3U);
}

TEST(Paddle, AttentionIsRecognised) {
  for (const std::string_view form : kForms) {
    EXPECT_EQ(count<Attention>(form_of("transformer", form)), 2U) << form;
    EXPECT_EQ(count<Attention>(form_of("attention", form)), 1U) << form;
  }
}

TEST(Paddle, LayersOverTimeAreOneOperatorEach) {
  for (const std::string_view form : kForms) EXPECT_EQ(count<Rnn>(form_of("recurrent", form)), 4U) << form;
}

TEST(Paddle, DropoutOfInferenceIsNothing) {
  for (const std::string_view form : kForms) EXPECT_EQ(count<Dropout>(form_of("transformer", form)), 0U) << form;
}

// Paddle 2's branch is two blocks and what selects between their results.
TEST(Paddle, BranchesAndLoopsHaveBodies) {
  for (const std::string_view form : kForms) {
    const Graph graph = form_of("control", form);
    EXPECT_EQ(count<Opaque>(graph), 0U) << form;
    const auto branch = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return std::holds_alternative<If>(node.op); });
    ASSERT_NE(branch, graph.nodes.end()) << form;
    const If& op = std::get<If>(branch->op);
    EXPECT_EQ(count<Activation>(graph.bodies[op.then_body]), 0U) << form;
    EXPECT_EQ(count<Activation>(graph.bodies[op.else_body]), 1U) << form;  // tanh
    EXPECT_EQ(count<Linear>(graph.bodies[op.then_body]), 1U) << form;
    EXPECT_EQ(count<Loop>(graph), 1U) << form;
  }
}

TEST(Paddle, OperatorsAreThoseOfTheDocumentation) {
  std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/docs/formats/paddle.md");
  std::string page(std::istreambuf_iterator<char>(file), {});
  std::replace(page.begin(), page.end(), '\n', ' ');
  std::string list;
  for (const auto& entry : paddle::operator_list()) list += (list.empty() ? "" : ", ") + std::string(entry.name);
  EXPECT_NE(page.find(' ' + list + '.'), std::string::npos) << "docs/formats/paddle.md wants: " << list;
}

TEST(Paddle, OperatorsAreSortedAndFoundByTheirNamesOfBothVersions) {
  const auto list = paddle::operator_list();
  EXPECT_TRUE(std::is_sorted(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; }));
  const auto found = [](std::string_view name, bool old) {
    const auto* entry = paddle::find_operator(name, old);
    return entry == nullptr ? std::string_view{} : entry->name;
  };
  EXPECT_EQ(found("relu_", false), "relu");  // in place
  EXPECT_EQ(found("elementwise_add", true), "add");
  EXPECT_EQ(found("sum", true), "add_n");
  EXPECT_EQ(found("sum", false), "sum");
  EXPECT_EQ(found("one_hot", true), "");  // Paddle 1's wants another shape
  EXPECT_EQ(found("no_such", true), "");
}

// A program of PIR of these operators, on "x" [-1, 4, 3, 8] as value 1.
std::string program(const std::string& operators, int result) {
  constexpr std::string_view kType = R"({"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1,4,3,8],"NCHW",[],0]})";
  return fmt::format(
      R"({{"base_code":{{"magic":"pir","version":4}},"program":{{"regions":[{{"#":"r","blocks":[{{"#":"b","args":[],"ops":[)"
      R"({{"#":"1.data","A":[{{"AT":{{"#":"0.a_str","D":"x"}},"N":"name"}}],"I":[],"O":[{{"%":1,"TT":{0}}}]}},{1},)"
      R"({{"#":"1.fetch","A":[],"I":[{{"%":{2}}}],"O":[{{"%":99,"TT":{0}}}]}}]}}]}}]}}}})",
      kType, operators, result);
}

TEST(Paddle, FlashAttentionHasItsHeadsBehindThePositions) {
  const auto graph = paddle::import_json(
      program(R"({"#":"1.flash_attn","A":[{"AT":{"#":"0.a_bool","D":true},"N":"causal"}],"I":[{"%":1},{"%":1},)"
              R"({"%":1},{"%":0},{"%":0}],"O":[{"%":2,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1,4,3,8]]}},)"
              R"({"%":3,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1]]}}]})",
              2),
      "net");
  ASSERT_TRUE(graph) << graph.error().text();
  const auto attention = std::find_if(graph->nodes.begin(), graph->nodes.end(),
                                      [](const Node& node) { return std::holds_alternative<Attention>(node.op); });
  ASSERT_NE(attention, graph->nodes.end());
  EXPECT_TRUE(std::get<Attention>(attention->op).causal);
  const auto types = infer_types(*graph, small_sizes(*graph));
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(text(types->type(attention->inputs[0]).shape), "2x3x4x8");
  EXPECT_EQ(text(types->type(graph->outputs[0]).shape), "2x4x3x8");
}

// Of Paddle 3.3, and of what came before it.
TEST(Paddle, RmsNormsHaveTheirScaleAtTwoPlaces) {
  constexpr std::string_view kType = R"({"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[8]]})";
  constexpr std::string_view kMade = R"({"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1,4,3,8]]})";
  const std::string scale = fmt::format(R"({{"#":"p","A":[0,1,1,"w"],"O":{{"%":5,"TT":{}}}}})", kType);
  for (const std::string_view form :
       {R"("A":[{"AT":{"#":"0.a_array","D":[{"#":"0.a_i64","D":8}]},"N":"normalized_shape"}],"I":[{"%":1},{"%":5}])",
        R"("A":[{"AT":{"#":"0.a_i32","D":3},"N":"begin_norm_axis"}],"I":[{"%":1},{"%":0},{"%":0},{"%":5},{"%":0}])"}) {
    const auto graph = paddle::import_json(
        program(fmt::format(R"({},{{"#":"1.rms_norm",{},"O":[{{"%":2,"TT":{}}}]}})", scale, form, kMade), 2), "net");
    ASSERT_TRUE(graph) << graph.error().text();
    ASSERT_EQ(graph->nodes.size(), 1U);
    EXPECT_EQ(graph->nodes[0].op, Operator(RmsNorm{1}));
    EXPECT_EQ(graph->nodes[0].inputs.size(), 2U);
  }
}

TEST(Paddle, UnknownOperatorsKeepTheirNameAndExtents) {
  const auto graph = paddle::import_json(
      program(
          R"({"#":"1.no_such","A":[],"I":[{"%":1}],"O":[{"%":2,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1,5]]}}]})",
          2),
      "net");
  ASSERT_TRUE(graph) << graph.error().text();
  ASSERT_EQ(graph->nodes.size(), 1U);
  EXPECT_EQ(std::get<Opaque>(graph->nodes[0].op).name, "no_such");
  const auto types = infer_types(*graph, small_sizes(*graph));
  ASSERT_TRUE(types) << types.error().text();
  EXPECT_EQ(text(types->type(graph->outputs[0]).shape), "2x5");
}

}  // namespace
}  // namespace joulecast
