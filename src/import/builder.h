// SPDX-License-Identifier: Apache-2.0
// A graph being built, with what can be said about its values before any size is known.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast {

// Guesses that choose between lowerings; the true types come from infer_types().
struct Guess {
  ElementType element = ElementType::kUnknown;
  std::optional<std::size_t> rank;
  bool parameter = false;             // a weight, or a weight captured by a body
  std::optional<std::size_t> length;  // elements of a vector: as the shape of a Reshape, the rank of its output
  std::optional<Shape> extents = std::nullopt;  // where the file tells them; open ones are -1
};

class GraphBuilder {
 public:
  // Values get the name nearest to `name` that is still free.
  ValueId add_computed(std::string_view name, const Guess& guess);
  ValueId add_constant(std::string_view name, const TensorType& type, std::optional<Contents> contents, ValueKind kind);
  ValueId add_input(std::string_view name, GraphInput input, const Guess& guess);

  // Gives the value this name if no other has it.
  void rename(ValueId id, std::string_view name);

  [[nodiscard]] const Guess& guess(ValueId id) const { return guesses_[index(id)]; }
  // For who knows more.
  void set_guess(ValueId id, const Guess& guess) { guesses_[index(id)] = guess; }
  [[nodiscard]] const Contents* known(ValueId id) const { return graph.known(id); }
  // The whole type where the file tells it: parameters (captured ones too) and constants.
  [[nodiscard]] const TensorType* type(ValueId id) const;
  void add_node(Node node);
  // The node that computes it; nullptr for inputs, parameters and constants.
  [[nodiscard]] const Node* producer(ValueId id) const;
  // The contents of a computed value where they follow from constants alone, by a few dozen nodes at most.
  [[nodiscard]] std::optional<Contents> evaluate(ValueId id) const;
  // A constant in the place of what follows from constants alone, without contents where these are too many to follow;
  // else `id` itself.
  ValueId folded(ValueId id, std::string_view name);
  // What an output of `op` will be like.
  [[nodiscard]] Guess guess_output(const Operator& op, const std::vector<ValueId>& inputs, std::size_t output) const;

  // Bytes of all names so far: inlined functions repeat theirs.
  [[nodiscard]] std::size_t name_bytes() const { return name_bytes_; }

  Graph graph;

 private:
  std::string free_name(std::string_view wanted);

  static constexpr std::uint32_t kNoNode = std::numeric_limits<std::uint32_t>::max();
  struct Chain {
    TypeTable types;
    ValueId id;  // of the value asked for, in the table
  };
  [[nodiscard]] std::optional<Chain> follow(ValueId id) const;
  // Copies what `id` is computed from into `out`; false where that is more than constants.
  bool copy_ancestors(ValueId id, Graph& out, std::unordered_map<std::uint32_t, ValueId>& copies) const;

  std::vector<Guess> guesses_;            // one a value
  std::vector<std::uint32_t> producers_;  // likewise: index of the node
  std::unordered_set<std::string> names_;
  std::size_t name_bytes_ = 0;
  std::size_t last_suffix_ = 0;
};

}  // namespace joulecast
