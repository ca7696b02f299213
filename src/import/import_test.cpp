// SPDX-License-Identifier: Apache-2.0
#include "joulecast/import.h"

#include <gtest/gtest.h>

#include <string>

namespace joulecast {
namespace {

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

}  // namespace
}  // namespace joulecast
