// SPDX-License-Identifier: Apache-2.0
#include "predict/pack/pack.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "predict/pack/layout.h"
#include "predict/pack/reseal.h"
#include "predict/pack/writer.h"
#include "predict/trees/random_forest.h"

namespace joulecast {
namespace {

// Bytes where a pack may lie: aligned as a mapping would be.
class Bytes {
 public:
  explicit Bytes(std::span<const std::byte> bytes) : words_(bytes.size() / 8 + 1), size_(bytes.size()) {
    if (size_ > 0) std::memcpy(words_.data(), bytes.data(), size_);
  }
  std::span<std::byte> span() { return std::as_writable_bytes(std::span(words_)).first(size_); }

 private:
  std::vector<std::uint64_t> words_;
  std::size_t size_;
};

PackWriter example() {
  PackWriter writer;
  EXPECT_TRUE(writer.add_json("report", R"({"error": 0.1})"));
  EXPECT_TRUE(writer.add_forest("time", RandomForest(1).forest(3, 2, 3)));
  EXPECT_TRUE(writer.add_forest("power", RandomForest(2).forest(2, 1, 2)));
  EXPECT_TRUE(writer.add_table("compose", {{"launch_s", 4.5e-6}, {"host_s", 2e-5}, {"", -1.0}}));
  EXPECT_TRUE(writer.add_table("empty", {}));
  return writer;
}

// Everything a pack says, as one text.
std::string told(const Pack& pack) {
  std::string text;
  for (const auto name : pack.forests()) {
    const auto forest = pack.forest(name);
    if (!forest) return forest.error().text();
    const std::vector<float> row(forest->feature_count(), 0.5F);
    float out = 0.0F;
    forest->predict(row, 1, {&out, 1});
    text += fmt::format("{} {} {}\n", name, fmt::join(forest->feature_names(), ","), out);
  }
  for (const auto name : pack.tables()) {
    const auto table = pack.table(name);
    if (!table) return table.error().text();
    for (std::size_t i = 0; i < table->size(); ++i)
      text += fmt::format("{} {} {}\n", name, table->key(i), table->value(i));
  }
  for (const auto name : pack.jsons()) text += pack.json(name).value_or("damaged");
  return text;
}

std::string temporary_path(const char* name) {
  return (std::filesystem::temp_directory_path() / fmt::format("joulecast-{}-{}", ::getpid(), name)).string();
}

TEST(Pack, HoldsWhatWasWritten) {
  const std::string path = temporary_path("round.jcpack");
  ASSERT_TRUE(example().write(path));
  const auto pack = Pack::open(path);
  std::filesystem::remove(path);  // the mapping stays
  ASSERT_TRUE(pack) << pack.error().text();
  EXPECT_TRUE(pack->verify());
  EXPECT_EQ(pack->forests(), (std::vector<std::string_view>{"power", "time"}));
  EXPECT_EQ(pack->json("report").value(), R"({"error": 0.1})");
  EXPECT_EQ(pack->number("compose", "launch_s").value(), 4.5e-6);
  EXPECT_EQ(pack->number("compose", "").value(), -1.0);
  EXPECT_EQ(pack->table("empty")->size(), 0U);

  const Forest forest = RandomForest(1).forest(3, 2, 3);
  const auto view = pack->forest("time");
  ASSERT_TRUE(view) << view.error().text();
  const std::vector<float> row = {1.0F, -2.0F, 0.5F};
  float out = 0.0F;
  view->predict(row, 1, {&out, 1});
  EXPECT_EQ(out, predict(forest, row));
  EXPECT_EQ(view->feature_names()[2], forest.features[2]);
}

TEST(PackWriter, WhetherAFileCanBeWrittenIsKnownBefore) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "pack_writable";
  std::filesystem::create_directories(folder);
  EXPECT_TRUE(PackWriter::check_writable(folder / "new.jcpack"));
  EXPECT_TRUE(std::filesystem::is_empty(folder)) << "asking leaves nothing behind";
  const auto nowhere = PackWriter::check_writable(folder / "no" / "new.jcpack");
  ASSERT_FALSE(nowhere);
  EXPECT_TRUE(nowhere.error().text().ends_with("no/new.jcpack: No such file or directory"));
  const auto taken = PackWriter::check_writable(folder);
  ASSERT_FALSE(taken);
  EXPECT_TRUE(taken.error().text().ends_with("pack_writable: a folder"));
  EXPECT_FALSE(PackWriter::check_writable("/dev/null")) << "it would no longer be a device";
}

TEST(Pack, SaysWhatIsNotThere) {
  Bytes bytes(example().bytes());
  const auto pack = Pack::over(bytes.span());
  ASSERT_TRUE(pack);
  EXPECT_EQ(pack->forest("memory").error().text(), "the predictor pack has no forest 'memory'");
  EXPECT_EQ(pack->forest("compose").error().code(), ErrorCode::kNotFound);  // of another kind
  EXPECT_EQ(pack->number("compose", "launch").error().text(), "table 'compose' of the predictor pack has no 'launch'");
  EXPECT_EQ(pack->number("compose", "zzz").error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(pack->number("empty", "a").error().code(), ErrorCode::kNotFound);
}

TEST(Pack, SameSectionsSameBytes) {
  PackWriter other;
  EXPECT_TRUE(other.add_json("b", "{}"));
  EXPECT_TRUE(other.add_json("a", "[]"));
  PackWriter again;
  EXPECT_TRUE(again.add_json("a", "[]"));
  EXPECT_TRUE(again.add_json("b", "{}"));
  EXPECT_EQ(other.bytes(), again.bytes());
}

TEST(Pack, WithoutSectionsIsAPack) {
  Bytes bytes(PackWriter().bytes());
  const auto pack = Pack::over(bytes.span());
  ASSERT_TRUE(pack) << pack.error().text();
  EXPECT_TRUE(pack->forests().empty());
}

TEST(Pack, RefusesOtherFiles) {
  const std::string path = temporary_path("other.jcpack");
  std::ofstream(path) << "PK not a pack, but longer than a header would be";
  EXPECT_EQ(Pack::open(path).error().text(), path + ": not a predictor pack");
  std::ofstream(path).close();
  EXPECT_EQ(Pack::open(path).error().text(), path + ": not a predictor pack");
  std::filesystem::remove(path);
  EXPECT_EQ(Pack::open(path).error().code(), ErrorCode::kNotFound);
}

// A newer pack may be laid out in any way behind magic and version.
TEST(Pack, SaysThatANewerOneNeedsANewerProgram) {
  const std::string newer = std::string("JCPACK\r\n") + '\3' + std::string(3, '\0') + "whatever";
  Bytes bytes{std::as_bytes(std::span{newer})};
  const auto pack = Pack::over(bytes.span());
  ASSERT_FALSE(pack);
  EXPECT_EQ(pack.error().code(), ErrorCode::kUnsupported);
  EXPECT_EQ(pack.error().text(), "made by a newer joulecast (pack format 3, this program reads 1): update joulecast");
}

TEST(Pack, RefusesEveryTruncationAndExtension) {
  const auto good = example().bytes();
  for (std::size_t size = 0; size < good.size(); ++size) {
    Bytes bytes{std::span{good}.first(size)};
    EXPECT_FALSE(Pack::over(bytes.span())) << size;
  }
  auto longer = good;
  longer.push_back(std::byte{0});
  Bytes bytes(longer);
  EXPECT_FALSE(Pack::over(bytes.span()));
}

// A flipped bit is found, or lies between sections where nobody reads.
TEST(Pack, EveryFlippedBitIsFoundOrUnused) {
  const auto good = example().bytes();
  Bytes original(good);
  const std::string expected = told(*Pack::over(original.span()));
  std::size_t unused = 0;
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    Bytes bytes(good);
    bytes.span()[bit / 8] ^= std::byte{1} << (bit % 8);
    const auto pack = Pack::over(bytes.span());
    if (!pack || !pack->verify()) continue;
    EXPECT_EQ(told(*pack), expected) << "bit " << bit;
    ++unused;
  }
  EXPECT_LT(unused, 8U * 5 * 63);  // less than an alignment a section
}

// Damage that comes with right checksums: refused or answered, never read outside (the sanitizers watch).
TEST(Pack, DamageBehindTheChecksumsLeadsNowhereElse) {
  const auto good = example().bytes();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (const unsigned value : {0x00U, 0x01U, 0x7fU, 0x80U, 0xffU}) {
      Bytes bytes(good);
      bytes.span()[at] = static_cast<std::byte>(value);
      reseal(bytes.span());
      const auto pack = Pack::over(bytes.span());
      if (!pack || !pack->verify()) {
        ++refused;
      } else {
        told(*pack);
      }
    }
  }
  EXPECT_GT(refused, 0U);
}

TEST(Pack, DamageNamesTheSection) {
  Bytes bytes(example().bytes());
  bytes.span().back() ^= std::byte{1};  // the last section is the text
  const auto pack = Pack::over(bytes.span());
  ASSERT_TRUE(pack);
  EXPECT_TRUE(pack->forest("time"));  // the others are still good
  EXPECT_EQ(pack->json("report").error().text(),
            "the predictor pack is damaged: the checksum of its text 'report' differs");
  EXPECT_FALSE(pack->verify());
}

TEST(PackWriter, RefusesWhatAPackCannotHold) {
  PackWriter writer;
  EXPECT_FALSE(writer.add_json("", "{}"));
  EXPECT_FALSE(writer.add_json(std::string(64, 'x'), "{}"));
  EXPECT_TRUE(writer.add_json(std::string(63, 'x'), "{}"));
  EXPECT_FALSE(writer.add_json(std::string(63, 'x'), "{}"));
  EXPECT_FALSE(writer.add_json(std::string("a\0b", 3), "{}"));
  EXPECT_FALSE(writer.add_table("t", {{"x", std::nan("")}}));
  EXPECT_FALSE(writer.add_forest("f", Forest{}));
}

TEST(PackWriter, LeavesNothingWhereItCannotWrite) {
  const std::string folder = temporary_path("folder");
  std::filesystem::create_directories(folder + "/taken/full");
  const auto no_folder = example().write(folder + "/none/a.jcpack");
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().code(), ErrorCode::kIo);
  EXPECT_NE(no_folder.error().text().find("/none/a.jcpack: No such file"), std::string::npos);
  EXPECT_FALSE(example().write(folder + "/taken"));  // a folder in the way
  std::size_t entries = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder)) ++entries;
  EXPECT_EQ(entries, 1U);
  std::filesystem::remove_all(folder);
}

TEST(PackWriter, ReplacesAnOlderFileAndObeysTheUmask) {
  const std::string path = temporary_path("replace.jcpack");
  std::ofstream(path) << "old";
  const mode_t before = ::umask(027);
  const auto written = example().write(path);
  ::umask(before);
  ASSERT_TRUE(written) << written.error().text();
  struct stat info {};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0640U);
  EXPECT_TRUE(Pack::open(path));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace joulecast
