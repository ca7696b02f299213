// SPDX-License-Identifier: Apache-2.0
// The order in which the nodes of a graph can run.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "import/onnx/reader.h"

namespace joulecast::onnx {

// "node 'conv1' (Conv)", or by its place in the file where it has no name.
std::string label(const NodeView& node, std::size_t index);

struct ExecutionOrder {
  std::vector<std::uint32_t> nodes;           // indices, sorted as in the file where that is possible
  std::unordered_set<std::string_view> used;  // names that some node reads, in its subgraphs too
};

// Errors: kInvalidInput for a value produced twice and for cycles, naming a node.
Result<ExecutionOrder> execution_order(std::span<const NodeView> nodes);

}  // namespace joulecast::onnx
