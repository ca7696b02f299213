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
}

std::string error_of(const std::string& path, std::string_view framework = {}) {
  const auto graph = import_model(path, framework);
  return graph ? "no error" : graph.error().text();
}

const std::string kData = JOULECAST_SOURCE_DIR "/tests/data/";

TEST(ImportModel, OfAnotherFrameworkThanTheCallerSaysItLooksLikeItsOwn) {
  EXPECT_EQ(error_of(kNetwork, "pytorch"), kNetwork +
                                               ": is no file of pytorch (the archive has no directory at its end: cut "
                                               "off?): it may be ONNX (.onnx)");
  const std::string keras = kData + "keras/convolutions/model.keras";
  EXPECT_EQ(error_of(keras, "paddle"), keras + ": is no file of paddle: it looks like Keras (.keras)");
  const std::string image = kData + "onnx_broken/png/model.onnx";
  EXPECT_TRUE(error_of(image, "pytorch").ends_with("): it is a PNG image")) << error_of(image, "pytorch");
}

TEST(ImportModel, WeightsOfPaddleSayWhereTheirNetworkIs) {
  const std::string path = testing::TempDir() + "weights" + std::to_string(::getpid()) + ".pdiparams";
  std::ofstream(path) << std::string(16, '\0') + std::string("\4\0\0\0\x08\x05\x10\x40", 8) + std::string(256, '\1');
  EXPECT_NE(error_of(path).find("is a file of PaddlePaddle's weights: the network is in the .pdmodel"),
            std::string::npos)
      << error_of(path);
  fs::remove(path);
}

TEST(ImportModel, KerasIsOfTensorflow) {
  for (const char* file : {"model.keras", "model.h5"}) {
    const std::string path = kData + "keras/convolutions/" + file;
    if (!fs::exists(path)) continue;
    EXPECT_EQ(*import_model(path, "tensorflow"), *import_model(path));
  }
}

class ConfigFolder : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& name, const std::string& bytes) { std::ofstream(folder_ / name) << bytes; }
  std::vector<std::string> notes() {
    std::vector<std::string> out;
    const Graph graph = import_model(folder_.string()).value();
    for (const GraphNote& note : graph.notes) out.push_back(note.text);
    return out;
  }

  const std::string config_ = R"({"model_type": "bert", "architectures": ["BertModel"]})";
  fs::path folder_ = testing::TempDir() + "config_folder_" + std::to_string(::getpid());
};

TEST_F(ConfigFolder, WithOtherModelsSaysWhichWasRead) {
  write("config.json", config_);
  write("tokenizer.json", R"({"version": "1.0"})");
  EXPECT_TRUE(notes().empty());
  fs::copy_file(kNetwork, folder_ / "model.onnx");
  write("graph.jcg", "graph g\n");
  EXPECT_EQ(notes(),
            (std::vector<std::string>{
                "of this folder config.json was read; it also has graph.jcg, model.onnx: name the file to read it"}));
  EXPECT_TRUE(import_model((folder_ / "config.json").string()).value().notes.empty());
}

TEST_F(ConfigFolder, UnicodeIsReadAsUtf8) {
  write("config.json", "\xEF\xBB\xBF" + config_);
  EXPECT_TRUE(notes().empty());
  std::string wide = "\xFF\xFE";
  for (const char c : config_) wide += std::string{c, '\0'};
  for (const std::string& bytes : {wide, wide.substr(2)}) {
    write("config.json", bytes);
    EXPECT_TRUE(
        error_of(folder_.string())
            .starts_with((folder_ / "config.json").string() + ": is text in UTF-16: save it as UTF-8; supported are "))
        << error_of(folder_.string());
  }
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
