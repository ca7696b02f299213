// SPDX-License-Identifier: Apache-2.0
// What is known of values before any size is: the graph's types are followed for two choices of the open sizes at once,
// node by node as they are added. An extent or number that comes out the same both times does not depend on the choice.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast {

inline constexpr std::size_t kSamples = 2;
using SampleTypes = std::array<TensorType, kSamples>;

class Samples {
 public:
  void add_input(ValueId id, const SampleTypes& types);
  void add_source(const Graph& graph, ValueId id);
  // Requires: all values of the node were added to the graph.
  void add_node(const Graph& graph, const Node& node);

  [[nodiscard]] bool knows(ValueId id) const {
    return id != kNoValue && index(id) < known_.size() && known_[index(id)];
  }
  // Whether every value of the graph is known: types follow for both choices then, and need not be inferred again.
  [[nodiscard]] bool know_all(const Graph& graph) const;
  [[nodiscard]] std::optional<SampleTypes> types(ValueId id) const;
  // Extents of a value, -1 where they depend on the sizes; nothing where the rank is unknown.
  [[nodiscard]] std::optional<Shape> extents(ValueId id) const;
  // Contents: each number where it is known.
  [[nodiscard]] std::optional<std::vector<std::optional<std::int64_t>>> numbers(ValueId id) const;
  [[nodiscard]] const Contents* known(ValueId id, std::size_t sample) const;

 private:
  void grow(const Graph& graph);
  bool infer_node(const Graph& graph, const Node& node);

  std::array<TypeTable, kSamples> tables_;
  std::vector<bool> known_;
};

// Numbers to stand for an open extent of an input: multiples, so that strides and poolings come out even.
std::array<std::int64_t, kSamples> sample_extents(std::size_t axis, std::size_t rank);

}  // namespace joulecast
