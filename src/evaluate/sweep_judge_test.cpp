// SPDX-License-Identifier: Apache-2.0
// Packs that know settings alone, of no swept GPU.
#include "evaluate/sweep_judge.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "dataset/table.h"
#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using settings::SettingsModel;

SweepJudge judge_with(const SettingsModel* model) {
  PackWriter writer;
  if (model != nullptr) {
    EXPECT_TRUE(writer.add_table(std::string(pack_names::kSettings), model->numbers()));
  } else {
    EXPECT_TRUE(writer.add_table("other", {{"x", 1.0}}));
  }
  const std::string path = testing::TempDir() + "sweep_judge_test" + std::to_string(::getpid()) + ".jcpack";
  EXPECT_TRUE(writer.write(path));
  SweepJudge judge = SweepJudge::open(path, Catalogue::shipped()).value();
  std::filesystem::remove(path);
  return judge;
}

void read_sweep(const TableSink& sink) {
  std::string text =
      "gpu,dataset,network,batch_size,optimizer,power_limit_w,time_per_epoch_s,average_power_w,energy_per_epoch_j\n";
  for (const char* limit : {"250", "125", "150", "200", "250"})
    text += std::string("V100,d,net,8,adam,") + limit + ",50,240,1\n";
  EXPECT_TRUE(parse_table(text, "sweep.csv", sink));
}

std::vector<JudgedRow> judged(const SweepJudge& judge) {
  settings::SweepRows rows;
  TableSink sink;
  sink.other = [&](const MeasuredOther& row) {
    EXPECT_TRUE(judge.takes(row));
    rows.add(row);
  };
  read_sweep(sink);
  const settings::SweepSet sweeps = rows.sweeps(judge.catalogue());
  EXPECT_EQ(sweeps.sweeps.size(), 1U);
  return judge.judge(sweeps.sweeps.front());
}

double width(const JudgedQuantity& q) {
  EXPECT_NEAR(q.hi / q.found, q.found / q.lo, 1e-9);
  return std::log(q.hi / q.found);
}

// As with `predict --measured`: 2 % of time and 3 % of power.
TEST(SweepJudge, BoundsHoldTheErrorOfTheKnownSettingWhereSettingsAddNothing) {
  SettingsModel model;
  model.set_widths(false, false, {.time = 1e-9, .power = 1e-9, .energy = 1e-9});
  const std::vector<JudgedRow> rows = judged(judge_with(&model));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].support, "unseen-gpu");
  EXPECT_EQ(rows[0].batch, 8);
  EXPECT_FALSE(rows[0].precision.has_value()) << "Zeus does not say";
  EXPECT_NEAR(width(*rows[0].time), 1.645 * 0.02, 1e-6);
  EXPECT_NEAR(width(*rows[0].power), 1.645 * 0.03, 1e-6);
  EXPECT_NEAR(width(*rows[0].energy), 1.645 * std::hypot(0.02, 0.03), 1e-6);
}

// The highest setting was run twice: it is known, and foretells nothing of itself.
TEST(SweepJudge, BoundsWidenAwayFromTheKnownSetting) {
  SettingsModel model;
  model.set_widths(false, false, {.time = 0.5, .power = 0.25, .energy = 0.5});
  const std::vector<JudgedRow> rows = judged(judge_with(&model));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].line, 3U) << "125 W";
  EXPECT_EQ(rows[2].line, 5U) << "200 W";
  EXPECT_GT(width(*rows[0].time), 1.5 * width(*rows[2].time));
  EXPECT_GT(width(*rows[0].time), width(*rows[0].power));
}

TEST(SweepJudge, APackWithoutALawOfSettingsTakesNone) {
  const SweepJudge judge = judge_with(nullptr);
  std::size_t offered = 0;
  TableSink sink;
  sink.other = [&](const MeasuredOther& row) {
    ++offered;
    EXPECT_FALSE(judge.takes(row));
  };
  read_sweep(sink);
  EXPECT_EQ(offered, 5U);
}

}  // namespace
}  // namespace joulecast
