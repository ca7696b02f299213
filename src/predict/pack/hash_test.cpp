// SPDX-License-Identifier: Apache-2.0
#include "predict/pack/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace joulecast {
namespace {

std::uint64_t hash(const std::string& text) {
  return xxh64(std::as_bytes(std::span(text)));
}

// Published digests, and lengths around a stripe as Python's xxhash 3.x has them (byte i is 7i + 1).
TEST(Xxh64, SameAsOtherImplementations) {
  EXPECT_EQ(hash(""), 0xEF46DB3751D8E999);
  EXPECT_EQ(hash("a"), 0xD24EC4F1A98C6E5B);
  EXPECT_EQ(hash("abc"), 0x44BC2CF5AD770999);
  std::string bytes(100, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(7 * i + 1);
  EXPECT_EQ(hash(bytes.substr(0, 4)), 0x22eda2cf6af4c124);
  EXPECT_EQ(hash(bytes.substr(0, 8)), 0xc6f1803a5e0b3222);
  EXPECT_EQ(hash(bytes.substr(0, 31)), 0x6ab1c40e29f50073);
  EXPECT_EQ(hash(bytes.substr(0, 32)), 0x5a0756fbe9ecd3d1);
  EXPECT_EQ(hash(bytes.substr(0, 33)), 0xdc50cdc37bb9c183);
  EXPECT_EQ(hash(bytes.substr(0, 45)), 0x50a9d30cf5044636);
  EXPECT_EQ(hash(bytes.substr(0, 63)), 0x10dd94885c71894a);
  EXPECT_EQ(hash(bytes.substr(0, 64)), 0x90083da9cdb9d795);
  EXPECT_EQ(hash(bytes), 0xd248bfc5208b0b16);
}

TEST(Xxh64, EveryByteCounts) {
  for (std::size_t size = 1; size < 80; ++size) {
    const std::string zeros(size, '\0');
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = zeros;
      other[at] = 1;
      EXPECT_NE(hash(zeros), hash(other)) << at << " of " << size;
    }
    EXPECT_NE(hash(zeros), hash(zeros + '\0'));
  }
}

}  // namespace
}  // namespace joulecast
