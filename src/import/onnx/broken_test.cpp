// SPDX-License-Identifier: Apache-2.0
// Every folder of tests/data/onnx_broken holds a file that must be refused, and what the error must say.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "joulecast/import.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

class BrokenTest : public testing::Test {
 public:
  explicit BrokenTest(fs::path folder) : folder_(std::move(folder)) {}

  void TestBody() override {
    std::ifstream file(folder_ / "expected.txt");
    std::string expected;
    ASSERT_TRUE(std::getline(file, expected));
    const std::string path = (folder_ / "model.onnx").string();
    const auto graph = import_model(path);
    ASSERT_FALSE(graph);
    EXPECT_TRUE(graph.error().text().starts_with(path)) << graph.error().text();
    EXPECT_NE(graph.error().text().find(expected), std::string::npos) << graph.error().text();
    const std::string& text = graph.error().text();
    const bool printable = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20; });
    EXPECT_TRUE(printable) << "control characters in the error";
  }

 private:
  fs::path folder_;
};

const bool kRegistered = [] {
  std::map<std::string, fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(JOULECAST_SOURCE_DIR) / "tests/data/onnx_broken")) {
    cases[entry.path().filename().string()] = entry.path();
  }
  for (const auto& [name, path] : cases) {
    testing::RegisterTest("OnnxBroken", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path = path]() -> testing::Test* { return new BrokenTest(path); });
  }
  return true;
}();

}  // namespace
}  // namespace joulecast
