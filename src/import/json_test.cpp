// SPDX-License-Identifier: Apache-2.0
#include "import/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace joulecast {
namespace {

TEST(Json, ReadsEveryKind) {
  const auto document =
      parse_json(R"({"i": -3, "r": 1.5, "t": "text", "b": true, "n": null, "l": [1, [2], {"k": 3}]})");
  ASSERT_TRUE(document) << document.error().text();
  const Json& root = document->root();
  EXPECT_EQ(root.integer("i"), -3);
  EXPECT_EQ(root.find("r")->real(), 1.5);
  EXPECT_EQ(root.string("t"), "text");
  EXPECT_TRUE(root.find("b")->truth());
  EXPECT_EQ(root.find("n"), nullptr);
  const auto list = root.array("l");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->size(), 3U);
  EXPECT_EQ((*list)[1].value.members()[0].value.whole(), 2);
  EXPECT_EQ((*list)[2].value.integer("k"), 3);
}

TEST(Json, LeavesOutWhatIsSkipped) {
  const auto document =
      parse_json(R"({"a": 1, "trace": {"deep": [1, {"trace": 2}]}, "b": {"trace": "x", "c": 2}})", {"trace"});
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().members().size(), 2U);
  EXPECT_EQ((*document->root().at("b"))->members().size(), 1U);
  EXPECT_EQ((*document->root().at("b"))->integer("c"), 2);
}

TEST(Json, ErrorsNameTheKey) {
  const auto document = parse_json(R"({"a": "text"})");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root().integer("a").error().text(), "'a' is a string, not an integer");
  EXPECT_EQ(document->root().integer("b").error().text(), "'b' is missing");
  EXPECT_EQ((*document->root().at("a"))->at("x").error().text(), "is a string, not an object with 'x'");
}

TEST(Json, RefusesWhatIsNone) {
  EXPECT_EQ(parse_json("{\"a\": ]").error().text(), "is no JSON from byte 7 on");
  EXPECT_FALSE(parse_json(""));
  EXPECT_FALSE(parse_json("{} {}"));
  EXPECT_FALSE(parse_json(std::string_view("{}\0 ", 4)));
  EXPECT_FALSE(parse_json("\"\xff\""));  // no UTF-8
  EXPECT_FALSE(parse_json("[01]"));
  EXPECT_FALSE(parse_json("[1.]"));
  EXPECT_FALSE(parse_json("[+1]"));
}

// A character of UTF-8 that says it has more bytes than the text: nothing behind the text is read (as sanitizers see).
TEST(Json, CharactersThatAreCutOffAreRefused) {
  for (const std::string_view text : {"\xf0", "\"\xf0", "{\"a\": \"\xf4\x8f\xbf", "[\"\xe2\x82", "{\n \"{\xf0"}) {
    const auto json = parse_json(text);
    ASSERT_FALSE(json) << text;
    EXPECT_NE(json.error().text().find("is no JSON from byte"), std::string::npos);
  }
}

TEST(Json, NumbersAreExact) {
  const auto document = parse_json(
      "[9007199254740993, -9223372036854775808, 9223372036854775808, 0.1, 123456789.123456789e-3, 1e-400, "
      "1e-2147483648,"
      " 1e-99999999999999999999, 2.2250738585072011e-308]");
  ASSERT_TRUE(document) << document.error().text();
  const auto at = [&](std::size_t i) { return document->root().members()[i].value; };
  EXPECT_EQ(at(0).whole(), 9007199254740993);
  EXPECT_EQ(at(1).whole(), INT64_MIN);
  EXPECT_EQ(at(2).real(), 9223372036854775808.0);
  EXPECT_EQ(at(3).real(), 0.1);
  EXPECT_EQ(at(4).real(), 123456.789123456789);
  EXPECT_EQ(at(5).real(), 0.0);
  EXPECT_EQ(at(6).real(), 0.0);
  EXPECT_EQ(at(7).real(), 0.0);
  EXPECT_EQ(at(8).real(), 2.2250738585072011e-308);
}

TEST(Json, NumbersThatNoDoubleHoldsAreRefused) {
  EXPECT_FALSE(parse_json("1e400"));
  EXPECT_FALSE(parse_json("-9e308"));
  EXPECT_FALSE(parse_json("1e99999999999"));
  EXPECT_FALSE(parse_json(std::string(400, '9')));
}

TEST(Json, EscapesAreUndone) {
  const auto document = parse_json("{\"a\\\\\\\"\\n\": \"\\u00e9\\ud83d\\ude00/\", \"b\": \"plain\"}");
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_EQ(document->root().string("a\\\"\n"), "\xc3\xa9\xf0\x9f\x98\x80/");
  EXPECT_EQ(document->root().string("b"), "plain");
}

// Python's json module writes these.
TEST(Json, TakesInfinitiesOfPython) {
  const auto document = parse_json(R"({"a": -Infinity, "b": NaN, "c": "Infinity \" NaN"})");
  ASSERT_TRUE(document) << document.error().text();
  EXPECT_LT(document->root().find("a")->real(), -1e300);
  EXPECT_EQ(document->root().string("c"), "Infinity \" NaN");
}

TEST(Json, NestingIsBounded) {
  const std::string deep = std::string(300, '[') + std::string(300, ']');
  EXPECT_EQ(parse_json(deep).error().text(), "is nested more than 200 deep");
  EXPECT_TRUE(parse_json(std::string(100, '[') + std::string(100, ']')));
  EXPECT_TRUE(parse_json("{\"skipped\":" + deep + "}", {"skipped"}));
}

TEST(Json, ValuesAreBounded) {
  std::string many = "[0";
  for (int i = 0; i < 4'000'000; ++i) many += ",0";
  EXPECT_EQ(parse_json(many + "]").error().text(), "has more than 4000000 values");
}

}  // namespace
}  // namespace joulecast
