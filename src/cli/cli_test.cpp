// SPDX-License-Identifier: Apache-2.0
// Text for people and machines. What the verbs print is tested in tests/cli.
#include <gtest/gtest.h>

#include "cli/inspection.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

TEST(Numbers, ThreeDigitsAndAPrefix) {
  EXPECT_EQ(with_prefix(0, "B"), "0 B");
  EXPECT_EQ(with_prefix(999, "B"), "999 B");
  EXPECT_EQ(with_prefix(999.6, "B"), "1.00 kB");
  EXPECT_EQ(with_prefix(1000, "B"), "1.00 kB");
  EXPECT_EQ(with_prefix(9.996e3, "B"), "10.0 kB");
  EXPECT_EQ(with_prefix(999.96e6, "FLOP"), "1.00 GFLOP");
  EXPECT_EQ(with_prefix(25.6e6, ""), "25.6 M");
  EXPECT_EQ(with_prefix(1e24, "B"), "1000000 EB");
}

TEST(Numbers, ShareTellsLittleFromNothing) {
  EXPECT_EQ(share(1, 3), "33.3 %");
  EXPECT_EQ(share(1, 1e6), "<0.1 %");
  EXPECT_EQ(share(0, 1e6), "0.0 %");
  EXPECT_EQ(share(0, 0), "-");
}

TEST(Numbers, FiguresReadAsTheDataSheetHasThem) {
  EXPECT_EQ(plain(9.7e12 / 1e12), "9.7");
  EXPECT_EQ(plain(40960), "40960");
  EXPECT_EQ(plain(1157.4), "1157.4");
}

TEST(Table, AlignsAndShortens) {
  Table table({{"name", Table::Align::kLeft, 5}, {"n", Table::Align::kRight}});
  table.add({"abcdefgh", "1"});
  table.add({"é", "100"});
  EXPECT_EQ(table.text(1), " name     n\n ab…gh    1\n é      100\n");
}

TEST(Table, ShortensAtLettersNotBytes) {
  EXPECT_EQ(shortened("ééééé", 5), "ééééé");
  EXPECT_EQ(shortened("éééééé", 5), "éé…éé");
  EXPECT_EQ(shortened("abcdef", 1), "…");
}

TEST(OutputText, ControlCharactersAreNotPrinted) {
  EXPECT_EQ(printable("a\x1b[2J\nb\x7f"), "a?[2J?b?");
}

TEST(OutputText, CsvFieldsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
}

TEST(OutputText, WrapsAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("averyveryverylongword b", 8, 0), "averyveryverylongword\nb");
}

TEST(JsonText, NumbersAndBadUtf8) {
  EXPECT_EQ(json_text(json_number(8e9)), "8000000000\n");
  EXPECT_EQ(json_text(json_number(0.5)), "0.5\n");
  EXPECT_EQ(json_text(json_number(1.0 / 0.0)), "null\n");
  EXPECT_EQ(json_text(Json("\xff")), "\"\xEF\xBF\xBD\"\n");
}

TEST(Shapes, NameMayHoldAColon) {
  const auto bound = binding({.batch = 4, .shapes = {"input:0:1x3", "y:8"}});
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->batch, 4);
  EXPECT_EQ(bound->shapes.at("input:0"), (Shape{1, 3}));
  EXPECT_EQ(bound->shapes.at("y"), (Shape{8}));
}

TEST(Shapes, NonsenseIsAUsageError) {
  for (const char* text :
       {"", "x", ":1", "x:", "x:1x", "x:x1", "x:0", "x:-1", "x:1y2", "x:99999999999999999999", "x:1x1x1x1x1x1x1x1x1"}) {
    const auto bound = binding({.batch = {}, .shapes = {text}});
    ASSERT_FALSE(bound) << text;
    EXPECT_EQ(bound.error().exit_code, kUsage);
  }
}

TEST(Assumptions, FollowTheNamesOfTheDimensions) {
  const auto graph = parse_graph(
      "graph \"g\" {\n"
      "  input %a : f32[batch_size, 3, Height, width]\n"
      "  input %b : i64[n0, sequence_length, past]\n"
      "  output %a\n}\n");
  ASSERT_TRUE(graph) << graph.error().text();
  Binding bound;
  const auto assumed = assume_open_dimensions(*graph, bound);
  ASSERT_EQ(assumed.size(), 6U);
  EXPECT_EQ(bound.symbols.at("batch_size"), 1);
  EXPECT_EQ(bound.symbols.at("Height"), 224);
  EXPECT_EQ(bound.symbols.at("width"), 224);
  EXPECT_EQ(bound.symbols.at("n0"), 1);  // stands first
  EXPECT_EQ(bound.symbols.at("sequence_length"), 128);
  EXPECT_EQ(bound.symbols.at("past"), 128);
}

TEST(Assumptions, WhatIsBoundIsNotAssumed) {
  const auto graph = parse_graph("graph \"g\" {\n  input %a : f32[n, m]\n  output %a\n}\n");
  ASSERT_TRUE(graph);
  Binding bound{.symbols = {}, .shapes = {{"a", Shape{2, 3}}}, .batch = {}};
  EXPECT_TRUE(assume_open_dimensions(*graph, bound).empty());
}

}  // namespace
}  // namespace joulecast::cli
