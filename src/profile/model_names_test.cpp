// SPDX-License-Identifier: Apache-2.0
#include "profile/model_names.h"

#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

using Names = std::vector<std::string>;

TEST(ModelNames, AreTheFilesWithoutExtension) {
  EXPECT_EQ(model_names({"net.onnx", "zoo/other.v2.pt2"}), (Names{"net", "other.v2"}));
}

TEST(ModelNames, HaveFoldersInFrontWhereFilesShareOne) {
  EXPECT_EQ(model_names({"a/net.onnx", "b/net.pt2", "c/other.onnx"}), (Names{"a/net", "b/net", "other"}));
  EXPECT_EQ(model_names({"x/a/net.onnx", "y/a/net.onnx"}), (Names{"x/a/net", "y/a/net"}));
  EXPECT_EQ(model_names({"/net.onnx", "/a/net.onnx"}), (Names{"/net", "a/net"}));
}

TEST(ModelNames, OfOneFileAreOne) {
  EXPECT_EQ(model_names({"a/net.onnx", "./a/net.onnx"}), (Names{"net", "net"}));
}

}  // namespace
}  // namespace joulecast::profile
