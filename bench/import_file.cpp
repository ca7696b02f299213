// SPDX-License-Identifier: Apache-2.0
// Reads a model file COUNT times in one process; prints the least time of one in milliseconds. bench/imports.py holds
// the frameworks' own loaders against it; under callgrind the difference of two counts is the cost of one.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "joulecast/import.h"

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_import_file MODEL COUNT\n");
    return 2;
  }
  double least_ms = std::numeric_limits<double>::infinity();
  for (int i = std::atoi(argv[2]); i > 0; --i) {
    const auto begin = Clock::now();
    const auto graph = joulecast::import_model(argv[1]);
    if (!graph) {
      fmt::print(stderr, "{}\n", graph.error().text());
      return 1;
    }
    least_ms = std::min(least_ms, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  fmt::print("{:.4f}\n", least_ms);
  return 0;
}
