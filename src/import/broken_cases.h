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

#include "import/registered_cases.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

// Imports the file of a case's folder.
using ImportCase = std::function<Result<Graph>(const std::filesystem::path& folder)>;

inline void expect_refused(const std::filesystem::path& folder, const ImportCase& import_case) {
  std::ifstream file(folder / "expected.txt");
  std::string expected;
  ASSERT_TRUE(std::getline(file, expected));
  const auto graph = import_case(folder);
  ASSERT_FALSE(graph);
  const std::string& text = graph.error().text();
  EXPECT_NE(text.find(expected), std::string::npos) << text;
  const bool printable = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x20; });
  EXPECT_TRUE(printable) << "control characters in the error";
}

// A test of `suite` for every folder in tests/data/`folder`, by its name. To be called before main().
inline bool register_broken_cases(const char* suite, const std::string& folder, const ImportCase& import_case) {
  std::map<std::string, std::function<void()>> cases;
  const auto all = std::filesystem::path(JOULECAST_SOURCE_DIR) / "tests/data" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(all)) {
    cases[entry.path().filename().string()] = [path = entry.path(), import_case] { expect_refused(path, import_case); };
  }
  return register_cases(suite, cases);
}

}  // namespace joulecast
