// SPDX-License-Identifier: Apache-2.0
// The result functions on a published sweep of power limits (Zeus, NSDI 2023): the table itself in
// $JOULECAST_SHARED_DATA or ../shared/data beside the sources, the answers as they were derived from it independently.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "measure/sweep_load.h"
#include "measure/sweep_result.h"
#include "series/moments.h"

namespace joulecast {
namespace {

std::string table_path() {
  const char* set = std::getenv("JOULECAST_SHARED_DATA");
  const std::string folder = set != nullptr ? set : JOULECAST_SOURCE_DIR "/../shared/data";
  return folder + "/power/zeus_power_limit_sweep.csv";
}

struct OfGpu {
  std::vector<double> energy_limit, edp_limit, saved, slower, r2_parabola, r2_cubic;
  std::size_t lowest_is_best = 0;
};

std::map<std::string, OfGpu> judged() {
  std::map<std::string, OfGpu> out;
  const auto groups = judge_sweep(load_any_sweep(table_path())->runs);
  for (const SweepGroup& group : *groups) {
    if (group.settings.size() < 4) continue;
    OfGpu& gpu = out[group.group.substr(0, group.group.find('/'))];
    const SweepSetting& best = group.settings[group.optima[1].setting];
    gpu.energy_limit.push_back(*best.limit_w);
    gpu.edp_limit.push_back(*group.settings[group.optima[2].setting].limit_w);
    gpu.saved.push_back(group.optima[1].gain_percent);
    gpu.slower.push_back(best.differences[0] ? best.differences[0]->percent : 0);
    gpu.lowest_is_best += group.optima[1].setting == 0 ? 1 : 0;
    for (const SweepCurve& curve : group.curves) {
      if (curve.goal != SweepGoal::kEnergy || !curve.fit.fit.r2) continue;
      (curve.degree == 2 ? gpu.r2_parabola : gpu.r2_cubic).push_back(*curve.fit.fit.r2);
    }
  }
  return out;
}

// As published for the whole table. What of it is there is nearly all: medians of the rest move by a step of 25 W, and
// percentages by a few points.
struct Published {
  const char* gpu;
  std::size_t curves, lowest_is_best;
  double energy_limit, edp_limit, saved, slower, r2_parabola, r2_cubic;
};
constexpr double kStep = 25, kPoints = 3, kR2 = 0.065;

TEST(PublishedSweep, OptimaAreThePublishedOnes) {
  if (!std::filesystem::exists(table_path())) {
    GTEST_SKIP() << table_path() << " is not there (set JOULECAST_SHARED_DATA)";
  }
  auto gpus = judged();
  for (const Published& published : {Published{"V100", 68, 24, 125, 150, 22.6, 19.7, 0.952, 0.992},
                                     Published{"A40", 53, 8, 175, 200, 19.0, 7.2, 0.785, 0.948},
                                     Published{"P100", 45, 31, 125, 150, 12.0, 5.7, 0.956, 0.977}}) {
    SCOPED_TRACE(published.gpu);
    ASSERT_TRUE(gpus.contains(published.gpu));
    const OfGpu& gpu = gpus[published.gpu];
    EXPECT_GE(gpu.energy_limit.size(), published.curves * 4 / 5);
    EXPECT_LE(gpu.energy_limit.size(), published.curves);
    EXPECT_LE(gpu.lowest_is_best, published.lowest_is_best);
    EXPECT_EQ(series::median(gpu.energy_limit), published.energy_limit);
    EXPECT_NEAR(*series::median(gpu.edp_limit), published.edp_limit, kStep);
    EXPECT_NEAR(*series::median(gpu.saved), published.saved, kPoints);
    EXPECT_NEAR(*series::median(gpu.slower), published.slower, kPoints);
    EXPECT_NEAR(*series::median(gpu.r2_parabola), published.r2_parabola, kR2);
    EXPECT_NEAR(*series::median(gpu.r2_cubic), published.r2_cubic, kR2);
  }
}

// The same table by the obvious way: its own columns, the least of each.
TEST(PublishedSweep, EveryOptimumIsTheLeastOfItsColumn) {
  if (!std::filesystem::exists(table_path())) {
    GTEST_SKIP() << table_path() << " is not there (set JOULECAST_SHARED_DATA)";
  }
  const std::vector<SweepMeasurement> runs = load_any_sweep(table_path())->runs;
  const auto groups = judge_sweep(runs);
  ASSERT_TRUE(groups) << groups.error().text();
  for (const SweepGroup& group : *groups) {
    for (const SweepOptimum& optimum : group.optima) {
      double least = 1e300, limit = 0;
      for (const SweepMeasurement& run : runs) {
        if (run.group != group.group || value_of(run, optimum.goal) >= least) continue;
        least = value_of(run, optimum.goal);
        limit = *run.limit_w;
      }
      EXPECT_EQ(group.settings[optimum.setting].limit_w, limit) << group.group << name_of(optimum.goal);
      EXPECT_NE(optimum.verdict, SweepVerdict::kGain) << "every cell was measured once: nothing tells chance from gain";
    }
  }
}

}  // namespace
}  // namespace joulecast
