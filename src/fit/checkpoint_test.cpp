// SPDX-License-Identifier: Apache-2.0
#include "fit/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace joulecast {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  ~CheckpointTest() override { fs::remove_all(out_ + ".checkpoint"); }

  // The number in the piece of this name and key; where it had to be made, it is `number`.
  double piece(std::uint64_t key, double number) {
    Checkpoint checkpoint(out_, [&](const std::string& line) { said_ += line + "\n"; });
    const auto piece = checkpoint.piece("conv", key, [&]() -> Result<PackWriter> {
      PackWriter made;
      JC_RETURN_IF_ERROR(made.add_table("numbers", {{"n", number}}));
      return made;
    });
    EXPECT_TRUE(piece) << piece.error().text();
    return piece ? piece->pack.number("numbers", "n").value_or(-1.0) : -1.0;
  }

  // Tests run side by side.
  std::string out_ = testing::TempDir() + "checkpoint_test_" + std::to_string(::getpid()) + ".jcpack";
  std::string file_ = out_ + ".checkpoint/conv.piece";
  std::string said_;
};

TEST_F(CheckpointTest, APieceIsMadeOnceAKey) {
  EXPECT_EQ(piece(7, 1.0), 1.0);
  EXPECT_EQ(said_, "");
  EXPECT_EQ(piece(7, 2.0), 1.0);
  EXPECT_EQ(said_, "conv: taken from " + file_ + "\n");
  EXPECT_EQ(piece(8, 3.0), 3.0) << "other rows";
  EXPECT_NE(said_.find("conv: checkpoint not used: " + file_ + ": of another training\n"), std::string::npos) << said_;
  EXPECT_EQ(piece(8, 4.0), 3.0);
}

TEST_F(CheckpointTest, ADamagedPieceIsMadeAnew) {
  piece(7, 1.0);
  std::string bytes;
  {
    std::ifstream in(file_, std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  // Cut off anywhere, and any byte changed.
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
    std::ofstream(file_, std::ios::binary) << bytes.substr(0, cut);
    EXPECT_EQ(piece(7, 2.0), 2.0) << cut;
  }
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string broken = bytes;
    broken[i] = static_cast<char>(broken[i] ^ 0x10);
    std::ofstream(file_, std::ios::binary) << broken;
    const double found = piece(7, 2.0);
    // Padding between sections is in no sum.
    EXPECT_TRUE(found == 2.0 || found == 1.0) << i;
  }
  EXPECT_NE(said_.find("checkpoint not used"), std::string::npos);
}

TEST_F(CheckpointTest, SomebodyElsesPackIsNotUsed) {
  fs::create_directories(out_ + ".checkpoint");
  PackWriter other;
  ASSERT_TRUE(other.write(file_));
  EXPECT_EQ(piece(7, 2.0), 2.0);
  EXPECT_NE(said_.find("of another training"), std::string::npos) << said_;
}

TEST_F(CheckpointTest, RemoveLeavesWhatIsNotOurs) {
  piece(7, 1.0);
  Checkpoint checkpoint(out_, [](const std::string&) {});
  std::ofstream(out_ + ".checkpoint/notes.txt") << "mine";
  std::ofstream(file_ + ".123-0") << "half a piece";
  checkpoint.remove();
  EXPECT_TRUE(fs::exists(out_ + ".checkpoint/notes.txt"));
  EXPECT_FALSE(fs::exists(file_));
  EXPECT_FALSE(fs::exists(file_ + ".123-0"));
  fs::remove(out_ + ".checkpoint/notes.txt");
  checkpoint.remove();
  EXPECT_FALSE(fs::exists(out_ + ".checkpoint"));
}

// A folder that cannot be made stops no training.
TEST_F(CheckpointTest, WorkGoesOnWhereNothingCanBeKept) {
  std::ofstream(out_ + ".checkpoint") << "a file";
  EXPECT_EQ(piece(7, 1.0), 1.0);
  EXPECT_NE(said_.find("no checkpoint is kept: "), std::string::npos) << said_;
  fs::remove(out_ + ".checkpoint");
}

TEST(ContentKey, ChangesWithEverythingAdded) {
  const auto key = [](std::string_view text, double number, std::vector<float> numbers) {
    ContentKey out;
    out.add(text);
    out.add(number);
    out.add(std::span<const float>(numbers));
    return out.value();
  };
  const std::uint64_t one = key("a", 1.0, {1.0F, 2.0F});
  EXPECT_EQ(one, key("a", 1.0, {1.0F, 2.0F}));
  EXPECT_NE(one, key("b", 1.0, {1.0F, 2.0F}));
  EXPECT_NE(one, key("a", 1.5, {1.0F, 2.0F}));
  EXPECT_NE(one, key("a", 1.0, {1.0F, 3.0F}));
  EXPECT_NE(one, key("", 1.0, {1.0F, 2.0F}));
}

}  // namespace
}  // namespace joulecast
