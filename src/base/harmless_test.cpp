// SPDX-License-Identifier: Apache-2.0
#include "base/harmless.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Harmless, LeavesLettersOfAnyLanguageAsTheyAre) {
  for (const char* text :
       {"", "epoch 1/3", "µ °C", "日本 𝕏", "نمی‌خواهم", "👩‍💻", "\u2026\u2070\uFFFD\U0010FFFD"}) {
    EXPECT_EQ(harmless_line(text), text);
  }
}

TEST(Harmless, ReplacesControlsAndWhatTurnsOrHides) {
  EXPECT_EQ(harmless_line("a\u202Eb\u2066c\u2069\u200F\u061C"), "a\uFFFDb\uFFFDc\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(harmless_line("a\u200B\u00AD\uFEFF\u2028\U000E0041z"), "a\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDz");
  EXPECT_EQ(harmless_line(std::string_view("\0\x1B[2J\x7F\u0085\u009B", 9)), "\uFFFD\uFFFD[2J\uFFFD\uFFFD\uFFFD");
}

TEST(Harmless, ReplacesBytesThatAreNoUtf8) {
  EXPECT_EQ(harmless_line("a\xFFz"), "a\uFFFDz");
  EXPECT_EQ(harmless_line("\xC0\x80"), "\uFFFD\uFFFD");                      // a zero in two bytes
  EXPECT_EQ(harmless_line("\xE0\x80\x80"), "\uFFFD\uFFFD\uFFFD");            // in three
  EXPECT_EQ(harmless_line("\xED\xA0\x80"), "\uFFFD\uFFFD\uFFFD");            // half of a pair of UTF-16
  EXPECT_EQ(harmless_line("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");  // beyond the last
  EXPECT_EQ(harmless_line("\xE2\x80"), "\uFFFD\uFFFD");                      // cut off
  EXPECT_EQ(harmless_line("\xE2z"), "\uFFFDz");
}

TEST(Harmless, LineEndsStayInTextsOnly) {
  EXPECT_EQ(harmless_text("a\tb\nc\rd"), "a\tb\nc\uFFFDd");
  EXPECT_EQ(harmless_line("a\tb\nc", "?"), "a?b?c");
}

}  // namespace
}  // namespace joulecast
