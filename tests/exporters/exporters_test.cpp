// SPDX-License-Identifier: Apache-2.0
// The same network through torch's two exporters must come out as the same operations. What can't is in
// differences.txt, with its reason; an entry that no longer differs fails as well.
//
// One pair is in examples/. More are read from the folders torchscript/ and dynamo/ in JOULECAST_ZOO, if that is set
// (tools/zoo makes them). Run with JOULECAST_ZOO_LIST=1 to print every difference.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
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

Result<OperatorList> operators_of(const fs::path& file) {
  JC_ASSIGN_OR_RETURN(const Graph imported, import_onnx(file.string()));
  const Binding binding = bind_all(imported);
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

void compare_files(const std::string& network, const fs::path& torchscript, const fs::path& dynamo) {
  const auto left = operators_of(torchscript);
  const auto right = operators_of(dynamo);
  ASSERT_TRUE(left) << left.error().text();
  ASSERT_TRUE(right) << right.error().text();
  std::set<std::string> labels;
  std::string listing;
  for (const OperatorDifference& difference : compare(*left, *right)) {
    labels.insert(difference.operation.substr(0, difference.operation.find(' ')));
    listing +=
        fmt::format("  torchscript {}, dynamo {}: {}\n", difference.left, difference.right, difference.operation);
  }
  if (std::getenv("JOULECAST_ZOO_LIST") != nullptr) fmt::print("{}: {}\n{}", network, labels.size(), listing);
  EXPECT_EQ(labels, named_labels(network)) << listing;
}

class ZooPair : public testing::Test {
 public:
  explicit ZooPair(fs::path zoo, std::string network) : zoo_(std::move(zoo)), network_(std::move(network)) {}
  void TestBody() override {
    compare_files(network_, zoo_ / "torchscript" / (network_ + ".onnx"), zoo_ / "dynamo" / (network_ + ".onnx"));
  }

 private:
  fs::path zoo_;
  std::string network_;
};

// One test a network of the zoo, so that each is named.
void register_zoo(const fs::path& zoo) {
  if (!fs::is_directory(zoo / "torchscript")) return;
  std::set<std::string> networks;
  for (const auto& entry : fs::directory_iterator(zoo / "torchscript")) {
    if (entry.path().extension() != ".onnx") continue;
    if (fs::exists(zoo / "dynamo" / entry.path().filename())) networks.insert(entry.path().stem().string());
  }
  for (const std::string& network : networks) {
    testing::RegisterTest("Zoo", network.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [zoo, network] { return new ZooPair(zoo, network); });
  }
}

TEST(Exporters, ResNet18OfTheExamples) {
  compare_files("torchvision_resnet18", kSource / "examples/resnet18.onnx", kSource / "examples/resnet18_dynamo.onnx");
}

TEST(Exporters, ZooIsThere) {
  if (std::getenv("JOULECAST_ZOO") == nullptr) GTEST_SKIP() << "JOULECAST_ZOO is not set: one pair compared";
}

}  // namespace
}  // namespace joulecast

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char* zoo = std::getenv("JOULECAST_ZOO")) joulecast::register_zoo(zoo);
  return RUN_ALL_TESTS();
}
