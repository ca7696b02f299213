// SPDX-License-Identifier: Apache-2.0
// Reads a model file and predicts it, COUNT times in one process; prints the least time of one in milliseconds.
// bench/python.py holds the Python package against it.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "joulecast/gpu.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"
#include "joulecast/predict.h"

namespace {

template <typename T>
T must(joulecast::Result<T> result) {
  if (result) return std::move(*result);
  fmt::print(stderr, "{}\n", result.error().text());
  std::exit(1);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace joulecast;
  using Clock = std::chrono::steady_clock;
  if (argc != 4) {
    fmt::print(stderr, "usage: bench_predict_file MODEL PACK COUNT\n");
    return 2;
  }
  const Predictor predictor = must(Predictor::open(argv[2]));
  const Gpu& gpu = *must(Catalogue::shipped().find("a30"));
  Binding binding;
  binding.batch = 32;
  double least_ms = std::numeric_limits<double>::infinity();
  for (int i = std::atoi(argv[3]); i > 0; --i) {
    const auto begin = Clock::now();
    const Workload workload = must(prepare(simplify(must(import_model(argv[1]))), binding, {}));
    if (!(must(predictor.predict(workload, gpu, {})).time.value.value() > 0)) return 1;
    least_ms = std::min(least_ms, std::chrono::duration<double, std::milli>(Clock::now() - begin).count());
  }
  fmt::print("{:.4f}\n", least_ms);
  return 0;
}
