// SPDX-License-Identifier: Apache-2.0
// Loops whose states are sequences, repeated while the file is read.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "import/onnx/importer.h"
#include "import/text.h"

namespace joulecast::onnx {

namespace {

// What goes from one repetition to the next: a value or a sequence each.
struct LoopState {
  ValueId value = kNoValue;
  std::optional<std::vector<ValueId>> sequence;
};

LoopState read_state(std::string_view name, ValueId value, Scope& scope) {
  const auto* elements = Importer::find_sequence(name, scope);
  return elements == nullptr ? LoopState{value, {}} : LoopState{kNoValue, *elements};
}

void set_state(std::string_view name, const LoopState& state, Scope& scope) {
  if (state.sequence) {
    scope.sequences.emplace(name, *state.sequence);
  } else {
    scope.values.emplace(name, state.value);
  }
}

std::size_t elements_of(const std::vector<LoopState>& states) {
  std::size_t out = 0;
  for (const LoopState& state : states) out += state.sequence ? state.sequence->size() : 1;
  return out;
}

// The scope of one repetition: it sees all of the outer one and adds to the same graph.
Scope scope_of_trip(const NodeView& node, std::int64_t trip, Scope& outer) {
  Scope out;
  out.builder = outer.builder;
  out.outer = &outer;
  out.opsets = outer.opsets;
  out.attributes = outer.attributes;
  out.prefix = fmt::format("{}{}/{}/", outer.prefix, printable(node.name), trip);
  out.depth = outer.depth + 1;
  out.body_depth = outer.body_depth;
  return out;
}

ValueId constant(const Scope& scope, ElementType element, std::int64_t value) {
  return scope.builder->add_constant(scope.prefix + "loop", {element, {}}, Contents{{value}, {}}, ValueKind::kConstant);
}

}  // namespace

Result<void> Importer::unroll(const GraphView& graph, const NodeView& node, const std::vector<ValueId>& inputs,
                              std::int64_t trips, Scope& outer) {
  const std::size_t count = node.inputs.size() - 2;
  if (outer.depth + 1 > static_cast<std::size_t>(kMaxDepth)) return unsupported("graphs are nested too deep");
  if (graph.inputs.size() != count + 2 || graph.outputs.size() != count + 1 || node.outputs.size() != count) {
    return unsupported("a loop over sequences that also stacks outputs");
  }
  const bool conditional = inputs.size() > 1 && inputs[1] != kNoValue;
  const ValueId condition = conditional ? inputs[1] : constant(outer, ElementType::kBool, 1);
  std::vector<LoopState> states;
  for (std::size_t i = 2; i < count + 2; ++i) {
    states.push_back(read_state(node.inputs[i], i < inputs.size() ? inputs[i] : kNoValue, outer));
  }
  for (std::int64_t trip = 0; trip < trips; ++trip) {
    JC_RETURN_IF_ERROR(count_work(100 + node.size + elements_of(states)));
    Scope inner = scope_of_trip(node, trip, outer);
    inner.values.emplace(graph.inputs[0].name, constant(inner, ElementType::kInt64, trip));
    inner.values.emplace(graph.inputs[1].name, condition);
    for (std::size_t i = 0; i < count; ++i) set_state(graph.inputs[i + 2].name, states[i], inner);
    JC_RETURN_IF_ERROR(lower_trip(graph, inner));
    for (std::size_t i = 0; i < count; ++i) {
      const std::string_view name = graph.outputs[i + 1].name;
      states[i] = read_state(name, resolve(name, inner).value_or(kNoValue), inner);
      if (states[i].sequence || states[i].value != kNoValue) continue;
      return invalid(fmt::format("output '{}' of the body is produced by no node", printable(name)));
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!node.outputs[i].empty()) set_state(node.outputs[i], states[i], outer);
  }
  return {};
}

Result<void> Importer::lower_trip(const GraphView& graph, Scope& scope) {
  JC_RETURN_IF_ERROR(add_initializers(graph, scope));
  for (const ValueInfoView& output : graph.outputs) scope.used.insert(output.name);
  return lower_nodes(graph.nodes, scope);
}

}  // namespace joulecast::onnx
