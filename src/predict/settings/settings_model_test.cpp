// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/settings_model.h"

#include <gtest/gtest.h>

#include "predict/pack/writer.h"

namespace joulecast::settings {
namespace {

Gpu board(std::string_view id, std::string_view memory, std::string_view capability) {
  Gpu gpu;
  gpu.id = id;
  gpu.memory_type = memory;
  gpu.compute_capability = capability;
  return gpu;
}

Result<SettingsModel> through_pack(const std::map<std::string, double>& numbers) {
  PackWriter writer;
  EXPECT_TRUE(writer.add_table("settings", numbers));
  const std::vector<std::byte> bytes = writer.bytes();
  const auto pack = Pack::over(bytes);
  EXPECT_TRUE(pack);
  return SettingsModel::from(*pack->table("settings"));
}

TEST(SettingsModel, ComesBackFromAPack) {
  SettingsModel model;
  const Gpu gpu = board("a", "HBM2", "7.0");
  model.add(gpu, {.static_power = 0.21, .low_power = 0.12, .knee = 0.62, .slope = 1.4, .unevenness = 0.6}, true);
  model.set_prior({3, 3, 700});
  model.set_widths(false, true, {.time = 0.1, .power = 0.2, .energy = 0.3});
  const auto read = through_pack(model.numbers());
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(read->constants(gpu), model.constants(gpu));
  EXPECT_EQ(read->prior(), model.prior());
  EXPECT_TRUE(read->swept(gpu));
  EXPECT_EQ(read->widths(board("other", "", ""), true).energy, 0.3);
  EXPECT_EQ(read->widths(gpu, true).energy, SettingWidths().energy);
}

TEST(SettingsModel, RefusesWhatMakesNoSense) {
  EXPECT_FALSE(through_pack({{"gpu/a/knee", 100.0}}));
  EXPECT_FALSE(through_pack({{"gpu/a/unknown", 0.5}}));
  EXPECT_FALSE(through_pack({{"prior/000", 1e6}}));
  EXPECT_FALSE(through_pack({{"prior/000", 1.5}}));
  EXPECT_FALSE(through_pack({{"else", 1.0}}));
  EXPECT_FALSE(through_pack({{"width/swept/predicted/else", 1.0}}));
  EXPECT_FALSE(through_pack({{"width/swept/predicted/time", -1.0}}));
  // Of which the law would divide nothing by nothing, or draw less than nothing.
  EXPECT_FALSE(through_pack({{"gpu/a/static_power", 1.0}, {"gpu/a/held", 1.0}, {"gpu/a/unevenness", 1.0}}));
  EXPECT_FALSE(through_pack({{"gpu/a/knee", 2.0}, {"gpu/a/slope", 1.0}}));
  EXPECT_FALSE(through_pack({{"gpu/a/held", 0.1}}));
  EXPECT_FALSE(through_pack({{"gpu/a/lowest_clock", 0.0}}));
  EXPECT_TRUE(through_pack({{"gpu/a/held", 0.9}}));
}

// Two swept boards and the centre: (1 centre + 4 alike + 1 other) / 6.
TEST(SettingsModel, UnknownBoardResemblesThoseOfItsMemoryAndChip) {
  SettingsModel model;
  const GpuConstants centre;
  model.add(board("a", "HBM2", "8.0"), {.static_power = 0.15, .knee = 0.8, .unevenness = 0.9}, false);
  model.add(board("b", "GDDR6", "8.6"), {.static_power = 0.33, .knee = 0.6, .unevenness = 0.3}, true);
  const GpuConstants stacked = model.constants(board("c", "HBM2e", "8.6"));
  EXPECT_NEAR(stacked.static_power, (centre.static_power + 4 * 0.15 + 0.33) / 6, 1e-12);
  EXPECT_NEAR(stacked.knee, (centre.knee + 0.8 + 4 * 0.6) / 6, 1e-12);
  // The first was never swept by limits, so its unevenness says nothing.
  EXPECT_NEAR(stacked.unevenness, (centre.unevenness + 4 * 0.3) / 5, 1e-12);
}

// One was swept: others of its process take four fifths of it and a fifth of the centre, what is not takes half.
TEST(SettingsModel, ProcessesGoByGenerations) {
  const auto alike = [](std::string_view swept, std::string_view asked) {
    SettingsModel model;
    model.add(board("a", "HBM2", swept), {.knee = 0.6}, true);
    const double knee = model.constants(board("c", "GDDR6", asked)).knee;
    EXPECT_NEAR(knee, knee < 0.63 ? (GpuConstants().knee + 4 * 0.6) / 5 : (GpuConstants().knee + 0.6) / 2, 1e-12);
    return knee < 0.63;
  };
  EXPECT_TRUE(alike("3.5", "5.2"));
  EXPECT_TRUE(alike("8.6", "8.7"));
  EXPECT_TRUE(alike("8.9", "9.0"));
  EXPECT_TRUE(alike("9.0", "12.0"));
  EXPECT_FALSE(alike("5.2", "6.1"));
  EXPECT_FALSE(alike("8.0", "8.6"));
  EXPECT_FALSE(alike("8.7", "8.9"));
  EXPECT_FALSE(alike("8.0", "7.5"));
}

// Of Pascal, Volta and Turing, made in TSMC's 16 and 12 nm, one was swept, and one of another process.
TEST(SettingsModel, UnknownBoardResemblesThoseOfItsProcess) {
  SettingsModel model;
  const GpuConstants centre;
  model.add(board("a", "HBM2", "6.0"), {.knee = 0.6}, true);
  model.add(board("b", "HBM2", "8.0"), {.knee = 0.8}, true);
  for (const char* alike : {"6.1", "7.0", "7.5"})
    EXPECT_NEAR(model.constants(board("c", "GDDR6", alike)).knee, (centre.knee + 4 * 0.6 + 0.8) / 6, 1e-12) << alike;
  for (const char* other : {"5.2", "8.6", "8.9", "9.0", ""})
    EXPECT_NEAR(model.constants(board("c", "GDDR6", other)).knee, (centre.knee + 0.6 + 0.8) / 3, 1e-12) << other;
}

}  // namespace
}  // namespace joulecast::settings
