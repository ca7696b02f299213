// SPDX-License-Identifier: Apache-2.0
#include "joulecast/import.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace joulecast {
namespace {

namespace fs = std::filesystem;

const std::string kNetwork = JOULECAST_SOURCE_DIR "/examples/resnet50.onnx";

TEST(ImportModel, BelievesTheCaller) {
  EXPECT_EQ(*import_model(kNetwork, "onnx"), *import_model(kNetwork));
  const auto text = import_model(kNetwork, "joulecast");
  ASSERT_FALSE(text);
  EXPECT_TRUE(text.error().text().starts_with(kNetwork + ": line 1")) << text.error().text();
}

TEST(ImportModel, NamesTheFrameworks) {
  const auto graph = import_model(kNetwork, "caffe");
  ASSERT_FALSE(graph);
  EXPECT_NE(graph.error().text().find("no framework 'caffe': there are "), std::string::npos) << graph.error().text();
  for (const std::string_view name : frameworks()) {
    EXPECT_NE(graph.error().text().find(name), std::string::npos) << name;
  }
}

class FindModels : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "zoo" / "saved");
    const fs::path data = JOULECAST_SOURCE_DIR "/tests/data/tensorflow/convolutions";
    fs::copy_file(kNetwork, folder_ / "zoo" / "net.onnx");
    fs::copy_file(data / "saved_model.pb", folder_ / "zoo" / "saved" / "saved_model.pb");
    fs::copy_file(data / "saved_model.pb", folder_ / "zoo" / "saved" / "copy.pb");
    std::ofstream(folder_ / "README.txt") << "nothing of ours";
    std::ofstream(folder_ / "empty.pb") << "";
    std::ofstream(folder_ / "zoo" / "damaged.onnx") << "";
    fs::create_directory_symlink(folder_, folder_ / "zoo" / "round");
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_ = testing::TempDir() + "find_models_" + std::to_string(::getpid());
};

TEST_F(FindModels, AFolderIsAllModelsInIt) {
  const auto found = find_models(folder_.string());
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(*found, (std::vector{(folder_ / "zoo/damaged.onnx").string(), (folder_ / "zoo/net.onnx").string(),
                                 (folder_ / "zoo/saved").string()}));
}

TEST_F(FindModels, AFileOrAFolderThatIsAModelIsItself) {
  EXPECT_EQ(find_models(kNetwork).value(), std::vector{kNetwork});
  const std::string saved = (folder_ / "zoo/saved").string();
  EXPECT_EQ(find_models(saved).value(), std::vector{saved});
  EXPECT_EQ(find_models("/nowhere").value(), std::vector<std::string>{"/nowhere"});
}

TEST_F(FindModels, AFolderWithoutOneIsAnError) {
  fs::remove_all(folder_ / "zoo");
  const auto found = find_models(folder_.string());
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kNotFound);
  EXPECT_TRUE(found.error().text().starts_with(folder_.string() + ": no model in this folder; supported are "));
}

}  // namespace
}  // namespace joulecast
