// SPDX-License-Identifier: Apache-2.0
// Any bytes are either an error or a valid graph, whose types propagate or fail with an error, and which goes its way
// to a prediction. Seeds: examples, tests/data/onnx_broken.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "joulecast/graph.h"
#include "joulecast/import.h"
#include "whole_way.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = joulecast::import_onnx(std::as_bytes(std::span(data, size)), "fuzz");
  if (!graph) return 0;
  if (!joulecast::validate(*graph)) std::abort();
  joulecast::Binding binding;
  for (const auto& open : joulecast::unbound_dimensions(*graph, binding)) binding.symbols[open.symbol] = 2;
  const auto types = joulecast::infer_types(*graph, binding);
  static volatile bool sink;
  sink = types.has_value();
  joulecast::go_whole_way(*graph, 2);
  return 0;
}
