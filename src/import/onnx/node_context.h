// SPDX-License-Identifier: Apache-2.0
// One ONNX node while it is lowered: its inputs as values of our graph, its attributes, and where its operators go.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/builder.h"
#include "import/onnx/reader.h"

namespace joulecast::onnx {

class Importer;
struct Scope;

class NodeContext {
 public:
  NodeContext(Importer& importer, Scope& scope, const NodeView& node, std::int64_t opset, std::vector<ValueId> inputs)
      : importer_(importer), scope_(scope), node_(node), opset_(opset), inputs_(std::move(inputs)) {}

  [[nodiscard]] const NodeView& node() const { return node_; }
  [[nodiscard]] std::int64_t opset() const { return opset_; }  // of the node's domain

  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i] != kNoValue; }
  [[nodiscard]] ValueId input(std::size_t i) const { return i < inputs_.size() ? inputs_[i] : kNoValue; }
  [[nodiscard]] const std::vector<ValueId>& inputs() const { return inputs_; }
  // Guesses and known facts about input i; empty ones where it is absent.
  [[nodiscard]] Guess guess(std::size_t i) const { return guess_of(input(i)); }
  [[nodiscard]] Guess guess_of(ValueId id) const;
  [[nodiscard]] const TensorType* type(std::size_t i) const;
  [[nodiscard]] const Contents* known(std::size_t i) const;

  [[nodiscard]] std::size_t output_count() const { return node_.outputs.size(); }
  // Somebody reads output i, or it is an output of the graph.
  [[nodiscard]] bool used(std::size_t i) const;
  [[nodiscard]] bool any_used_after(std::size_t first) const;

  // Attributes. Each fails if the attribute is there with another type; the first form also if it is missing.
  [[nodiscard]] bool has_attribute(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name) const;
  [[nodiscard]] Result<std::int64_t> integer(std::string_view name, std::int64_t absent) const;
  [[nodiscard]] Result<bool> flag(std::string_view name, bool absent) const;
  [[nodiscard]] Result<double> number(std::string_view name, double absent) const;
  [[nodiscard]] Result<std::string_view> string(std::string_view name, std::string_view absent) const;
  [[nodiscard]] Result<std::string_view> string(std::string_view name) const;
  [[nodiscard]] Result<std::optional<IntList>> integers(std::string_view name) const;
  [[nodiscard]] Result<std::optional<std::vector<double>>> numbers(std::string_view name) const;
  [[nodiscard]] Result<const TensorView*> tensor(std::string_view name) const;  // nullptr if missing
  [[nodiscard]] Result<const GraphView*> graph(std::string_view name) const;    // never nullptr
  [[nodiscard]] Result<ElementType> element(std::string_view name, ElementType absent) const;
  // Stride, kernel, padding ...: at most three entries, none absurd.
  [[nodiscard]] Result<Extents> extents(std::string_view name) const;
  [[nodiscard]] tl::unexpected<Error> wrong_attribute(std::string_view name, std::string_view what) const;

  // Adds `op` with the node's outputs, of which `op` has at most `outputs`.
  Result<void> emit(Operator op, std::vector<ValueId> inputs, std::size_t outputs = 1);
  // Adds `op` with output i of the node alone.
  Result<void> emit_output(std::size_t i, Operator op, std::vector<ValueId> inputs);
  // Adds `op` with an output that only this lowering knows.
  ValueId step(Operator op, std::vector<ValueId> inputs, std::string_view suffix);
  // Like step, for operators of several outputs.
  std::vector<ValueId> steps(Operator op, std::vector<ValueId> inputs, std::size_t outputs, std::string_view suffix);
  // Output i of the node is the value `id`, no operator needed.
  Result<void> alias(std::size_t i, ValueId id);
  // Output 0 of the node is this constant or weight.
  Result<void> constant_output(const TensorType& type, std::optional<Contents> contents, ValueKind kind);
  // Keeps the node under its own name. Output types come from the file where it declares them, else from `fallback`
  // (-1 for an extent nobody knows), else they are the first input's.
  Result<void> opaque(const std::vector<TensorType>& fallback = {});

  ValueId int_vector(IntList values);
  ValueId int_scalar(std::int64_t value);
  ValueId real_vector(std::vector<double> values);
  ValueId real_scalar(double value, ElementType element = ElementType::kFloat32);

  void note(std::string text);

  // Sequences exist while a file is read: each is a list of values of the graph. nullptr where input i is none that is
  // known. Valid until the next sequence is made.
  const std::vector<ValueId>* sequence(std::size_t i);
  Result<void> count_work(std::size_t steps);
  Result<void> emit_sequence(std::vector<ValueId> elements);
  // Input i, where it is one integer that follows from constants.
  [[nodiscard]] std::optional<std::int64_t> evaluated_integer(std::size_t i) const;
  // Lowers the body of this loop `trips` times one after the other.
  Result<void> unroll(std::string_view attribute, std::int64_t trips);

  // Control flow: lowers a subgraph to a body of the graph. Its inputs are those of the subgraph, then one for every
  // captured value; these are returned as values of this graph.
  struct Body {
    std::uint32_t index = 0;
    std::size_t inputs = 0;  // before the captures
    std::size_t outputs = 0;
    std::vector<ValueId> captures;
  };
  Result<Body> body(std::string_view attribute);

 private:
  [[nodiscard]] const AttributeView* find(std::string_view name) const;
  [[nodiscard]] Result<const AttributeView*> typed(std::string_view name, AttributeType type) const;
  [[nodiscard]] tl::unexpected<Error> missing(std::string_view name) const;
  void add_node(Operator op, std::vector<ValueId> inputs, std::vector<ValueId> outputs);
  [[nodiscard]] std::string output_name(std::size_t i) const;
  [[nodiscard]] std::optional<TensorType> output_type(std::size_t i, const std::vector<TensorType>& fallback) const;
  ValueId constant(std::string_view suffix, const TensorType& type, Contents contents);

  Importer& importer_;
  Scope& scope_;
  const NodeView& node_;
  std::int64_t opset_;
  std::vector<ValueId> inputs_;
};

}  // namespace joulecast::onnx
