// SPDX-License-Identifier: Apache-2.0
// Binds symbols to numbers and propagates types from the inputs to the outputs, node by node.
#include <fmt/format.h>

#include <algorithm>

#include "graph/batch_axis.h"
#include "graph/guessed.h"
#include "graph/infer_context.h"
#include "joulecast/graph.h"

namespace joulecast {

Result<void> InferContext::require(std::size_t i, std::string_view what) const {
  if (has(i)) return {};
  return invalid(fmt::format("input {} ({}) is missing", i, what));
}

Result<std::span<const std::int64_t>> InferContext::ints(std::size_t i, std::string_view what) const {
  JC_RETURN_IF_ERROR(require(i, what));
  const Contents* contents = known(i);
  if (contents == nullptr) {
    return unsupported(fmt::format("input {} ({}) depends on data, so the shape does too", i, what));
  }
  return std::span<const std::int64_t>(contents->ints);
}

Result<void> InferContext::set(std::size_t i, ElementType element, const Shape& shape) {
  if (i >= node_.outputs.size() || node_.outputs[i] == kNoValue) return {};
  if (!checked_elements(shape)) {
    return invalid(fmt::format("output {} would have shape {}: not a possible tensor", i, text(shape)));
  }
  table_.set_type(node_.outputs[i], TensorType{element, shape});
  return {};
}

void InferContext::set_known(std::size_t i, Contents contents) {
  if (i < node_.outputs.size() && node_.outputs[i] != kNoValue) table_.set_known(node_.outputs[i], std::move(contents));
}

Result<std::size_t> normalize_axis(std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) {
    return invalid(fmt::format("axis {} is outside a tensor of rank {}", axis, rank));
  }
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

ElementType promoted(const TensorType& a, const TensorType& b) {
  if (a.element == b.element || !is_floating(a.element) || !is_floating(b.element)) return a.element;
  if (a.shape.empty() != b.shape.empty()) return a.shape.empty() ? b.element : a.element;
  if (bit_width(a.element) == bit_width(b.element)) return ElementType::kFloat32;
  return bit_width(a.element) > bit_width(b.element) ? a.element : b.element;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape out = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& extent = out[offset + i];
    if (extent == shorter[i] || shorter[i] == 1) continue;
    if (extent != 1) return invalid(fmt::format("shapes {} and {} do not broadcast", text(a), text(b)));
    extent = shorter[i];
  }
  return out;
}

namespace {

std::optional<std::int64_t> lookup(const Graph& graph, const Binding& binding, const std::string& symbol) {
  if (const auto it = binding.symbols.find(symbol); it != binding.symbols.end()) return it->second;
  const BatchAxis batch = batch_axis(graph);
  if (binding.batch && batch.input != nullptr && batch.input->dimensions[batch.axis].symbol == symbol) {
    return binding.batch;
  }
  return std::nullopt;
}

// Symbols that a whole shape given for one input fixes hold for the other inputs too.
Binding with_symbols_of_shapes(const Graph& graph, const Binding& binding) {
  Binding out = binding;
  for (const GraphInput& input : graph.inputs) {
    const auto it = binding.shapes.find(graph.value(input.value).name);
    if (it == binding.shapes.end() || it->second.size() != input.dimensions.size()) continue;
    for (std::size_t i = 0; i < input.dimensions.size(); ++i) {
      if (!input.dimensions[i].extent) out.symbols.try_emplace(input.dimensions[i].symbol, it->second[i]);
    }
  }
  return out;
}

Result<Shape> given_shape(const GraphInput& input, const Shape& given) {
  if (!input.dimensions.empty() && given.size() != input.dimensions.size()) {
    return invalid(
        fmt::format("shape {} has rank {}, the model wants {}", text(given), given.size(), input.dimensions.size()));
  }
  for (std::size_t i = 0; i < input.dimensions.size(); ++i) {
    const auto& fixed = input.dimensions[i].extent;
    if (fixed && *fixed != given[i]) {
      const std::string_view way = i == 0 ? ": ask for that batch, or save the model with an open one" : "";
      return invalid(fmt::format("extent {} of axis {} is fixed to {} in the model{}", given[i], i, *fixed, way));
    }
  }
  return given;
}

// Known extents as they are, symbols by name: "<batch>x128".
std::string open_shape(const GraphInput& input) {
  std::string out;
  for (std::size_t i = 0; i < input.dimensions.size(); ++i) {
    if (i > 0) out += 'x';
    const Dimension& d = input.dimensions[i];
    out += d.extent ? std::to_string(*d.extent) : "<" + d.symbol + ">";
  }
  return out;
}

Result<Shape> bind_input(const Graph& graph, const GraphInput& input, const Binding& binding) {
  const std::string& name = graph.value(input.value).name;
  if (const auto it = binding.shapes.find(name); it != binding.shapes.end()) return given_shape(input, it->second);
  Shape shape;
  for (const Dimension& dimension : input.dimensions) {
    const auto extent = dimension.extent ? dimension.extent : lookup(graph, binding, dimension.symbol);
    if (!extent) {
      return invalid(fmt::format("dimension '{}' of {} has no value", dimension.symbol, open_shape(input)));
    }
    shape.push_back(*extent);
  }
  if (!checked_elements(shape)) return invalid(fmt::format("shape {} is not a possible tensor", text(shape)));
  return shape;
}

// "'x', 'y'"; a model that takes its state in hundreds of inputs shows the first of them.
std::string input_names(const Graph& graph) {
  constexpr std::size_t kShown = 8;
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, graph.inputs.size()); ++i)
    out += fmt::format("{}'{}'", i > 0 ? ", " : "", graph.value(graph.inputs[i].value).name);
  if (graph.inputs.size() > kShown) out += fmt::format(" and {} more", graph.inputs.size() - kShown);
  return graph.inputs.empty() ? "none" : out;
}

Result<void> bind_inputs(const Graph& graph, const Binding& binding, TypeTable& table) {
  const Binding all = with_symbols_of_shapes(graph, binding);
  for (const auto& [name, shape] : binding.shapes) {
    bool found = false;
    for (const GraphInput& input : graph.inputs) found = found || graph.value(input.value).name == name;
    if (!found) return not_found(fmt::format("the model has no input '{}'; it has {}", name, input_names(graph)));
  }
  for (const GraphInput& input : graph.inputs) {
    auto shape = bind_input(graph, input, all);
    if (!shape) {
      return tl::unexpected(std::move(shape).error().in(fmt::format("input '{}'", graph.value(input.value).name)));
    }
    table.set_type(input.value, TensorType{input.element, *shape});
  }
  return {};
}

// Operators index known contents by the shape, so the two must agree before any of them looks.
Result<void> check_source(const Graph& graph, const Value& value) {
  const auto elements = checked_elements(value.type.shape);
  if (!elements) {
    return invalid(fmt::format("value '{}' has shape {}: not a possible tensor", value.name, text(value.type.shape)));
  }
  if (!value.contents) return {};
  const Contents& contents = graph.contents[*value.contents];
  const auto fits = [&](std::size_t count) { return count == 0 || count == static_cast<std::size_t>(*elements); };
  if (fits(contents.ints.size()) && fits(contents.reals.size()) &&
      (*elements == 0 || contents.ints.size() + contents.reals.size() > 0)) {
    return {};
  }
  return invalid(fmt::format("value '{}' of shape {} has {} known elements", value.name, text(value.type.shape),
                             contents.ints.size() + contents.reals.size()));
}

Result<void> seed_sources(const Graph& graph, TypeTable& table) {
  for (std::size_t i = 0; i < graph.values.size(); ++i) {
    const Value& value = graph.values[i];
    if (value.kind == ValueKind::kComputed || value.kind == ValueKind::kInput) continue;
    JC_RETURN_IF_ERROR(check_source(graph, value));
    const ValueId id{static_cast<std::uint32_t>(i)};
    table.set_type(id, value.type);
    if (value.contents) table.set_known(id, graph.contents[*value.contents]);
  }
  return {};
}

}  // namespace

std::vector<UnboundDimension> unbound_dimensions(const Graph& graph, const Binding& binding) {
  const Binding all = with_symbols_of_shapes(graph, binding);
  std::vector<UnboundDimension> out;
  for (const GraphInput& input : graph.inputs) {
    const std::string& name = graph.value(input.value).name;
    if (binding.shapes.contains(name)) continue;
    for (std::size_t axis = 0; axis < input.dimensions.size(); ++axis) {
      const Dimension& dimension = input.dimensions[axis];
      if (dimension.extent || lookup(graph, all, dimension.symbol)) continue;
      const bool seen =
          std::any_of(out.begin(), out.end(), [&](const auto& u) { return u.symbol == dimension.symbol; });
      if (!seen) out.push_back({dimension.symbol, name, axis});
    }
  }
  return out;
}

namespace {

Result<void> infer_nodes(const Graph& graph, TypeTable& table) {
  table.bodies().resize(graph.bodies.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    InferContext context(graph, node, table);
    auto done = std::visit([&](const auto& op) { return infer(op, context); }, node.op);
    if (!done) {
      const std::string place = node.name.empty() ? fmt::format("node {}", i) : fmt::format("node '{}'", node.name);
      return tl::unexpected(blamed_on_unknown(std::move(done).error().in(fmt::format("{} ({})", place, label(node.op))),
                                              graph, node.inputs));
    }
  }
  return {};
}

}  // namespace

Result<void> infer_body(const Graph& body, TypeTable& table) {
  JC_RETURN_IF_ERROR(seed_sources(body, table));
  return infer_nodes(body, table);
}

Result<TypeTable> infer_types(const Graph& graph, const Binding& binding) {
  TypeTable table(graph.values.size());
  JC_RETURN_IF_ERROR(seed_sources(graph, table));
  JC_RETURN_IF_ERROR(bind_inputs(graph, binding, table));
  JC_RETURN_IF_ERROR(infer_nodes(graph, table));
  return table;
}

}  // namespace joulecast
