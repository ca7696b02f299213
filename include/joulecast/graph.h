// SPDX-License-Identifier: Apache-2.0
// A network as framework-neutral operators joined by values: what importers make and everything else reads.
//
//   JC_ASSIGN_OR_RETURN(Graph graph, parse_graph(text));
//   JC_ASSIGN_OR_RETURN(TypeTable types, infer_types(graph, Binding{.symbols = {{"batch", 32}}}));
//   for (const Node& node : graph.nodes) use(node.op, types.type(node.outputs[0]));
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/operators.h"
#include "joulecast/result.h"
#include "joulecast/tensor.h"

namespace joulecast {

enum class ValueId : std::uint32_t {};
// An optional input that is not there.
inline constexpr ValueId kNoValue{std::numeric_limits<std::uint32_t>::max()};
constexpr std::size_t index(ValueId id) {
  return static_cast<std::size_t>(id);
}

enum class ValueKind : std::uint8_t {
  kComputed,   // an output of a node
  kInput,      // an input of the graph, its extents may be symbols
  kParameter,  // a weight: type known, contents never read
  kConstant,   // small, contents known where `contents` says so
};

// A value is produced once and read by any number of nodes.
struct Value {
  std::string name;
  ValueKind kind = ValueKind::kComputed;
  TensorType type;                        // of parameters and constants; of inputs where nothing is symbolic
  std::optional<std::uint32_t> contents;  // index into Graph::contents

  bool operator==(const Value&) const = default;
};

// One extent of a graph input: a number, or a name that a Binding gives a number.
struct Dimension {
  std::optional<std::int64_t> extent;
  std::string symbol;  // set where extent is not

  bool operator==(const Dimension&) const = default;
};

struct GraphInput {
  ValueId value{};
  ElementType element = ElementType::kUnknown;
  std::vector<Dimension> dimensions;

  bool operator==(const GraphInput&) const = default;
};

// One operator applied to values. Outputs nobody reads may be kNoValue.
struct Node {
  Operator op;
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  std::string name;  // as the model file calls it; may be empty

  bool operator==(const Node&) const = default;
};

// What a file can't show or an importer had to assume; travels with the graph into every output.
struct GraphNote {
  std::string text;

  bool operator==(const GraphNote&) const = default;
};

// Bodies in bodies in bodies: a graph nested deeper is not valid.
inline constexpr std::size_t kMaxBodyDepth = 8;

// Nodes are in an order in which every value is produced before it is read (the execution order of the file).
struct Graph {
  std::string name;
  std::vector<Value> values;
  std::vector<Node> nodes;
  std::vector<GraphInput> inputs;
  std::vector<ValueId> outputs;
  std::vector<Contents> contents;
  std::vector<Graph> bodies;  // of control flow; a body sees the outside only through its own inputs
  std::vector<GraphNote> notes;

  bool operator==(const Graph&) const = default;

  ValueId add_value(Value value);
  [[nodiscard]] const Value& value(ValueId id) const { return values[index(id)]; }
  // Contents known in the file; nullptr where they are not.
  [[nodiscard]] const Contents* known(ValueId id) const;
};

// Which number stands for which symbol, and whole shapes for inputs by name (these win).
struct Binding {
  std::map<std::string, std::int64_t, std::less<>> symbols;
  std::map<std::string, Shape, std::less<>> shapes;
  std::optional<std::int64_t> batch;  // for the leading symbolic extent of the inputs
};

// The concrete type of every value of a graph under one Binding, and the contents of the small integer ones.
class TypeTable {
 public:
  explicit TypeTable(std::size_t value_count = 0) : types_(value_count), contents_(value_count, kNone) {}

  [[nodiscard]] const TensorType& type(ValueId id) const { return types_[index(id)]; }
  // Contents that follow from shapes and constants alone; nullptr where they depend on data.
  [[nodiscard]] const Contents* known(ValueId id) const;
  // The types inside body `i` of the graph, as of its last repetition.
  [[nodiscard]] const TypeTable& body(std::size_t i) const { return bodies_[i]; }

  // For a graph that got more values. Does nothing where there are that many already.
  void grow(std::size_t value_count) {
    if (value_count <= types_.size()) return;
    types_.resize(value_count);
    contents_.resize(value_count, kNone);
  }
  void set_type(ValueId id, const TensorType& type) { types_[index(id)] = type; }
  // Beyond 2^24 elements in all nothing more is kept.
  void set_known(ValueId id, Contents contents);
  // Every value of element type `from` becomes one of `to`, bodies included: a network cast as a whole.
  void replace(ElementType from, ElementType to);
  std::vector<TypeTable>& bodies() { return bodies_; }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<TensorType> types_;
  std::vector<std::uint32_t> contents_;
  std::vector<Contents> pool_;
  std::size_t known_elements_ = 0;
  std::vector<TypeTable> bodies_;
};

// The symbols of the graph's inputs that `binding` leaves open, each once, in order of appearance.
struct UnboundDimension {
  std::string symbol;
  std::string input;
  std::size_t axis = 0;
};
std::vector<UnboundDimension> unbound_dimensions(const Graph& graph, const Binding& binding);

// Propagates types through the graph. Errors: kInvalidInput for an unbound symbol (says what to type), for shapes that
// do not fit an operator (names the node), and for tensors of more than 2^48 elements.
Result<TypeTable> infer_types(const Graph& graph, const Binding& binding);

// The text form. `parse_graph(print_graph(g)) == g` for every valid graph.
std::string print_graph(const Graph& graph);
// Errors name line and column.
Result<Graph> parse_graph(std::string_view text);

// Checks what every graph must hold: ids in range, values produced once and before they are read, kinds of values as
// they are produced, types of parameters and constants possible and their contents as long as these say, every body
// used by one node.
Result<void> validate(const Graph& graph);

}  // namespace joulecast
