// SPDX-License-Identifier: Apache-2.0
#include "measure/mark_line.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(MarkLine, SaysWhatBeginsWhenAndWithWhat) {
  const MarkLine line = parse_mark_line("@12345678 begin epoch one\tindex=3\ttotal=10\n").value();
  EXPECT_EQ(line.time, 12345);
  EXPECT_EQ(line.kind, EventKind::kBegin);
  EXPECT_EQ(line.name, "epoch one");
  EXPECT_EQ(line.details, "index=3\ttotal=10");
  EXPECT_EQ(parse_mark_line("end x").value().kind, EventKind::kEnd);
  EXPECT_FALSE(parse_mark_line("mark x").value().time);
  EXPECT_EQ(parse_mark_line("lost 7").value().lost, 7U);
}

TEST(MarkLine, NamesAndDetailsAreHarmless) {
  const MarkLine line = parse_mark_line("begin a\u202Eb\xFF\u0085\tfile=\u2066x\xC3\ty=1").value();
  EXPECT_EQ(line.name, "a\uFFFDb\uFFFD\uFFFD");
  EXPECT_EQ(line.details, "file=\uFFFDx\uFFFD\ty=1");
  EXPECT_EQ(parse_mark_line("end a\u202Eb\xFF\u0085").value().name, line.name);
}

TEST(MarkLine, AnythingElseIsNone) {
  for (const char* line :
       {"", "begin", "begin ", "begin \tindex=1", "start x", "@ begin x", "@12x begin x", "@-5 mark x", "lost",
        "lost many", "lost -1", "mark a\x1b[2J", "@99999999999999999999 mark x"}) {
    EXPECT_FALSE(parse_mark_line(line)) << line;
  }
  EXPECT_FALSE(parse_mark_line("mark " + std::string(201, 'x')));
  EXPECT_TRUE(parse_mark_line("mark " + std::string(200, 'x')));
}

}  // namespace
}  // namespace joulecast
