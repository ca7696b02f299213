// SPDX-License-Identifier: Apache-2.0
#include "import/zip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

#include "import/zip_writer.h"

namespace joulecast {
namespace {

std::string text_of(const ZipArchive& archive, std::string_view name, std::size_t limit = 1000) {
  const ZipMember* member = archive.find(name);
  if (member == nullptr) return "no member";
  const auto text = ZipArchive::read(*member, limit);
  return text ? std::string(text->view()) : text.error().text();
}

TEST(Zip, ReadsStoredMembersWhereTheyLie) {
  ZipWriter writer;
  writer.add("a/b.txt", "hello");
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive) << archive.error().text();
  ASSERT_EQ(archive->members().size(), 1U);
  const auto text = ZipArchive::read(archive->members()[0], 100);
  ASSERT_TRUE(text);
  EXPECT_EQ(text->view(), "hello");
  EXPECT_GE(text->view().data(), bytes.data());
  EXPECT_LT(text->view().data(), bytes.data() + bytes.size());
}

TEST(Zip, Inflates) {
  const std::string content(100'000, 'x');
  ZipWriter writer;
  writer.add_deflated("x", content);
  const std::string bytes = writer.finish();
  EXPECT_LT(bytes.size(), 1000U);
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive);
  EXPECT_EQ(text_of(*archive, "x", 200'000), content);
}

TEST(Zip, StopsAtTheLimit) {
  ZipWriter writer;
  writer.add_deflated("bomb", std::string(100'000, 'x'));
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  EXPECT_EQ(text_of(*archive, "bomb", 99'999), "member 'bomb': has 100000 bytes, more than 99999");
}

// What the directory says is not what comes out.
TEST(Zip, RefusesMembersLongerOrShorterThanTheySay) {
  for (const int difference : {-1, 1}) {
    ZipWriter writer;
    writer.add_deflated("x", "hello hello hello hello", {.more = difference});
    const std::string bytes = writer.finish();
    const auto archive = ZipArchive::open(bytes);
    ASSERT_TRUE(archive);
    EXPECT_EQ(text_of(*archive, "x"), "member 'x': its compressed bytes are damaged") << difference;
  }
}

// Its stream goes on in what lies behind it.
TEST(Zip, RefusesMembersThatReadBeyondTheirEnd) {
  ZipWriter writer;
  writer.add_deflated("x", "hello hello hello hello", {.less_stored = 1});
  writer.add("y", "something else");
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive);
  EXPECT_EQ(text_of(*archive, "x"), "member 'x': its compressed bytes are damaged");
}

TEST(Zip, TellsATextThatAMemberWouldHold) {
  ZipWriter writer;
  writer.add_deflated("x", "hello hello");
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive);
  const ZipMember& member = archive->members()[0];
  EXPECT_TRUE(member.fits("hello hello"));
  EXPECT_FALSE(member.fits("hello yello"));
  EXPECT_FALSE(member.fits("hello"));
}

TEST(Zip, FindsByTheEndOfAName) {
  ZipWriter writer;
  writer.add("net/models/model.json", "first");
  writer.add("other/models/model.json", "second");
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive);
  EXPECT_EQ(archive->find_ending("/models/model.json"), archive->members().data());
  EXPECT_EQ(archive->find_ending("/weights"), nullptr);
  EXPECT_EQ(archive->find("model.json"), nullptr);
}

TEST(Zip, OfTwoMembersOfOneNameTheFirstCounts) {
  ZipWriter writer;
  writer.add("x", "first");
  writer.add("x", "second");
  const std::string bytes = writer.finish();
  EXPECT_EQ(text_of(*ZipArchive::open(bytes), "x"), "first");
}

TEST(Zip, NamesAreNames) {
  ZipWriter writer;
  writer.add("../../etc/passwd", "harmless");
  writer.add("/tmp/x", "too");
  const std::string bytes = writer.finish();
  EXPECT_EQ(text_of(*ZipArchive::open(bytes), "../../etc/passwd"), "harmless");
}

TEST(Zip, ReadsZip64) {
  ZipWriter writer;
  writer.add("big", "content");
  const std::string bytes = writer.finish_zip64();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive) << archive.error().text();
  EXPECT_EQ(text_of(*archive, "big"), "content");
}

TEST(Zip, ReadsAnEmptyArchive) {
  const std::string bytes = ZipWriter().finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive);
  EXPECT_TRUE(archive->members().empty());
}

TEST(Zip, RefusesWhatIsEncryptedOrOfAnotherMethod) {
  ZipWriter writer;
  writer.add("lzma", "x", {.method = 14, .flags = 0, .size = {}});
  writer.add("secret", "x", {.method = 0, .flags = 1, .size = {}});
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_TRUE(archive);
  for (const std::string_view name : {"lzma", "secret"}) {
    EXPECT_NE(text_of(*archive, name).find("encrypted or compressed in a way"), std::string::npos) << name;
  }
}

TEST(Zip, RefusesMembersThatReachBeyondTheFile) {
  ZipWriter writer;
  writer.add("x", "hello", {.method = 0, .flags = 0, .size = 1'000'000});
  const std::string bytes = writer.finish();
  const auto archive = ZipArchive::open(bytes);
  ASSERT_FALSE(archive);
  EXPECT_EQ(archive.error().text(), "member 'x': reaches beyond the end of the file: cut off?");
}

// Whatever is missing at the end, or changed in one byte: an error or an archive, never more.
TEST(Zip, BrokenArchivesAreErrors) {
  ZipWriter writer;
  writer.add("a", "hello");
  writer.add_deflated("b", std::string(1000, 'x'));
  for (const std::string& whole : {writer.finish(), writer.finish_zip64()}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_FALSE(ZipArchive::open(std::string_view(whole).substr(0, length))) << length;
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string broken = whole;
      broken[i] = static_cast<char>(broken[i] ^ '\xFF');
      const auto archive = ZipArchive::open(broken);
      if (!archive) continue;
      for (const ZipMember& member : archive->members()) {
        const auto text = ZipArchive::read(member, 2000);
        EXPECT_LE(text ? text->view().size() : 0U, 2000U);
      }
    }
  }
}

}  // namespace
}  // namespace joulecast
