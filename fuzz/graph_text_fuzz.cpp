// SPDX-License-Identifier: Apache-2.0
// Graphs as text: whatever parses prints and reads back as the same graph, and its types and costs can be worked out
// or refused, never crash; and it goes its way to a prediction.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "graph/walk.h"
#include "joulecast/graph.h"
#include "whole_way.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto graph = joulecast::parse_graph({reinterpret_cast<const char*>(data), size});
  if (!graph) return 0;
  const std::string printed = joulecast::print_graph(*graph);
  const auto again = joulecast::parse_graph(printed);
  // Compared as text: a nan is not equal to itself.
  if (!again || joulecast::print_graph(*again) != printed) std::abort();
  joulecast::Binding binding;
  for (const auto& open : joulecast::unbound_dimensions(*graph, binding)) binding.symbols[open.symbol] = 3;
  const auto types = joulecast::infer_types(*graph, binding);
  if (types) joulecast::total_cost(*graph, *types);
  joulecast::go_whole_way(*graph, 3);
  return 0;
}
