// SPDX-License-Identifier: Apache-2.0
// What compilers do with nodes that compute the same: they keep the first.
#include <algorithm>
#include <unordered_map>
#include <variant>
#include <vector>

#include "graph/passes/rewrite.h"
#include "joulecast/passes.h"

namespace joulecast {
namespace {

// Random numbers differ from call to call, and of some nodes nobody knows what they do.
bool may_merge(const Node& node) {
  const bool apart = std::holds_alternative<Dropout>(node.op) || std::holds_alternative<StochasticDepth>(node.op) ||
                     std::holds_alternative<Opaque>(node.op) || std::holds_alternative<If>(node.op) ||
                     std::holds_alternative<Loop>(node.op) || std::holds_alternative<Scan>(node.op);
  return !apart && node.outputs.size() == 1 && !node.inputs.empty() && node.inputs[0] != kNoValue;
}

}  // namespace

Graph merge_equal(Graph graph) {
  // Nodes that read one value first are few; a graph where they are not takes no longer for it.
  constexpr std::size_t kMostReaders = 32;
  passes::Rewriter rewriter(graph);
  std::unordered_map<std::size_t, std::vector<std::size_t>> readers;  // by the value that they read first
  for (std::size_t i = 0; i < rewriter.node_count(); ++i) {
    rewriter.resolve(i);
    rewriter.finish(i);
    const Node& node = rewriter.node(i);
    if (!may_merge(node)) continue;
    std::vector<std::size_t>& others = readers[index(node.inputs[0])];
    const auto same = std::find_if(others.begin(), others.end(), [&](std::size_t other) {
      return rewriter.node(other).op == node.op && rewriter.node(other).inputs == node.inputs;
    });
    if (same != others.end() && rewriter.bypass(i, rewriter.node(*same).outputs[0])) continue;
    if (others.size() < kMostReaders) others.push_back(i);
  }
  rewriter.compact();
  return graph;
}

}  // namespace joulecast
