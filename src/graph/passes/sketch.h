// SPDX-License-Identifier: Apache-2.0
// What is known about a value before anything is bound: element type and rank. Types proper need a Binding; many
// idioms can be told apart with this much.
#pragma once

#include <optional>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast::passes {

struct Sketch {
  ElementType element = ElementType::kUnknown;
  std::optional<std::size_t> rank;
  std::optional<std::size_t> length;  // of vectors: how many elements
  bool host = false;                  // follows from constants and shapes alone
  bool weight = false;                // parameters, whole or in parts, put together and reshaped: no arithmetic
};

// Of a parameter, constant or input of the graph.
Sketch source_sketch(const Graph& graph, ValueId id);
// Of output `output` of a node. `sketches` holds one entry a value; those of the node's inputs are final.
Sketch output_sketch(const Graph& graph, const Node& node, std::size_t output, const std::vector<Sketch>& sketches);

}  // namespace joulecast::passes
