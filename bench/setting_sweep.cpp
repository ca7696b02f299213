// SPDX-License-Identifier: Apache-2.0
// Predicts a model file at CLOCKS clocks of each of GPUS GPUs and BATCHES batches, in one process on one core: what a
// search for the best setting asks. Says how many points that were and how long they took. Under callgrind, the
// difference of two clock counts is the cost of a point more, that of two GPU counts the cost of a GPU's points.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

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

// From a fifth of the highest clock up to it.
joulecast::SettingRequest clocks_of(const joulecast::Gpu& gpu, std::size_t count) {
  joulecast::SettingRequest out;
  const joulecast::Hertz highest = *gpu.boost_clock;
  for (std::size_t i = 0; i < count; ++i) {
    const double share = 1.0 - 0.8 * static_cast<double>(i) / static_cast<double>(count);
    out.settings.push_back({.sm_clock = share * highest, .power_limit = {}});
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace joulecast;
  if (argc != 6) {
    fmt::print(stderr, "usage: bench_setting_sweep MODEL PACK GPUS CLOCKS BATCHES\n");
    return 2;
  }
  const auto gpus = static_cast<std::size_t>(std::atoi(argv[3]));
  const auto clocks = static_cast<std::size_t>(std::atoi(argv[4]));
  const auto batches = static_cast<std::size_t>(std::atoi(argv[5]));
  const Graph graph = simplify(must(import_model(argv[1])));
  const Predictor predictor = must(Predictor::open(argv[2]));
  const auto begin = std::chrono::steady_clock::now();
  std::vector<Workload> workloads;
  for (std::size_t b = 0; b < batches; ++b) {
    Binding binding;
    binding.batch = std::int64_t{1} << b;
    workloads.push_back(must(prepare(graph, binding, {})));
  }
  std::size_t asked = 0;
  std::size_t points = 0;
  double least = HUGE_VAL;
  for (const Gpu& gpu : Catalogue::shipped().all()) {
    if (asked == gpus) break;
    if (!gpu.boost_clock) continue;
    const SettingRequest request = clocks_of(gpu, clocks);
    bool can = true;  // some GPUs lack a figure that this network needs
    for (const Workload& workload : workloads) {
      const auto found = predictor.predict(workload, gpu, {}, request);
      can = found.has_value();
      if (!can) break;
      points += found->size();
      for (const Prediction& p : *found)
        least = std::min(least, p.energy.value.value() / static_cast<double>(workload.batch));
    }
    asked += can ? 1 : 0;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  fmt::print("{} points on {} GPUs in {:.3f} s, least {:.4f} J an image\n", points, asked, took.count(), least);
  return asked == gpus ? 0 : 1;
}
