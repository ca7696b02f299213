// SPDX-License-Identifier: Apache-2.0
// Predicts a model file COUNT times in one process, every time on another GPU and batch: what a scheduler or a search
// asks of the library. Run under callgrind with two counts, the difference is the cost of one prediction
// (bench/run.sh).
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

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
  if (argc != 5) {
    fmt::print(stderr, "usage: bench_warm_predict MODEL PACK COUNT whole|prepared\n");
    return 2;
  }
  const Graph graph = simplify(must(import_model(argv[1])));
  const Predictor predictor = must(Predictor::open(argv[2]));
  constexpr std::array<const char*, 4> kGpus{"a30", "rtx2080ti", "a100", "h100"};
  constexpr std::array<std::int64_t, 3> kBatches{1, 8, 32};
  std::array<const Gpu*, kGpus.size()> gpus{};
  for (std::size_t i = 0; i < kGpus.size(); ++i) gpus[i] = must(Catalogue::shipped().find(kGpus[i]));
  const auto prepared = [&](std::size_t n) {
    Binding binding;
    binding.batch = kBatches[n % kBatches.size()];
    return must(prepare(graph, binding, {}));
  };
  const bool whole = std::string_view(argv[4]) == "whole";
  const std::array<Workload, 3> kept{prepared(0), prepared(1), prepared(2)};
  double sum = 0.0;
  const int count = std::atoi(argv[3]);
  for (int i = 0; i < count; ++i) {
    const auto n = static_cast<std::size_t>(i);
    const Gpu& gpu = *gpus[n % kGpus.size()];
    const auto prediction =
        whole ? predictor.predict(prepared(n), gpu, {}) : predictor.predict(kept[n % kept.size()], gpu, {});
    sum += must(prediction).time.value.value();
  }
  fmt::print("{} predictions, mean {:.6f} s\n", count, count > 0 ? sum / count : 0.0);
  return 0;
}
