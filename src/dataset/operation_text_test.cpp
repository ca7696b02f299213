// SPDX-License-Identifier: Apache-2.0
#include "dataset/operation_text.h"

#include <gtest/gtest.h>

#include "dataset/operation.h"

namespace joulecast {
namespace {

TEST(OperationText, SaysWhatAConvolutionIs) {
  Conv op;
  op.stride = Extents(2, 2);
  op.dilation = Extents(2, 1);
  const Graph graph =
      std::move(OperationBuilder(ElementType::kFloat32).input({1, 3, 8, 8}).parameter({4, 3, 3, 3}).no_input())
          .build(op);
  const OperationText text = operation_text(graph);
  EXPECT_EQ(text.op, "conv");
  EXPECT_EQ(text.operands, "f32[1, 3, 8, 8]; w f32[4, 3, 3, 3]; _");
  EXPECT_EQ(text.attributes, "stride = [2, 2], dilation = [1, 1]");
}

TEST(OperationText, ReadsBackAsTheSameGraph) {
  const Graph graphs[] = {
      linear_operation(64, 32, 16, ElementType::kBFloat16, true),
      attention_operation({.batch = 2, .queries = 1, .keys = 9, .heads = 4, .kv_heads = 2, .head = 8, .causal = true},
                          ElementType::kBFloat16, ElementType::kFloat8E4M3),
      std::move(OperationBuilder(ElementType::kFloat32).input({4, 8}).scalar(2.5))
          .build(Binary{.kind = BinaryKind::kPow}),
  };
  for (const Graph& graph : graphs) {
    const auto again = parse_operation(operation_text(graph));
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*again, graph);
  }
}

TEST(OperationText, TakesOtherSpacing) {
  const auto graph = parse_operation({"linear", "bf16[64,16] ;w bf16[32,16]", ""});
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_EQ(*graph, linear_operation(64, 32, 16, ElementType::kBFloat16, false));
}

TEST(OperationText, RefusesWhatIsNoSingleOperation) {
  const OperationText bad[] = {
      {"lineal", "f32[2, 2]; w f32[2, 2]", ""},            // no such operator
      {"linear", "f32[2, 2]; w f32[2, 3]", ""},            // shapes that do not fit
      {"linear", "f32[2, n]; w f32[2, 2]", ""},            // an extent without a number
      {"linear", "f32[2, 2]; w f32[2, 2]", "stride = 2"},  // no such attribute
      {"activation", "f32[2]\n%z = activation(%x0)", ""},  // a second node by a line end
      {"activation", "f32[2]", "}\n%z = activation(%x0) {"},
      {"activation", "", ""},
      {"linear", "f32[2, 2];; w f32[2, 2]", ""},  // an operand without text
      {"", "f32[2]", ""},
  };
  for (const OperationText& text : bad) {
    const auto graph = parse_operation(text);
    EXPECT_FALSE(graph) << text.op << " (" << text.operands << ")";
    if (!graph) {
      EXPECT_EQ(graph.error().code(), ErrorCode::kInvalidInput) << text.operands;
    }
  }
}

TEST(OperationText, ErrorsNameWhatIsWrongAndNoPlaceThatNobodySees) {
  const auto text_of = [](const OperationText& text) { return parse_operation(text).error().text(); };
  EXPECT_EQ(text_of({"relu", "f32[2]", ""}), "'relu' is no operator; docs/operators.md says what each is called here");
  EXPECT_EQ(text_of({"linear", "f32[2, 2]; w f32[2, 2]", "stride = 2"}).find("line "), std::string::npos);
  EXPECT_NE(text_of({"linear", "f32[2, 2]; w f32[2, 2]", "stride = 2"}).find("no operation: linear (f32[2, 2]; w"),
            std::string::npos);
  EXPECT_EQ(text_of({"linear", "", ""}), "operand 1 is empty; docs/formats/measurements.md says what it may be");
}

}  // namespace
}  // namespace joulecast
