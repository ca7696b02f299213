// SPDX-License-Identifier: Apache-2.0
#include "measure/calibration_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace joulecast {
namespace {

StoredLine line(const std::string& uuid, const std::string& source, double gain) {
  StoredLine out;
  out.card = {uuid, "Made \"Up\" \\ GPU\n", source, "wall", {}};
  out.card.line.gain = gain;
  out.card.line.offset = Watts{-1.25};
  out.card.line.gain_standard_error = 0.001;
  out.card.line.offset_standard_error = Watts{0.1};
  out.card.line.residual_deviation = Watts{0.3};
  out.card.line.r2 = 0.999;
  out.card.line.points = 40;
  out.card.line.centre = Watts{150};
  out.fitted_utc = "2026-05-07T20:08:19.000Z";
  return out;
}

class Store : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string folder_ = testing::TempDir() + "calibration_store_" + std::to_string(::getpid());
  std::string path_ = folder_ + "/joulecast/calibration.toml";
};

TEST_F(Store, KeepsWhatWasSaved) {
  ASSERT_TRUE(save_calibration(path_, {line("GPU-1a", "nvml-instant", 0.95), line("GPU-1a", "nvml-counter", 1)}));
  const auto lines = load_calibration(path_).value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].card.name, "Made \"Up\" \\ GPU\n");
  EXPECT_DOUBLE_EQ(lines[0].card.line.gain, 0.95);
  EXPECT_DOUBLE_EQ(lines[0].card.line.offset.value(), -1.25);
  EXPECT_DOUBLE_EQ(lines[0].card.line.residual_deviation->value(), 0.3);
  EXPECT_EQ(lines[0].card.line.points, 40U);
  EXPECT_EQ(lines[1].fitted_utc, "2026-05-07T20:08:19.000Z");
}

TEST_F(Store, ReplacesTheLineOfTheSameCardAndSourceAlone) {
  ASSERT_TRUE(save_calibration(path_, {line("GPU-1a", "nvml-instant", 0.95), line("GPU-2b", "nvml-instant", 0.9)}));
  ASSERT_TRUE(save_calibration(path_, {line("GPU-1a", "nvml-instant", 0.97)}));
  const auto lines = load_calibration(path_).value();
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_DOUBLE_EQ(lines[0].card.line.gain, 0.9);
  EXPECT_DOUBLE_EQ(lines[1].card.line.gain, 0.97);
  // Nothing else is left in the folder.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/joulecast"), {}), 1);
}

TEST_F(Store, AFileThatCannotBeReadIsNotReplaced) {
  std::filesystem::create_directories(folder_ + "/joulecast");
  std::ofstream(path_) << "schema = \"joulecast.calibration/2\"\n";
  EXPECT_FALSE(save_calibration(path_, {line("GPU-1a", "nvml-instant", 0.95)}));
  EXPECT_EQ(std::filesystem::file_size(path_), 35U);
}

TEST_F(Store, WithoutUuidNothingIsSaved) {
  EXPECT_FALSE(save_calibration(path_, {line("", "nvml-instant", 0.95)}));
  EXPECT_TRUE(load_calibration(path_).value().empty());
}

TEST(Calibration, BadFilesSayWhere) {
  const auto text = [](const std::string& body) {
    const auto out = parse_calibration("schema = \"joulecast.calibration/1\"\n" + body, "c.toml");
    return out ? std::string("good") : out.error().text();
  };
  EXPECT_EQ(text(""), "good");
  EXPECT_NE(text("[[line]]\nuuid = \"GPU-1\"\nsource = \"x\"\ngain = 0\noffset_w = 1\n").find("c.toml: line 2"),
            std::string::npos);
  EXPECT_NE(text("[[line]\n").find("c.toml: line 2"), std::string::npos);
  EXPECT_NE(text("line = [1]\n").find("[[line]]"), std::string::npos);
}

}  // namespace
}  // namespace joulecast
