// SPDX-License-Identifier: Apache-2.0
// The same network through torch's exporters (two to ONNX, torch.export) must come out as the same operations. What
// can't is in differences.txt, with its reason; an entry that no longer differs fails as well.
//
// One pair is in examples/. More are read from the folders torchscript/, dynamo/, export/ and export-decomposed/ in
// JOULECAST_ZOO, if that is set
// (tools/zoo makes them). Run with JOULECAST_ZOO_LIST=1 to print every difference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "exporters/operator_list.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const fs::path kSource{JOULECAST_SOURCE_DIR};

// Batch 2, images of 224, and 64 for whatever else is open: sequences, as the zoo traces them (dynamo writes some of it
// down).
Binding bind_all(const Graph& graph) {
  Binding binding;
  for (const UnboundDimension& open : unbound_dimensions(graph, binding)) {
    const bool side = open.symbol == "height" || open.symbol == "width";
    binding.symbols[open.symbol] = open.symbol == "batch" ? 2 : side ? 224 : 64;
  }
  return binding;
}

// The types of the outputs, which no pass may change.
std::vector<TensorType> output_types(const Graph& graph, const TypeTable& types) {
  std::vector<TensorType> out;
  for (const ValueId id : graph.outputs) out.push_back(types.type(id));
  return out;
}

Result<OperatorList> operators_of(const fs::path& file, const Graph& imported, const Binding& binding) {
  JC_ASSIGN_OR_RETURN(const TypeTable types_before, infer_types(imported, binding));
  const Graph graph = simplify(imported);
  JC_RETURN_IF_ERROR(validate(graph));
  JC_ASSIGN_OR_RETURN(const TypeTable types, infer_types(graph, binding));
  EXPECT_EQ(output_types(graph, types), output_types(imported, types_before)) << file;
  EXPECT_EQ(simplify(graph), graph) << file << ": once is not enough";
  return list_operators(graph, types);
}

// differences.txt: "network operator reason", the network perhaps with a * at its end. Operators are labels.
struct Named {
  std::string network, label, reason;

  [[nodiscard]] bool covers(const std::string& other) const {
    if (!network.ends_with('*')) return network == other;
    return other.starts_with(network.substr(0, network.size() - 1));
  }
};

std::vector<Named> named_differences() {
  std::vector<Named> out;
  std::ifstream file(kSource / "tests/exporters/differences.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    Named named;
    words >> named.network >> named.label;
    std::getline(words >> std::ws, named.reason);
    EXPECT_FALSE(named.reason.empty()) << "no reason: " << line;
    out.push_back(std::move(named));
  }
  return out;
}

std::set<std::string> named_labels(const std::string& network) {
  std::set<std::string> out;
  for (const Named& named : named_differences()) {
    if (named.covers(network)) out.insert(named.label);
  }
  return out;
}

// Programs call dimensions s0 and s77, and some have a number where the other file has a symbol.
void bind_alike(const Graph& left, Binding& of_left, const Graph& right, Binding& of_right) {
  for (std::size_t i = 0; i < std::min(left.inputs.size(), right.inputs.size()); ++i) {
    const auto& a = left.inputs[i].dimensions;
    const auto& b = right.inputs[i].dimensions;
    for (std::size_t axis = 0; axis < std::min(a.size(), b.size()); ++axis) {
      if (!a[axis].extent && b[axis].extent) of_left.symbols[a[axis].symbol] = *b[axis].extent;
      if (b[axis].extent) continue;
      of_right.symbols[b[axis].symbol] = a[axis].extent ? *a[axis].extent : of_left.symbols[a[axis].symbol];
    }
  }
}

void compare_files(const std::string& network, const fs::path& torchscript, const fs::path& dynamo) {
  const auto left_graph = import_model(torchscript.string());
  const auto right_graph = import_model(dynamo.string());
  ASSERT_TRUE(left_graph) << left_graph.error().text();
  ASSERT_TRUE(right_graph) << right_graph.error().text();
  Binding of_left = bind_all(*left_graph);
  Binding of_right = bind_all(*right_graph);
  bind_alike(*left_graph, of_left, *right_graph, of_right);
  const auto left = operators_of(torchscript, *left_graph, of_left);
  const auto right = operators_of(dynamo, *right_graph, of_right);
  ASSERT_TRUE(left) << left.error().text();
  ASSERT_TRUE(right) << right.error().text();
  std::set<std::string> labels;
  std::string listing;
  for (const OperatorDifference& difference : compare(*left, *right)) {
    labels.insert(difference.operation.substr(0, difference.operation.find(' ')));
    listing += fmt::format("  one {}, the other {}: {}\n", difference.left, difference.right, difference.operation);
  }
  if (std::getenv("JOULECAST_ZOO_LIST") != nullptr) fmt::print("{}: {}\n{}", network, labels.size(), listing);
  EXPECT_EQ(labels, named_labels(network)) << listing;
}

class ZooPair : public testing::Test {
 public:
  ZooPair(std::string network, fs::path left, fs::path right)
      : network_(std::move(network)), left_(std::move(left)), right_(std::move(right)) {}
  void TestBody() override { compare_files(network_, left_, right_); }

 private:
  std::string network_;
  fs::path left_, right_;
};

// One test a network of the zoo that both exporters did, so that each is named.
void register_zoo(const fs::path& zoo, const std::string& exporter, const std::string& suite, const char* extension) {
  if (!fs::is_directory(zoo / "torchscript") || !fs::is_directory(zoo / exporter)) return;
  std::map<std::string, fs::path> networks;
  for (const auto& entry : fs::directory_iterator(zoo / exporter)) {
    if (entry.path().extension() == extension) networks.emplace(entry.path().stem().string(), entry.path());
  }
  for (const auto& [name, right] : networks) {
    const fs::path left = zoo / "torchscript" / (name + ".onnx");
    if (!fs::exists(left)) continue;
    const std::string network = exporter == "dynamo" ? name : exporter + ":" + name;
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [network, left, right = right] { return new ZooPair(network, left, right); });
  }
}

TEST(Exporters, ResNet18OfTheExamples) {
  compare_files("torchvision_resnet18", kSource / "examples/resnet18.onnx", kSource / "examples/resnet18_dynamo.onnx");
}

// The same networks as programs of torch.export.
TEST(Exporters, ProgramsOfTheExamples) {
  for (const std::string name : {"resnet18", "lstm", "gpt2", "vit_b_16"}) {
    compare_files("export:" + name, kSource / "examples" / (name + ".onnx"), kSource / "examples" / (name + ".pt2"));
  }
  compare_files("export:resnet18", kSource / "examples/resnet18.onnx", kSource / "examples/resnet18_decomposed.pt2");
}

// The same networks as TorchScript: traced, scripted, and frozen after tracing.
TEST(Exporters, TorchScriptOfTheExamples) {
  for (const std::string name : {"resnet18", "lstm", "gpt2", "vit_b_16"}) {
    compare_files("jit-trace:" + name, kSource / "examples" / (name + ".onnx"), kSource / "examples" / (name + ".pt"));
  }
  const fs::path folder = kSource / "tests/data/torchscript";
  for (const std::string name : {"resnet18", "lstm", "vit_b_16"}) {
    compare_files("jit-script:" + name, kSource / "examples" / (name + ".onnx"), folder / (name + "_scripted.pt"));
    compare_files("jit-freeze:" + name, kSource / "examples" / (name + ".onnx"), folder / (name + "_frozen.pt"));
  }
}

}  // namespace
}  // namespace joulecast

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* zoo = std::getenv("JOULECAST_ZOO")) {
    joulecast::register_zoo(zoo, "dynamo", "Zoo", ".onnx");
    joulecast::register_zoo(zoo, "export", "ZooPrograms", ".pt2");
    joulecast::register_zoo(zoo, "export-decomposed", "ZooDecomposed", ".pt2");
    joulecast::register_zoo(zoo, "jit-trace", "ZooTraced", ".pt");
    joulecast::register_zoo(zoo, "jit-script", "ZooScripted", ".pt");
    joulecast::register_zoo(zoo, "jit-freeze", "ZooFrozen", ".pt");
  }
  return RUN_ALL_TESTS();
}
