// SPDX-License-Identifier: Apache-2.0
#include "import/builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/text.h"

namespace joulecast {
namespace {

// How an operator changes element type and rank of its first input. Anything not named keeps both.
struct Guesser {
  const GraphBuilder& builder;
  const std::vector<ValueId>& inputs;
  std::size_t output;

  [[nodiscard]] Guess of(std::size_t i) const {
    if (i >= inputs.size() || inputs[i] == kNoValue) return {};
    Guess out = builder.guess(inputs[i]);
    out.parameter = false;
    out.extents.reset();
    return out;
  }
  [[nodiscard]] Guess with(ElementType element) const { return {element, of(0).rank, false, of(0).length}; }
  [[nodiscard]] std::optional<std::size_t> length(std::size_t i) const {
    const auto out = of(i).length;
    return out && *out <= kMaxRank ? out : std::nullopt;
  }

  Guess operator()(const Cast& op) const { return with(op.to); }
  Guess operator()(const Quantize& op) const { return with(op.to); }
  Guess operator()(const Dequantize& op) const { return with(op.to); }
  Guess operator()(const Fill& op) const { return {op.element, length(0), false, {}}; }
  Guess operator()(const OneHot& op) const {
    Guess out = with(op.element);
    if (out.rank) ++*out.rank;
    return out;
  }
  Guess operator()(const ShapeOf& op) const {
    if (op.count_only) return {ElementType::kInt64, 0U, false, {}};
    return {ElementType::kInt64, 1U, false, op.begin == 0 && !op.end ? of(0).rank : std::nullopt};
  }
  Guess operator()(const Concat&) const {
    Guess out = of(0);
    for (std::size_t i = 1; i < inputs.size() && out.length; ++i) {
      const auto more = of(i).length;
      out.length = more ? std::optional(*out.length + *more) : std::nullopt;
    }
    return out;
  }
  // These keep the rank, but of a vector not the length.
  Guess operator()(const Slice&) const { return resized(); }
  Guess operator()(const Split&) const { return resized(); }
  Guess operator()(const Pad&) const { return resized(); }
  Guess operator()(const Tile&) const { return resized(); }
  Guess operator()(const Unary& op) const {
    const bool predicate = op.kind == UnaryKind::kNot || op.kind == UnaryKind::kIsNan || op.kind == UnaryKind::kIsInf;
    return predicate ? with(ElementType::kBool) : of(0);
  }
  Guess operator()(const Binary& op) const {
    Guess out = broadcast(of(0), of(1));
    const bool predicate = (op.kind >= BinaryKind::kEqual && op.kind <= BinaryKind::kGreaterEqual) ||
                           (op.kind >= BinaryKind::kAnd && op.kind <= BinaryKind::kXor);
    if (predicate) out.element = ElementType::kBool;
    return out;
  }
  Guess operator()(const Where&) const { return broadcast(of(1), of(2)); }
  Guess operator()(const MatMul&) const { return broadcast(of(0), of(1)); }
  Guess operator()(const Conv&) const { return {of(0).element, of(1).rank, false, {}}; }
  Guess operator()(const Reshape&) const { return {of(0).element, length(1), false, {}}; }
  Guess operator()(const Expand&) const { return broadcast(of(0), Guess{ElementType::kUnknown, length(1), false, {}}); }
  Guess operator()(const Flatten& op) const {
    return {of(0).element, op.last_axis ? std::nullopt : std::optional<std::size_t>(2), false, {}};
  }
  Guess operator()(const Squeeze& op) const { return by_axes(op.axes, -1); }
  Guess operator()(const Unsqueeze& op) const {
    Guess out = by_axes(op.axes, 1);
    if (of(0).rank == 0U && out.rank == 1U) out.length = 1;
    return out;
  }
  Guess operator()(const Reduce& op) const {
    const bool index = op.kind == ReduceKind::kArgMax || op.kind == ReduceKind::kArgMin;
    Guess out = op.keep_axes ? of(0) : by_axes(op.axes, -1);
    if (index) out.element = ElementType::kInt64;
    return out;
  }
  Guess operator()(const Range&) const { return {of(0).element, 1U, false, {}}; }
  Guess operator()(const TopK&) const {
    return {output == 1 ? ElementType::kInt64 : of(0).element, of(0).rank, false, {}};
  }
  Guess operator()(const Pool&) const { return output == 1 ? with(ElementType::kInt64) : of(0); }
  Guess operator()(const Dropout&) const { return output == 1 ? with(ElementType::kBool) : of(0); }
  Guess operator()(const Gather& op) const {
    Guess out{of(0).element, std::nullopt, false, {}};
    const auto x = of(0).rank;
    const auto indices = of(1).rank;
    if (op.kind == GatherKind::kSlices && x && indices && *x > 0) out.rank = *x + *indices - 1;
    if (op.kind == GatherKind::kElements) out.rank = x;
    return out;
  }
  Guess operator()(const Embedding&) const {
    Guess out{of(0).element, of(1).rank, false, {}};
    if (out.rank) ++*out.rank;
    return out;
  }
  Guess operator()(const Rnn&) const {
    return {of(0).element, output == 0 ? std::size_t{4} : std::size_t{3}, false, {}};
  }
  Guess operator()(const Opaque& op) const {
    if (output >= op.output_types.size()) return {};
    const TensorType& type = op.output_types[output];
    if (type.element == ElementType::kUnknown && type.shape.empty()) return {};
    return {type.element, type.shape.size(), false, {}};
  }
  Guess operator()(const If&) const { return {}; }
  Guess operator()(const Loop&) const { return {}; }
  Guess operator()(const Scan&) const { return {}; }
  template <typename Op>
  Guess operator()(const Op&) const {
    return of(0);
  }

  static Guess broadcast(const Guess& a, const Guess& b) {
    Guess out{a.element, std::nullopt, false, {}};
    if (a.rank && b.rank) out.rank = std::max(*a.rank, *b.rank);
    if (a.length == b.length || b.rank == 0U) out.length = a.length;
    if (a.rank == 0U) out.length = b.length;
    return out;
  }
  [[nodiscard]] Guess resized() const { return {of(0).element, of(0).rank, false, {}}; }
  // As many axes more or fewer as the list has.
  [[nodiscard]] Guess by_axes(const IntList& axes, int sign) const {
    const Guess x = of(0);
    if (!x.rank || axes.empty() || (sign < 0 && axes.size() > *x.rank)) return {x.element, std::nullopt, false, {}};
    return {x.element, sign < 0 ? *x.rank - axes.size() : *x.rank + axes.size(), false, {}};
  }
};

}  // namespace

std::string GraphBuilder::free_name(std::string_view wanted) {
  std::string name = printable(wanted, kLongestInGraph);
  if (name.empty()) name = "value";
  if (!names_.insert(name).second) {
    std::string numbered;
    do {
      numbered = fmt::format("{}_{}", name, ++last_suffix_);
    } while (!names_.insert(numbered).second);
    name = std::move(numbered);
  }
  name_bytes_ += name.size();
  return name;
}

void GraphBuilder::rename(ValueId id, std::string_view name) {
  const std::string wanted = printable(name, kLongestInGraph);
  if (wanted.empty() || names_.contains(wanted)) return;
  graph.values[index(id)].name = free_name(wanted);
}

ValueId GraphBuilder::add_computed(std::string_view name, const Guess& guess) {
  guesses_.push_back(guess);
  producers_.push_back(kNoNode);
  return graph.add_value(Value{free_name(name), ValueKind::kComputed, {}, std::nullopt});
}

ValueId GraphBuilder::add_constant(std::string_view name, const TensorType& type, std::optional<Contents> contents,
                                   ValueKind kind) {
  Guess guess{type.element, type.shape.size(), kind == ValueKind::kParameter, {}};
  if (type.shape.size() == 1) guess.length = static_cast<std::size_t>(type.shape[0]);
  guess.extents = type.shape;
  guesses_.push_back(guess);
  producers_.push_back(kNoNode);
  Value value{free_name(name), kind, type, std::nullopt};
  if (contents) {
    value.contents = static_cast<std::uint32_t>(graph.contents.size());
    graph.contents.push_back(std::move(*contents));
  }
  return graph.add_value(std::move(value));
}

ValueId GraphBuilder::add_input(std::string_view name, GraphInput input, const Guess& guess) {
  guesses_.push_back(guess);
  producers_.push_back(kNoNode);
  if (input.dimensions.size() <= kMaxRank) {
    Shape& extents = guesses_.back().extents.emplace();
    for (const Dimension& dimension : input.dimensions) extents.push_back(dimension.extent.value_or(-1));
  }
  Value value{free_name(name), ValueKind::kInput, {}, std::nullopt};
  const bool fixed = std::all_of(input.dimensions.begin(), input.dimensions.end(),
                                 [](const Dimension& d) { return d.extent.has_value(); });
  if (fixed) {
    value.type.element = input.element;
    for (const Dimension& dimension : input.dimensions) value.type.shape.push_back(*dimension.extent);
  }
  input.value = graph.add_value(std::move(value));
  graph.inputs.push_back(std::move(input));
  return graph.inputs.back().value;
}

void GraphBuilder::add_node(Node node) {
  for (const ValueId id : node.outputs) {
    if (id != kNoValue) producers_[index(id)] = static_cast<std::uint32_t>(graph.nodes.size());
  }
  graph.nodes.push_back(std::move(node));
}

bool GraphBuilder::copy_ancestors(ValueId id, Graph& out, std::unordered_map<std::uint32_t, ValueId>& copies) const {
  constexpr std::size_t kMaxValues = 100;
  if (id == kNoValue || copies.contains(static_cast<std::uint32_t>(id))) return true;
  if (copies.size() >= kMaxValues) return false;
  const Value& value = graph.value(id);
  const std::uint32_t producer = producers_[index(id)];
  if (producer == kNoNode) {
    if (value.kind != ValueKind::kConstant && !value.contents) return false;
    const ValueId copy = out.add_value({"", ValueKind::kConstant, value.type, std::nullopt});
    if (value.contents) {
      out.values.back().contents = static_cast<std::uint32_t>(out.contents.size());
      out.contents.push_back(graph.contents[*value.contents]);
    }
    copies.emplace(static_cast<std::uint32_t>(id), copy);
    return true;
  }
  Node node = graph.nodes[producer];
  if (std::holds_alternative<If>(node.op) || std::holds_alternative<Loop>(node.op) ||
      std::holds_alternative<Scan>(node.op) || node.outputs.size() != 1) {
    return false;
  }
  copies.emplace(static_cast<std::uint32_t>(id), out.add_value({}));
  for (ValueId& input : node.inputs) {
    if (!copy_ancestors(input, out, copies)) return false;
    if (input != kNoValue) input = copies.at(static_cast<std::uint32_t>(input));
  }
  node.outputs[0] = copies.at(static_cast<std::uint32_t>(id));
  out.nodes.push_back(std::move(node));
  return true;
}

std::optional<GraphBuilder::Chain> GraphBuilder::follow(ValueId id) const {
  Graph chain;
  std::unordered_map<std::uint32_t, ValueId> copies;
  if (id == kNoValue || !copy_ancestors(id, chain, copies)) return std::nullopt;
  auto types = infer_types(chain, {});
  if (!types) return std::nullopt;
  return Chain{*std::move(types), copies.at(static_cast<std::uint32_t>(id))};
}

std::optional<Contents> GraphBuilder::evaluate(ValueId id) const {
  const auto chain = follow(id);
  const Contents* known = chain ? chain->types.known(chain->id) : nullptr;
  return known == nullptr ? std::nullopt : std::optional(*known);
}

ValueId GraphBuilder::folded(ValueId id, std::string_view name) {
  const auto chain = follow(id);
  if (!chain) return id;
  const Contents* known = chain->types.known(chain->id);
  auto contents = known == nullptr ? std::nullopt : std::optional(*known);
  return add_constant(name, chain->types.type(chain->id), std::move(contents), ValueKind::kConstant);
}

const Node* GraphBuilder::producer(ValueId id) const {
  if (id == kNoValue || producers_[index(id)] == kNoNode) return nullptr;
  return &graph.nodes[producers_[index(id)]];
}

const TensorType* GraphBuilder::type(ValueId id) const {
  const Value& value = graph.value(id);
  const bool told = value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant || guess(id).parameter;
  return told ? &value.type : nullptr;
}

Guess GraphBuilder::guess_output(const Operator& op, const std::vector<ValueId>& inputs, std::size_t output) const {
  return std::visit(Guesser{*this, inputs, output}, op);
}

}  // namespace joulecast
