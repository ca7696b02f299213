// SPDX-License-Identifier: Apache-2.0
#include "fit/correction_fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

CorrectionPrior prior_of(double spread, double scatter) {
  CorrectionPrior out{.spread = {}, .scatter = scatter};
  out.spread.fill(spread);
  return out;
}

// Ten rows that scatter by a tenth around 0.01, and around 0.3.
TEST(CorrectionFit, RowsTellHowFarTheirGpuMayBeOff) {
  CorrectionTerms all{};
  all[0] = 1.0;
  const auto rows = [&](double level) {
    std::vector<Deviation> out;
    for (int i = 0; i < 10; ++i) out.push_back({.off = level + (i % 2 == 0 ? 0.1 : -0.1), .terms = all});
    return out;
  };
  const CorrectionPrior prior = prior_of(0.1, 0.1);
  EXPECT_NEAR(told_by(rows(0.01), prior).spread[0], 0.025, 1e-12);
  EXPECT_NEAR(told_by(rows(0.3), prior).spread[0], 0.1, 1e-12);
  EXPECT_EQ(told_by(rows(0.3), prior).scatter, prior.scatter);
  EXPECT_EQ(told_by({}, prior).spread[0], 0.1) << "nothing was told";
}

// Four equal rows of one term: the mean, shrunk by n / (n + scatter^2 / spread^2) = 4 / (4 + 4).
TEST(MostLikely, ShrinksTowardsWhatGpusAreLike) {
  CorrectionTerms only_all{};
  only_all[0] = 1.0;
  const std::vector<Deviation> rows(4, {.off = 0.1, .terms = only_all});
  const CorrectionTerms found = most_likely(rows, prior_of(0.05, 0.1));
  EXPECT_NEAR(found[0], 0.05, 1e-12);
  for (std::size_t i = 1; i < kCorrectionTerms; ++i) EXPECT_EQ(found[i], 0.0);
}

TEST(MostLikely, NothingMeasuredCorrectsNothing) {
  for (const double value : most_likely({}, prior_of(0.1, 0.1))) EXPECT_EQ(value, 0.0);
}

// Two terms that rows tell apart are found apart.
TEST(MostLikely, TellsTermsApart) {
  std::vector<Deviation> rows;
  for (int i = 0; i < 400; ++i) {
    Deviation d;
    d.terms[2] = i % 2 == 0 ? 1.0 : 0.0;
    d.terms[3] = 1.0 - d.terms[2];
    d.off = 0.2 * d.terms[2] - 0.1 * d.terms[3];
    rows.push_back(d);
  }
  const CorrectionTerms found = most_likely(rows, prior_of(0.2, 0.1));
  EXPECT_NEAR(found[2], 0.2, 0.002);
  EXPECT_NEAR(found[3], -0.1, 0.001);
}

TEST(MostLikely, AWildRowCountsLittle) {
  CorrectionTerms all{};
  all[0] = 1.0;
  std::vector<Deviation> rows(20, {.off = 0.0, .terms = all});
  rows.push_back({.off = 3.0, .terms = all});
  EXPECT_LT(most_likely(rows, prior_of(1.0, 0.05))[0], 0.01);  // the mean is 0.14
}

TEST(MostLikely, RowsCountByTheirWeightAndScatter) {
  CorrectionTerms all{};
  all[0] = 1.0;
  const std::vector<Deviation> four(4, {.off = 0.1, .terms = all});
  const double wanted = most_likely(four, prior_of(0.05, 0.1))[0];
  EXPECT_NEAR(most_likely({{.off = 0.1, .terms = all, .weight = 4}}, prior_of(0.05, 0.1))[0], wanted, 1e-12);
  EXPECT_NEAR(most_likely({{.off = 0.1, .terms = all, .scatter = 0.5}}, prior_of(0.05, 0.1))[0], wanted, 1e-12);
}

// Ten networks of two rows each, one of which is far off: without it the others agree, with it in no other way.
TEST(LeftOut, JudgesNetworksWithoutThemAndOperationsOneByOne) {
  CorrectionTerms all{};
  all[0] = 1.0;
  std::vector<Deviation> rows;
  for (std::size_t i = 0; i < 20; ++i) rows.push_back({.off = 0.1, .terms = all, .way = "w", .subject = 1 + i / 2});
  rows.push_back({.off = 0.5, .terms = all});
  const CorrectionPrior prior = prior_of(10, 0.1);
  const std::vector<LeftOut> left = left_out(rows, prior);
  ASSERT_EQ(left.size(), 21U);
  EXPECT_EQ(left[0].row, 20U);  // operations come first
  EXPECT_NEAR(left[0].off, 0.4, 1e-4);
  std::vector<Deviation> others(rows.begin() + 2, rows.end());
  const double without = most_likely(others, prior)[0];
  EXPECT_EQ(left[1].row, 0U);
  EXPECT_NEAR(left[1].off, 0.1 - without, 1e-12);
  EXPECT_NEAR(left[2].off, 0.1 - without, 1e-12);
}

// Three repeats of an operation that is far off, and seven others: none of the three speaks for the next.
TEST(LeftOut, JudgesRepeatsOfAnOperationWithoutEachOther) {
  CorrectionTerms all{};
  all[0] = 1.0;
  std::vector<Deviation> rows(3, {.off = 0.5, .terms = all, .operation = "wild"});
  for (std::size_t i = 0; i < 7; ++i) rows.push_back({.off = 0.1, .terms = all, .operation = std::to_string(i)});
  const CorrectionPrior prior = prior_of(10, 0.1);
  const std::vector<LeftOut> left = left_out(rows, prior);
  ASSERT_EQ(left.size(), 10U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(left[i].row, i);
    EXPECT_NEAR(left[i].off, 0.4, 1e-4);
  }
  const std::vector<Deviation> without(rows.begin(), rows.end() - 1);
  EXPECT_NEAR(left[9].off, 0.1 - most_likely(without, prior)[0], 1e-12);
}

TEST(LeftOut, TakesASampleOfMany) {
  CorrectionTerms all{};
  all[0] = 1.0;
  const std::vector<Deviation> rows(1000, Deviation{.off = 0.1, .terms = all});
  EXPECT_EQ(left_out(rows, prior_of(1, 1)).size(), 200U);
}

// 30 networks whose distances are 1 to 30 hundredths, in one way of two rows that weigh half: nine of ten and a bit
// more (0.9 * 31 / 30 = 0.93) lie within 28. Nineteen are too few.
TEST(NetworkWidths, HoldNineOfTen) {
  std::vector<Deviation> rows;
  std::vector<LeftOut> left;
  const auto add = [&](const char* way, std::size_t subject, double off, double weight) {
    left.push_back({rows.size(), off});
    rows.push_back({.off = off, .weight = weight, .way = way, .subject = subject});
  };
  for (std::size_t i = 1; i <= 30; ++i) {
    const double off = (i % 2 == 0 ? 0.01 : -0.01) * static_cast<double>(i);
    if (i <= 10) add("many", i, off, 1.0);
    if (i > 10) {
      add("many", i, off, 0.5);
      add("many", i, off, 0.5);
    }
    if (i <= 19) add("few", i, off, 1.0);
  }
  left.push_back({rows.size(), 9.0});
  rows.push_back({.off = 9.0});  // an operation
  const auto widths = network_widths(rows, left);
  ASSERT_EQ(widths.size(), 1U);
  EXPECT_NEAR(widths.at("many"), 0.28, 1e-12);
}

}  // namespace
}  // namespace joulecast
