// SPDX-License-Identifier: Apache-2.0
// How the importer finds values by name, through subgraphs and sequences.
#include <fmt/format.h>

#include <optional>

#include "import/onnx/importer.h"
#include "import/text.h"

namespace joulecast::onnx {

Result<void> Importer::check_outputs(const NodeView& node, const Scope& scope) {
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    const std::string_view name = node.outputs[i];
    if (name.empty() || !scope.used.contains(name) || scope.values.contains(name)) continue;
    if (scope.sequences.contains(name)) continue;
    return unsupported(fmt::format("output {} '{}' is read, but we do not have it", i, printable(name)));
  }
  return {};
}

Result<std::vector<ValueId>> Importer::inputs_of(const NodeView& node, Scope& scope) {
  std::vector<ValueId> out;
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::string_view name = node.inputs[i];
    const bool none = name.empty() || find_sequence(name, scope) != nullptr;
    const auto id = none ? std::optional(kNoValue) : resolve(name, scope);
    if (!id) return invalid(fmt::format("input {} '{}' is produced by no node", i, printable(name)));
    out.push_back(*id);
  }
  while (!out.empty() && out.back() == kNoValue) out.pop_back();
  return out;
}

std::optional<ValueId> Importer::resolve(std::string_view name, Scope& scope) {
  if (const auto it = scope.values.find(name); it != scope.values.end()) return it->second;
  if (scope.outer == nullptr) return std::nullopt;
  const auto outside = resolve(name, *scope.outer);
  if (!outside) return std::nullopt;
  if (*outside == kNoValue || scope.builder == scope.outer->builder) return outside;
  const ValueId inside = capture(*outside, name, scope);
  scope.values.emplace(name, inside);
  return inside;
}

const std::vector<ValueId>* Importer::find_sequence(std::string_view name, Scope& scope) {
  if (const auto it = scope.sequences.find(name); it != scope.sequences.end()) return &it->second;
  if (scope.outer == nullptr || scope.values.contains(name)) return nullptr;
  const std::vector<ValueId>* outside = find_sequence(name, *scope.outer);
  if (outside == nullptr || scope.builder == scope.outer->builder) return outside;
  std::vector<ValueId> inside;
  for (const ValueId id : *outside) inside.push_back(capture(id, name, scope));
  return &scope.sequences.emplace(name, std::move(inside)).first->second;
}

// Small constants are copied, so that shapes inside the body can be followed; everything else becomes an input.
ValueId Importer::capture(ValueId id, std::string_view name, Scope& scope) {
  const GraphBuilder& from = *scope.outer->builder;
  const Value& value = from.graph.value(id);
  if (value.kind == ValueKind::kConstant && value.contents) {
    return scope.builder->add_constant(name, value.type, *from.known(id), ValueKind::kConstant);
  }
  GraphInput input;
  input.element = from.guess(id).element;
  if (const TensorType* type = from.type(id)) {
    for (const std::int64_t extent : type->shape) input.dimensions.push_back({extent, ""});
  }
  const ValueId inside = scope.builder->add_input(name, std::move(input), from.guess(id));
  scope.captures.emplace_back(id, inside);
  return inside;
}

}  // namespace joulecast::onnx
