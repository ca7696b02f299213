// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast::report {
namespace {

TEST(HtmlText, TagsAndQuotesAreText) {
  EXPECT_EQ(html_text("<script>alert(\"1\")</script> & 'x'"),
            "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;x&#39;");
}

TEST(HtmlText, LeavesOtherLettersAsTheyAre) {
  EXPECT_EQ(html_text("µ °C 日本 𝕏\ttab\nline"), "µ °C 日本 𝕏\ttab\nline");
}

TEST(HtmlText, BrokenBytesAndControlsAreReplaced) {
  EXPECT_EQ(html_text("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(html_text(std::string_view("a\0\x1B[2Jz", 7)), "a\xEF\xBF\xBD\xEF\xBF\xBD[2Jz");
  EXPECT_EQ(html_text("a\x7F"), "a\xEF\xBF\xBD");
}

TEST(HtmlText, NothingTurnsTheDirectionOfTheRest) {
  EXPECT_EQ(html_text("a\u202Eb\u2066c\u2069"), "a\uFFFDb\uFFFDc\uFFFD");
  EXPECT_EQ(html_text("\u2026\u2070"), "\u2026\u2070");  // beside them
}

TEST(ScriptJson, NoTextEndsTheScript) {
  const std::string text = script_json({{"a", "</script><!--<script>"}, {"b", "x\u2028y\u2029z"}, {"c", "&lt;"}});
  EXPECT_EQ(text.find_first_of("<>&"), std::string::npos);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char byte) { return byte > 0; }));  // ASCII alone
  EXPECT_NE(text.find("\\u2028"), std::string::npos);
  const Json back = Json::parse(text);
  EXPECT_EQ(back["a"], "</script><!--<script>");
  EXPECT_EQ(back["b"], "x\u2028y\u2029z");
  EXPECT_EQ(back["c"], "&lt;");
}

TEST(ScriptJson, BrokenBytesDoNotThrow) {
  EXPECT_EQ(script_json(Json("a\xFF")), "\"a\\ufffd\"");
}

TEST(Quantity, ThreeDigitsAndAPrefix) {
  EXPECT_EQ(quantity(3030.0, "J"), "3.03 kJ");
  EXPECT_EQ(quantity(999.7, "J"), "1.00 kJ");
  EXPECT_EQ(quantity(499.2, "W"), "499 W");
  EXPECT_EQ(quantity(0.0123, "s"), "12.3 ms");
  EXPECT_EQ(quantity(-1.07, "J"), "-1.07 J");
  EXPECT_EQ(quantity(0, "J"), "0 J");
  EXPECT_EQ(quantity(2.7e-16, "s"), "0 s");
}

}  // namespace
}  // namespace joulecast::report
