// SPDX-License-Identifier: Apache-2.0
#include "profile/program_text.h"

#include <gtest/gtest.h>

namespace joulecast::profile {
namespace {

Result<std::string> program(const char* text) {
  const Graph graph = parse_graph(text).value();
  const TypeTable types = infer_types(graph, {.symbols = {{"N", 2}}, .shapes = {}, .batch = {}}).value();
  return program_text(graph, types);
}

TEST(ProgramText, SaysValuesNodesAndOutputs) {
  EXPECT_EQ(program(R"(graph "net" {
input %x : f32[N, 3]
parameter %w : f32[5, 3]
%y = linear(%x, %w, _)
output %y
}
)")
                .value(),
            "value input f32 shape=2,3\n"
            "value parameter f32 shape=5,3\n"
            "value computed f32 shape=2,5\n"
            "node linear in=0,1,_ out=2 weight_in_out=0\n"
            "output 2\n");
}

// The extents are computed from the shape of the input: no device ever sees that.
TEST(ProgramText, ArithmeticOfShapesIsDone) {
  EXPECT_EQ(program(R"(graph "net" {
input %x : f32[N, 3]
constant %minus : i64[1] = [-1]
%s = shape_of(%x) {end = 1}
%to = concat(%s, %minus)
%y = reshape(%x, %to)
output %y
}
)")
                .value(),
            "value input f32 shape=2,3\n"
            "value constant i64 shape=2 contents=2,-1\n"
            "value computed f32 shape=2,3\n"
            "node reshape in=0,1 out=2 allow_zero=0\n"
            "output 2\n");
}

TEST(ProgramText, WhatNobodyCanRunIsRefusedByName) {
  const auto text = program(R"(graph "net" {
input %x : f32[N, 3]
%a = opaque(%x) {name = "Foo", output_types = [f32[2, 3]]}
output %a
}
)");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().code(), ErrorCode::kUnsupported);
  EXPECT_NE(text.error().text().find("Foo"), std::string::npos);
}

TEST(ProgramText, EscapesReadBack) {
  const std::string odd = "a b%c\nd\xc3\xa9";
  EXPECT_EQ(escaped(odd), "a%20b%25c%0Ad\xc3\xa9");
  EXPECT_EQ(unescaped(escaped(odd)), odd);
  EXPECT_EQ(unescaped("%"), "%");
  EXPECT_EQ(unescaped("%2"), "%2");
  EXPECT_EQ(unescaped("%zz"), "%zz");
}

}  // namespace
}  // namespace joulecast::profile
