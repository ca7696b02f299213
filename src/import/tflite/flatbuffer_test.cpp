// SPDX-License-Identifier: Apache-2.0
#include "import/tflite/flatbuffer.h"

#include <gtest/gtest.h>

#include <string>

namespace joulecast {
namespace {

using namespace std::string_view_literals;

// The list of fields at 4, the table at 12: field 0 is the number 7, field 1 leads to the text "abc" at 24.
constexpr std::string_view kFile =
    "\x0c\0\0\0"
    "\x08\0\x0c\0\x04\0\x08\0"
    "\x08\0\0\0"
    "\x07\0\0\0"
    "\x04\0\0\0"
    "\x03\0\0\0"
    "abc\0"sv;

TEST(FlatBuffer, ReadsFieldsOfATable) {
  const FlatBuffer file(kFile);
  const FlatTable table = file.root();
  EXPECT_EQ(table.number<std::int32_t>(0, 0), 7);
  EXPECT_EQ(table.text(1), "abc");
  EXPECT_TRUE(file.status());
}

TEST(FlatBuffer, AbsentFieldsHaveTheirDefaults) {
  const FlatBuffer file(kFile);
  EXPECT_EQ(file.root().number<std::int32_t>(2, 5), 5);
  EXPECT_EQ(file.root().vector(9, 4).size(), 0U);
  EXPECT_FALSE(file.root().table(9));
  EXPECT_TRUE(file.status());
}

TEST(FlatBuffer, EveryCutIsNoticed) {
  for (std::size_t size = 0; size + 1 < kFile.size(); ++size) {
    const FlatBuffer file(kFile.substr(0, size));
    const std::string_view text = file.root().text(1);
    EXPECT_FALSE(file.status()) << size;
    EXPECT_EQ(text, "") << size;
  }
}

TEST(FlatBuffer, OffsetsThatLeadOutAreNoticed) {
  for (const std::size_t at : {0, 4, 12, 20, 24}) {
    std::string bytes(kFile);
    bytes[at + 1] = '\x7f';
    const FlatBuffer file(bytes);
    static_cast<void>(file.root().text(1));
    EXPECT_FALSE(file.status()) << at;
  }
}

TEST(FlatBuffer, AFieldOutsideOfItsTableIsNoticed) {
  std::string bytes(kFile);
  bytes[8] = '\x0a';  // two bytes before the table's end
  const FlatBuffer file(bytes);
  EXPECT_EQ(file.root().number<std::int32_t>(0, 3), 3);
  EXPECT_FALSE(file.status());
}

}  // namespace
}  // namespace joulecast
