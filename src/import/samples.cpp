// SPDX-License-Identifier: Apache-2.0
#include "import/samples.h"

#include <algorithm>

#include "graph/infer_context.h"

namespace joulecast {

std::array<std::int64_t, kSamples> sample_extents(std::size_t axis, std::size_t rank) {
  if (axis == 0) return {4, 6};
  if (rank >= 4) return {256, 320};
  return {24, 40};
}

void Samples::grow(const Graph& graph) {
  if (known_.size() < graph.values.size()) known_.resize(graph.values.size(), false);
  for (TypeTable& table : tables_) {
    table.grow(graph.values.size());
    table.bodies().resize(graph.bodies.size());
  }
}

void Samples::add_input(ValueId id, const SampleTypes& types) {
  known_.resize(index(id) + 1, false);
  for (std::size_t i = 0; i < kSamples; ++i) {
    tables_[i].grow(index(id) + 1);
    tables_[i].set_type(id, types[i]);
  }
  known_[index(id)] = true;
}

void Samples::add_source(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  add_input(id, {value.type, value.type});
  if (!value.contents) return;
  for (TypeTable& table : tables_) table.set_known(id, graph.contents[*value.contents]);
}

bool Samples::infer_node(const Graph& graph, const Node& node) {
  for (TypeTable& table : tables_) {
    InferContext context(graph, node, table);
    if (!std::visit([&](const auto& op) { return infer(op, context); }, node.op)) return false;
  }
  return true;
}

void Samples::add_node(const Graph& graph, const Node& node) {
  grow(graph);
  const auto ready = [&](ValueId id) { return id == kNoValue || known_[index(id)]; };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), ready) || !infer_node(graph, node)) return;
  const auto* opaque = std::get_if<Opaque>(&node.op);
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    // What nobody declared is a guess of the costs, nothing to build on.
    known_[index(node.outputs[i])] = opaque == nullptr || i < opaque->output_types.size();
  }
}

bool Samples::know_all(const Graph& graph) const {
  const auto possible = [&](const GraphInput& input) {
    return std::all_of(tables_.begin(), tables_.end(), [&](const TypeTable& table) {
      return checked_elements(table.type(input.value).shape).has_value();
    });
  };
  return known_.size() >= graph.values.size() && std::find(known_.begin(), known_.end(), false) == known_.end() &&
         std::all_of(graph.inputs.begin(), graph.inputs.end(), possible);
}

std::optional<SampleTypes> Samples::types(ValueId id) const {
  if (!knows(id)) return std::nullopt;
  return SampleTypes{tables_[0].type(id), tables_[1].type(id)};
}

std::optional<Shape> Samples::extents(ValueId id) const {
  const auto both = types(id);
  if (!both || (*both)[0].shape.size() != (*both)[1].shape.size()) return std::nullopt;
  Shape out = (*both)[0].shape;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] != (*both)[1].shape[i]) out[i] = -1;
  }
  return out;
}

const Contents* Samples::known(ValueId id, std::size_t sample) const {
  return knows(id) ? tables_[sample].known(id) : nullptr;
}

std::optional<std::vector<std::optional<std::int64_t>>> Samples::numbers(ValueId id) const {
  const Contents* one = known(id, 0);
  const Contents* other = known(id, 1);
  if (one == nullptr || other == nullptr || one->ints.size() != other->ints.size() || !one->reals.empty()) return {};
  std::vector<std::optional<std::int64_t>> out;
  for (std::size_t i = 0; i < one->ints.size(); ++i) {
    out.push_back(one->ints[i] == other->ints[i] ? std::optional(one->ints[i]) : std::nullopt);
  }
  return out;
}

}  // namespace joulecast
