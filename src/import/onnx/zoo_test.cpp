// SPDX-License-Identifier: Apache-2.0
// Imports every network of a folder, propagates types at the sizes that were recorded, and compares the shape of every
// value with what onnx's own shape inference says. The folder is examples/, and $JOULECAST_ZOO where that is set.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "joulecast/import.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

std::string unzipped(const fs::path& path) {
  std::string out;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return out;
  std::vector<char> buffer(1U << 16U);
  for (int n = 0; (n = gzread(file, buffer.data(), static_cast<unsigned>(buffer.size()))) > 0;) {
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
  gzclose(file);
  return out;
}

// Beside the network, or in reference/ below it.
fs::path reference_of(const fs::path& network) {
  const std::string name = network.stem().string() + ".shapes.json.gz";
  const fs::path beside = network.parent_path() / name;
  return fs::exists(beside) ? beside : network.parent_path() / "reference" / name;
}

struct Comparison {
  std::size_t compared = 0, ours_only = 0, opaque = 0;
  std::vector<std::string> wrong;
};

// Extents that onnx cannot tell are names there ("unk__3"): they match anything.
bool fits(const Shape& shape, const nlohmann::json& expected) {
  if (shape.size() != expected.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (expected[i].is_number() && expected[i] != shape[i]) return false;
  }
  return true;
}

Comparison compare(const Graph& graph, const TypeTable& types, const nlohmann::json& expected) {
  Comparison out;
  for (const Node& node : graph.nodes) out.opaque += std::holds_alternative<Opaque>(node.op) ? 1 : 0;
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.kind != ValueKind::kComputed && value.kind != ValueKind::kInput) continue;
    const auto it = expected.find(value.name);
    if (it == expected.end() || !it->is_array()) {
      ++out.ours_only;
      continue;
    }
    ++out.compared;
    const Shape& shape = types.type(ValueId{static_cast<std::uint32_t>(i)}).shape;
    if (!fits(shape, *it)) {
      out.wrong.push_back(fmt::format("{}: {}, onnx says {}", value.name, text(shape), it->dump()));
    }
  }
  return out;
}

class ZooTest : public testing::Test {
 public:
  explicit ZooTest(fs::path network) : network_(std::move(network)) {}

  void TestBody() override {
    const std::string reference = unzipped(reference_of(network_));
    ASSERT_FALSE(reference.empty()) << "no reference for " << network_;
    const auto expected = nlohmann::json::parse(reference);
    const auto graph = import_model(network_.string());
    ASSERT_TRUE(graph) << graph.error().text();
    Binding binding;
    for (const auto& [symbol, extent] : expected["sizes"].items()) binding.symbols[symbol] = extent;
    const auto types = infer_types(*graph, binding);
    ASSERT_TRUE(types) << types.error().text();
    const Comparison result = compare(*graph, *types, expected["values"]);
    RecordProperty("compared", static_cast<int>(result.compared));
    EXPECT_GT(result.compared, 0U);
    EXPECT_EQ(result.opaque, 0U);
    std::string first;
    for (std::size_t i = 0; i < result.wrong.size() && i < 5; ++i) first += result.wrong[i] + '\n';
    EXPECT_TRUE(result.wrong.empty()) << result.wrong.size() << " of " << result.compared << " shapes differ:\n"
                                      << first;
    if (std::getenv("JOULECAST_ZOO") != nullptr) {
      fmt::print("{}: {} nodes, {} shapes compared, {} unnamed there, {} opaque\n", network_.stem().string(),
                 graph->nodes.size(), result.compared, result.ours_only, result.opaque);
    }
  }

 private:
  fs::path network_;
};

void register_folder(const std::string& suite, const fs::path& folder) {
  std::map<std::string, fs::path> networks;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".onnx") networks[entry.path().stem().string()] = entry.path();
  }
  for (const auto& [name, path] : networks) {
    testing::RegisterTest(suite.c_str(), name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path = path]() -> testing::Test* { return new ZooTest(path); });
  }
}

const bool kRegistered = [] {
  register_folder("Examples", fs::path(JOULECAST_SOURCE_DIR) / "examples");
  if (const char* folder = std::getenv("JOULECAST_ZOO")) register_folder("Zoo", folder);
  return true;
}();

}  // namespace
}  // namespace joulecast
