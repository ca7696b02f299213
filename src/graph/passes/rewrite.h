// SPDX-License-Identifier: Apache-2.0
// The ground that passes stand on: who produces a value, how often it is read, and replacing a group of nodes by one.
//
// Passes look backwards from the last node of an idiom, its root. Nodes are visited in their order, so what lies before
// the root has its final form already. A replaced root stays where it is, hence the order remains valid; what it no
// longer reads dies with its last reader.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/passes/sketch.h"
#include "joulecast/graph.h"

namespace joulecast::passes {

class Rewriter {
 public:
  // Requires: validate(graph) passed. The graph must outlive this.
  explicit Rewriter(Graph& graph);

  [[nodiscard]] std::size_t node_count() const { return graph_.nodes.size(); }
  [[nodiscard]] const Node& node(std::size_t i) const { return graph_.nodes[i]; }
  [[nodiscard]] bool dead(std::size_t i) const { return dead_[i]; }
  // nullptr for inputs of the graph, parameters, constants and absent inputs.
  [[nodiscard]] const Node* producer(ValueId id) const;
  // The place of a value's producer. Requires: it has one.
  [[nodiscard]] std::size_t place(ValueId id) const { return producer_[index(id)]; }
  // How often a value is read, by nodes or as an output of the graph.
  [[nodiscard]] std::uint32_t uses(ValueId id) const { return id == kNoValue ? 0 : uses_[index(id)]; }
  // What is known of a value without binding anything; nothing of an absent one.
  [[nodiscard]] const Sketch& sketch(ValueId id) const { return id == kNoValue ? nothing_ : sketches_[index(id)]; }
  [[nodiscard]] bool is_parameter(ValueId id) const;
  // Type of a parameter or constant; an empty one for everything else.
  [[nodiscard]] TensorType source_type(ValueId id) const;
  // Contents known in the file; nullptr otherwise.
  [[nodiscard]] const Contents* known(ValueId id) const { return id == kNoValue ? nullptr : graph_.known(id); }

  // Node i becomes `op` of `inputs`, which must be produced before it. Its name and outputs stay.
  void replace(std::size_t i, Operator op, std::vector<ValueId> inputs);
  // Readers of node i's first output read `instead`, a value before it. Does nothing where the output is one of the
  // graph, whose name must stay. Answers whether it did.
  bool bypass(std::size_t i, ValueId instead);
  // Gives the transposition that produces `id` another order. Requires: a Transpose of the same rank does.
  void set_order(ValueId id, IntList order);
  // The parameter as another type: a bias that an exporter reshaped, a weight known to be quantized.
  ValueId retyped(ValueId parameter, const TensorType& type);
  // A parameter that stands for what nodes put together from parameters: `id`, named after `parameter`. The same ones
  // put together again are the same parameter.
  ValueId assembled(ValueId id, ValueId parameter, const TensorType& type);

  // For the walk over the nodes: brings the inputs of node i up to date before the passes see it, and notes what is
  // known of its outputs after.
  void resolve(std::size_t i);
  void finish(std::size_t i);
  // Removes dead nodes, and values, contents and bodies nobody refers to. Ends the use of this rewriter.
  void compact();

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  ValueId add_parameter(const std::string& key, Value value);
  bool add_parts(ValueId id, std::string& parts, int depth) const;
  void index_nodes();
  void remove_unread();
  void release(ValueId id);
  void release_inputs(std::size_t i);
  [[nodiscard]] bool unread(const Node& node) const;

  Graph& graph_;
  std::vector<std::uint32_t> producer_;  // the node of each value, or kNone
  std::vector<std::uint32_t> uses_;
  std::vector<bool> is_output_;
  std::vector<bool> dead_;
  std::vector<ValueId> alias_;  // each value itself, or what is read in its place
  std::vector<Sketch> sketches_;
  std::vector<ValueId> released_;                        // the worklist of release()
  std::unordered_map<std::string, ValueId> parameters_;  // added ones, by what they stand for
  Sketch nothing_;
};

}  // namespace joulecast::passes
