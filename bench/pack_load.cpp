// SPDX-License-Identifier: Apache-2.0
// Opens a predictor pack COUNT times. Under callgrind, the difference of two counts is the cost of opening one.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "joulecast/predict.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr, "usage: bench_pack_load PACK COUNT\n");
    return 2;
  }
  const int count = std::atoi(argv[2]);
  for (int i = 0; i < count; ++i) {
    const auto predictor = joulecast::Predictor::open(argv[1]);
    if (predictor) continue;
    fmt::print(stderr, "{}\n", predictor.error().text());
    return 1;
  }
  return 0;
}
