// SPDX-License-Identifier: Apache-2.0
#include "report/decimate.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace joulecast::report {
namespace {

series::Series flat(std::size_t count) {
  series::Series out;
  for (std::size_t i = 0; i < count; ++i) {
    out.time_s.push_back(static_cast<double>(i));
    out.value.push_back(100);
  }
  return out;
}

TEST(Decimate, WhatFitsStaysAsItIs) {
  const series::Series line = flat(2000);
  EXPECT_EQ(decimated(line, 2000).time_s, line.time_s);
}

TEST(Decimate, PeaksOfBothDirectionsStay) {
  series::Series line = flat(100'000);
  line.value[54'321] = 700;
  line.value[54'322] = 3;
  line.value[99'998] = 650;
  const series::Series out = decimated(line, 2000);
  EXPECT_LE(out.time_s.size(), 2000U);
  const auto value_of = [&](double time) {
    const auto at = std::find(out.time_s.begin(), out.time_s.end(), time);
    return at == out.time_s.end() ? -1 : out.value[static_cast<std::size_t>(at - out.time_s.begin())];
  };
  EXPECT_EQ(value_of(54'321), 700);
  EXPECT_EQ(value_of(54'322), 3);
  EXPECT_EQ(value_of(99'998), 650);
}

TEST(Decimate, BeginsAndEndsWhereTheLineDoes) {
  const series::Series out = decimated(flat(10'001), 100);
  EXPECT_EQ(out.time_s.front(), 0);
  EXPECT_EQ(out.time_s.back(), 10'000);
}

TEST(Decimate, TimesRise) {
  series::Series line = flat(10'000);
  for (std::size_t i = 0; i < line.value.size(); ++i) line.value[i] = static_cast<double>((i * 7919) % 1000);
  const series::Series out = decimated(line, 500);
  EXPECT_LE(out.time_s.size(), 500U);
  EXPECT_EQ(std::adjacent_find(out.time_s.begin(), out.time_s.end(), std::greater_equal<>()), out.time_s.end());
}

// Two of ten buckets have everything.
TEST(Decimate, ByHand) {
  series::Series line;
  for (const double time : {0.0, 1.0, 2.0, 3.0, 4.0, 96.0, 97.0, 98.0, 99.0, 100.0}) line.time_s.push_back(time);
  line.value = {5, 9, 1, 4, 5, 5, 2, 8, 5, 5};
  const series::Series out = decimated(line, 6);
  EXPECT_EQ(out.time_s, (std::vector<double>{0, 1, 2, 97, 98, 100}));
  EXPECT_EQ(out.value, (std::vector<double>{5, 9, 1, 2, 8, 5}));
}

}  // namespace
}  // namespace joulecast::report
