// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

using Record = std::vector<std::string>;

// All records, each with its line before it; "bad" for one that is not well formed.
std::vector<std::pair<std::size_t, Record>> read(std::string_view text) {
  CsvReader reader(text);
  std::vector<std::string_view> fields;
  std::vector<std::pair<std::size_t, Record>> records;
  while (true) {
    const auto more = reader.next(fields);
    if (more && !*more) return records;
    records.emplace_back(reader.line(), more ? Record(fields.begin(), fields.end()) : Record{"bad"});
  }
}

TEST(Csv, SplitsAtCommasAndLines) {
  EXPECT_EQ(read("a,b\n1,\n,2\n"),
            (std::vector<std::pair<std::size_t, Record>>{{1, {"a", "b"}}, {2, {"1", ""}}, {3, {"", "2"}}}));
}

TEST(Csv, EndsInAnyWay) {
  const std::vector<std::pair<std::size_t, Record>> expected = {{1, {"a"}}, {3, {"b"}}};
  EXPECT_EQ(read("a\n\nb\n"), expected);
  EXPECT_EQ(read("a\n\nb"), expected);
  EXPECT_EQ(read("a\r\n\r\nb\r\n"), expected);
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a\n\nb\n\n\n"),
            expected);
  EXPECT_TRUE(read("").empty());
  EXPECT_TRUE(read("\r\n\n").empty());
}

TEST(Csv, QuotedFieldsHoldAnything) {
  EXPECT_EQ(read("\"a,b\",\"say \"\"hi\"\"\",\"\",\"\"\"\"\nx\n"),
            (std::vector<std::pair<std::size_t, Record>>{{1, {"a,b", "say \"hi\"", "", "\""}}, {2, {"x"}}}));
}

TEST(Csv, AQuotedLineEndCountsAsALine) {
  EXPECT_EQ(read("\"a\nb\",c\nd\n"), (std::vector<std::pair<std::size_t, Record>>{{1, {"a\nb", "c"}}, {3, {"d"}}}));
}

TEST(Csv, ABadRecordCostsItsLineOnly) {
  EXPECT_EQ(read("a\n\"b\"c,d\ne\n"),
            (std::vector<std::pair<std::size_t, Record>>{{1, {"a"}}, {2, {"bad"}}, {3, {"e"}}}));
  EXPECT_EQ(read("a\n\"open\ne\n"),
            (std::vector<std::pair<std::size_t, Record>>{{1, {"a"}}, {2, {"bad"}}, {3, {"e"}}}));
}

TEST(Csv, RefusesRecordsWithoutEnd) {
  const std::string wide(2 * kMaxCsvFields, ',');
  EXPECT_EQ(read(wide + "\nx")[0].second, Record{"bad"});
  EXPECT_EQ(read(wide + "\nx")[1].second, Record{"x"});
  const std::string longest(kMaxCsvRecord, 'y');
  EXPECT_EQ(read(longest + "\nx")[0].second, Record{longest});
  EXPECT_EQ(read(longest + "y\nx")[0].second, Record{"bad"});
  EXPECT_EQ(read("\"" + longest + "\"\nx")[0].second, Record{"bad"});
}

TEST(Csv, NumbersAreWholeAndFinite) {
  EXPECT_EQ(parse_number("1.5e-05"), 1.5e-5);
  EXPECT_EQ(parse_number("-2"), -2.0);
  for (const char* text : {"", " 1", "1 ", "1,5", "nan", "inf", "1e999", "0x10", "1s"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
  EXPECT_EQ(parse_integer("64.0"), 64);
  EXPECT_EQ(parse_integer("-7"), -7);
  for (const char* text : {"1.5", "1e16", "", "x"}) EXPECT_FALSE(parse_integer(text)) << text;
}

}  // namespace
}  // namespace joulecast
