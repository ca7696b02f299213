// SPDX-License-Identifier: Apache-2.0
// Files that must be refused: a folder each, with what the error must say in expected.txt.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

// Imports the file of a case's folder.
using ImportCase = std::function<Result<Graph>(const std::filesystem::path& folder)>;

class BrokenCase : public testing::Test {
 public:
  BrokenCase(std::filesystem::path folder, ImportCase import_case)
      : folder_(std::move(folder)), import_(std::move(import_case)) {}

  void TestBody() override {
    std::ifstream file(folder_ / "expected.txt");
    std::string expected;
    ASSERT_TRUE(std::getline(file, expected));
    const auto graph = import_(folder_);
    ASSERT_FALSE(graph);
    const std::string& text = graph.error().text();
    EXPECT_NE(text.find(expected), std::string::npos) << text;
    const bool printable = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20; });
    EXPECT_TRUE(printable) << "control characters in the error";
  }

 private:
  std::filesystem::path folder_;
  ImportCase import_;
};

// A test of `suite` for every folder in tests/data/`folder`, by its name. To be called before main().
inline bool register_broken_cases(const char* suite, const std::string& folder, const ImportCase& import_case) {
  std::map<std::string, std::filesystem::path> cases;
  const auto all = std::filesystem::path(JOULECAST_SOURCE_DIR) / "tests/data" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(all)) {
    cases[entry.path().filename().string()] = entry.path();
  }
  for (const auto& [name, path] : cases) {
    testing::RegisterTest(suite, name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [path = path, import_case]() -> testing::Test* { return new BrokenCase(path, import_case); });
  }
  return true;
}

}  // namespace joulecast
