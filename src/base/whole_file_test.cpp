// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace joulecast {
namespace {

TEST(WholeFile, IsReplacedAndNothingIsLeftBeside) {
  const std::filesystem::path folder = testing::TempDir() + "whole_file";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string path = folder / "table.csv";
  ASSERT_TRUE(replace_file(path, "old, and longer"));
  ASSERT_TRUE(replace_file(path, "new"));
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST(WholeFile, WhereItCannotBeWrittenTheOldOneStays) {
  const std::filesystem::path folder = testing::TempDir() + "whole_folder";
  std::filesystem::create_directories(folder / "inside");
  EXPECT_EQ(replace_file(folder, "text").error().code(), ErrorCode::kIo);
  EXPECT_TRUE(std::filesystem::is_directory(folder / "inside"));
  EXPECT_EQ(replace_file(folder / "nowhere" / "file", "text").error().code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace joulecast
