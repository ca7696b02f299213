// SPDX-License-Identifier: Apache-2.0
#include "dataset/rising_overhead.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace joulecast {
namespace {

constexpr std::size_t kRows = 3000;

// Kernels of all sizes in no order, at 10 Tflop/s and 1 TB/s up to a tenth more or less, 50 us of calling, and what
// `overhead` (s) says for the share of the rows that went before.
template <typename Overhead>
std::vector<TimedWork> benchmark(std::size_t rows, Overhead overhead) {
  std::uint32_t state = 1;
  const auto random = [&] {
    state = state * 1664525U + 1013904223U;
    return static_cast<double>(state >> 8U) / 16777216.0;
  };
  std::vector<TimedWork> out;
  for (std::size_t i = 0; i < rows; ++i) {
    TimedWork work{1e8 * std::pow(300.0, random()), 1e6 * std::pow(100.0, random()), 0.0};
    work.seconds = 50e-6 + (0.9 + 0.2 * random()) * (work.flops / 10e12 + work.bytes / 1e12);
    work.seconds += overhead(static_cast<double>(i) / static_cast<double>(rows));
    out.push_back(work);
  }
  return out;
}

TEST(RisingOverhead, IsFoundWhateverTheSizesOfTheKernels) {
  const auto overhead = [](double at) { return 200e-6 * at + 300e-6 * at * at; };
  const auto grown = rising_overhead(benchmark(kRows, overhead));
  ASSERT_EQ(grown.size(), kRows);
  EXPECT_EQ(grown.front(), 0.0);
  for (const std::size_t i : {kRows / 4, kRows / 2, kRows - 1}) {
    EXPECT_NEAR(grown[i], overhead(static_cast<double>(i) / kRows), 10e-6) << i;
  }
  EXPECT_TRUE(std::is_sorted(grown.begin(), grown.end()));
}

// What every call costs is no growth, and neither is chance.
TEST(RisingOverhead, IsNoneWhereRowsStayAsTheyWere) {
  for (const double constant : {0.0, 500e-6}) {
    const auto grown = rising_overhead(benchmark(kRows, [&](double) { return constant; }));
    EXPECT_EQ(std::count(grown.begin(), grown.end(), 0.0), kRows) << constant;
  }
}

// A file with a sample of the rows, in their order.
TEST(RisingOverhead, IsFoundInASample) {
  const auto overhead = [](double at) { return 200e-6 * at + 300e-6 * at * at; };
  const auto grown = rising_overhead(benchmark(300, overhead));
  for (const std::size_t i : {75U, 150U, 299U})
    EXPECT_NEAR(grown[i], overhead(static_cast<double>(i) / 300), 50e-6) << i;
  const auto none = rising_overhead(benchmark(300, [](double) { return 50e-6; }));
  EXPECT_EQ(std::count(none.begin(), none.end(), 0.0), 300);
}

TEST(RisingOverhead, IsNotToldFromFewRowsOrFromRowsThatAreAllAlike) {
  const auto few = rising_overhead(benchmark(kLeastRowsForOverhead - 1, [](double at) { return 1e-3 * at; }));
  EXPECT_EQ(std::count(few.begin(), few.end(), 0.0), kLeastRowsForOverhead - 1);
  const auto alike = rising_overhead(std::vector<TimedWork>(kRows, TimedWork{1e9, 1e6, 1e-3}));
  EXPECT_EQ(std::count(alike.begin(), alike.end(), 0.0), kRows);
}

}  // namespace
}  // namespace joulecast
