// SPDX-License-Identifier: Apache-2.0
// Benchmarks that take more time of their own with every row, because something they keep grows: a constant of the
// moment is in every reading, of short kernels and long ones alike, and nothing but the order of the rows tells it.
#pragma once

#include <span>
#include <vector>

namespace joulecast {

// One reading: what a kernel computes (floating point operations) and moves (bytes), and how long it was said to take.
struct TimedWork {
  double flops = 0, bytes = 0, seconds = 0;
};

// Of fewer rows no growth is told from scatter. Of few hundred it is told less exactly than of thousands.
inline constexpr std::size_t kLeastRowsForOverhead = 200;

// Seconds that each reading has more of the harness in it than the first, of rows in the order they were measured. The
// smallest quarter of the kernels is explained by flops, bytes and a polynomial of the third degree in the position,
// with least absolute errors; what the polynomial has grown so far is the answer, never less than it was before. All 0
// for few rows, and where no more is gained from the first to the last than twice what a single row is typically off
// by.
std::vector<double> rising_overhead(std::span<const TimedWork> rows);

}  // namespace joulecast
