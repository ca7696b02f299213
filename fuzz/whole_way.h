// SPDX-License-Identifier: Apache-2.0
// What becomes of a graph on its way to a prediction: what an importer gives is valid, its types propagate or fail with
// an error, folded it is valid still, and the runtimes lower it or say why not.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <utility>

#include "joulecast/graph.h"
#include "joulecast/passes.h"
#include "joulecast/predict.h"

namespace joulecast {

// Dimensions left open become `extent`.
inline void go_whole_way(Graph graph, std::int64_t extent) {
  const Graph folded = simplify(std::move(graph));
  if (!validate(folded)) std::abort();
  Binding binding;
  for (const auto& open : unbound_dimensions(folded, binding)) binding.symbols[open.symbol] = extent;
  static volatile bool sink;
  sink = prepare(folded, binding, {}).has_value();
  sink = prepare(folded, binding,
                 {.mode = Mode::kTraining,
                  .precision = Precision::kAmp,
                  .runtime = Runtime::kPytorchCompiled,
                  .layout = Layout::kChannelsLast})
             .has_value();
  sink =
      prepare(folded, binding, {.mode = Mode::kTraining, .precision = {}, .runtime = Runtime::kTensorflow}).has_value();
}

// What an importer said of some bytes.
inline void check_import(const Result<Graph>& graph) {
  if (!graph) return;
  if (!validate(*graph)) std::abort();
  Binding binding;
  for (const auto& open : unbound_dimensions(*graph, binding)) binding.symbols[open.symbol] = 2;
  static volatile bool sink;
  sink = infer_types(*graph, binding).has_value();
  go_whole_way(*graph, 2);
}

}  // namespace joulecast
