// SPDX-License-Identifier: Apache-2.0
#include "profile/operation_list.h"

#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

TEST(OperationList, OperationsOfATableOnceEach) {
  const auto list = parse_operation_list(
      "time_s,operands,operator,mode,gpu\n"
      "0.1,\"f32[8, 64]; w f32[32, 64]; _\",linear,training,a30\n"
      "0.2,\"f32[8, 64]; w f32[32, 64]; _\",linear,training,a100\n"
      "0.2,\"f32[8, 64]; w f32[32, 64]; _\",linear,inference,a100\n"
      "0.3,,,training,a100\n"
      "0.3,\"f32[8, 64]\",activation,,a100\n");
  ASSERT_TRUE(list) << list.error().text();
  ASSERT_EQ(list->size(), 3U);
  EXPECT_EQ((*list)[0].text, (OperationText{"linear", "f32[8, 64]; w f32[32, 64]; _", ""}));
  EXPECT_EQ((*list)[0].mode, Mode::kTraining);
  EXPECT_EQ((*list)[1].mode, Mode::kInference);
  EXPECT_EQ((*list)[2].mode, std::nullopt);
  EXPECT_EQ((*list)[2].precision, std::nullopt);
  EXPECT_EQ((*list)[2].line, 6U);
}

TEST(OperationList, ErrorsNameTheLine) {
  const auto text_of = [](std::string_view csv) { return parse_operation_list(csv).error().text(); };
  EXPECT_EQ(text_of("operator,shape\nlinear,8\n"),
            "line 1: a list of operations has the columns operator and operands");
  EXPECT_NE(text_of("operator,operands\nactivation,f32[8]\nfoo,f32[8]\n").find("line 3: "), std::string::npos);
  EXPECT_EQ(text_of("operator,operands,mode\nactivation,f32[8],asleep\n"), "line 2: 'asleep' is no mode");
  EXPECT_EQ(text_of("operator,operands,precision\nactivation,f32[8],fp3\n"), "line 2: 'fp3' is no precision");
  EXPECT_EQ(text_of(""), "the list is empty");
  for (const char* csv : {"operator,operands,network\n,,resnet18\n,,vit\n", "operator,operands\n"})
    EXPECT_EQ(text_of(csv), "holds no operations: no row has an operator");
}

}  // namespace
}  // namespace joulecast::profile
