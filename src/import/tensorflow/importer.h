// SPDX-License-Identifier: Apache-2.0
// Turns a GraphView into a Graph: from the outputs that are asked for back to the inputs, functions inlined.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "import/tensorflow/attributes.h"
#include "import/tensorflow/canvas.h"
#include "import/tensorflow/graph_def.h"

namespace joulecast::tensorflow {

// An input or output of the network: its name for users and the tensor that it is ("node:1").
struct Port {
  std::string_view name, tensor;
  ElementType element = ElementType::kUnknown;
  PartialShape shape;
};

struct Interface {
  std::vector<Port> inputs, outputs;
};

// A dilated convolution, as TensorFlow takes it apart: the nodes before its BatchToSpaceND, by their places.
struct Dilated {
  std::uint32_t space = 0, conv = 0;
  std::optional<std::uint32_t> expand;  // of images with one axis: another one, which the tail takes away
  std::vector<std::uint32_t> tail;      // behind the convolution, the last first
};

// What is to be a convolution's, for each axis of its tensor.
struct Dilation {
  std::array<std::int64_t, kMaxRank> block{1, 1, 1, 1, 1, 1, 1, 1}, begin{}, end{};
  bool operator==(const Dilation&) const = default;
};

// Where names of nodes mean something: the main graph, or one call of a function.
struct Scope {
  Canvas* canvas = nullptr;
  std::span<const NodeView> nodes;
  const FunctionView* function = nullptr;  // nullptr in the main graph
  std::string prefix;                      // of value names
  std::size_t body_depth = 0;
  std::unordered_map<std::string_view, std::uint32_t> places;  // of nodes
  std::unordered_map<std::string_view, Tensor> arguments;      // of the function
  std::vector<std::vector<Tensor>> outputs;                    // of each node
  std::unordered_map<std::uint32_t, Dilated> dilated;          // by the place of the BatchToSpaceND
  std::unordered_set<std::uint32_t> between;                   // nodes of these, which are not lowered by themselves
  std::vector<std::uint64_t> used;  // a bit for each output that is read, the last for all later ones
};

// "node", "node:1", "node:output:0", "^node".
struct Reference {
  std::string_view node, output;
  std::size_t index = 0;
  bool control = false;
};
Result<Reference> parse_reference(std::string_view text);

// How inputs that are images are shown: as the file has them, or with their channels first.
enum class InputOrder : std::uint8_t { kAsInFile, kChannelsFirst };

class Importer {
 public:
  Importer(const GraphView& graph, InputOrder order) : graph_(graph), order_(order) {}

  Result<Graph> run(std::string_view name, const Interface& interface);
  // Elements moved by transpositions that only the order of channels asked for. Of the last run.
  [[nodiscard]] double moved() const { return canvas_.moved(); }

  // nullptr where there is none of the name.
  [[nodiscard]] const FunctionView* find_function(std::string_view name) const;
  // Lowers the function's nodes in place and answers its outputs.
  Result<std::vector<Tensor>> call(const FunctionView& function, std::vector<Tensor> inputs, Scope& caller,
                                   std::string_view node_name);
  // Lowers the function into the body of a loop or branch; `inner` is its graph, `inputs` are tensors of that.
  Result<std::vector<Tensor>> lower_body(const FunctionView& function, std::vector<Tensor> inputs, Canvas& inner,
                                         const Scope& outer);
  // Counts work that a file can ask for more often than its size tells.
  Result<void> count_work(std::size_t steps);
  void note(std::string text);
  // Lives as long as this.
  const Source& add_source(Source source);

 private:
  Result<void> index_functions();
  Result<void> add_inputs(const Interface& interface, Scope& scope);
  Result<Tensor> add_input(const Port& port);
  Result<void> add_outputs(const Interface& interface, Scope& scope);
  void note_orders(const Interface& interface);

  Result<void> fill_places(Scope& scope);
  Result<void> lower(std::span<const std::string_view> roots, Scope& scope);
  Result<std::vector<std::uint32_t>> order(std::span<const std::string_view> roots, Scope& scope);
  Result<std::vector<std::uint32_t>> reached(std::span<const std::string_view> roots, Scope& scope);
  Result<std::optional<std::uint32_t>> place_of(std::string_view input, Scope& scope);
  Result<void> lower_node(std::uint32_t place, Scope& scope);
  Result<std::vector<Tensor>> inputs_of(const NodeView& node, const Scope& scope) const;
  Result<std::size_t> port_of(const Reference& reference, std::uint32_t place, const Scope& scope) const;
  Result<Tensor> resolve(std::string_view input, const Scope& scope) const;
  // dilated.cpp
  Result<std::vector<std::uint32_t>> count_readers(std::span<const std::uint32_t> places,
                                                   std::span<const std::string_view> roots, Scope& scope);
  Result<std::optional<Dilated>> dilated_before(std::uint32_t place, std::span<const std::uint32_t> readers,
                                                Scope& scope);
  Result<void> find_dilated(std::span<const std::uint32_t> places, std::span<const std::string_view> roots,
                            Scope& scope);
  Result<Tensor> lower_between(std::uint32_t place, const Tensor& x, const Dilation* dilation, Scope& scope);
  Result<Tensor> lower_dilated(const Dilated& nodes, const Tensor& crops, Scope& scope);
  Result<std::vector<Tensor>> run_function(const FunctionView& function, std::vector<Tensor> inputs, Scope& inner);

  const GraphView& graph_;
  InputOrder order_;
  Canvas canvas_;
  std::deque<Source> sources_;
  std::unordered_map<std::string_view, const FunctionView*> functions_;
  std::vector<const FunctionView*> active_;  // calls that we are in
  std::set<std::string> notes_;
  std::size_t lowered_ = 0, work_ = 0;
};

}  // namespace joulecast::tensorflow
