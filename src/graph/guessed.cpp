// SPDX-License-Identifier: Apache-2.0
#include "graph/guessed.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace joulecast {
namespace {

bool is_guess(const Node& node) {
  const auto* op = std::get_if<Opaque>(&node.op);
  if (op == nullptr) return false;
  const auto told = [](const TensorType& type) {
    return type.shape.empty() ||
           std::any_of(type.shape.begin(), type.shape.end(), [](auto extent) { return extent >= 0; });
  };
  return op->output_types.size() < node.outputs.size() ||
         !std::all_of(op->output_types.begin(), op->output_types.end(), told);
}

}  // namespace

Error blamed_on_unknown(Error error, const Graph& graph, std::span<const ValueId> values) {
  std::vector<const Node*> source(graph.values.size(), nullptr);
  const auto first_of = [&](std::span<const ValueId> ids) {
    const auto known = [&](ValueId id) { return id != kNoValue && source[index(id)] != nullptr; };
    const auto found = std::find_if(ids.begin(), ids.end(), known);
    return found == ids.end() ? nullptr : source[index(*found)];
  };
  for (const Node& node : graph.nodes) {
    const Node* from = is_guess(node) ? &node : first_of(node.inputs);
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) source[index(id)] = from;
    }
  }
  const Node* unknown = first_of(values);
  if (unknown == nullptr) return error;
  const std::string place = unknown->name.empty() ? "" : fmt::format(" of node '{}'", unknown->name);
  return std::move(error).in(
      fmt::format("operator '{}'{} is not known: its result, taken to be shaped like its input, does not fit",
                  std::get<Opaque>(unknown->op).name, place));
}

}  // namespace joulecast
