// SPDX-License-Identifier: Apache-2.0
// How the importer finds nodes by name, and in which order it lowers those that the outputs need.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "import/tensorflow/importer.h"
#include "import/tensorflow/operators.h"
#include "import/text.h"

namespace joulecast::tensorflow {

Result<Reference> parse_reference(std::string_view text) {
  Reference out;
  out.control = text.starts_with('^');
  if (out.control) text.remove_prefix(1);
  const std::size_t colon = text.find(':');
  out.node = text.substr(0, colon);
  if (colon == std::string_view::npos) return out;
  std::string_view rest = text.substr(colon + 1);
  if (const std::size_t second = rest.find(':'); second != std::string_view::npos) {
    out.output = rest.substr(0, second);
    rest = rest.substr(second + 1);
  }
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), out.index);
  if (error != std::errc{} || end != rest.data() + rest.size()) {
    return invalid(fmt::format("'{}' names no tensor", printable(text)));
  }
  return out;
}

// Nothing for control inputs and arguments of the function.
Result<std::optional<std::uint32_t>> Importer::place_of(std::string_view input, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const Reference reference, parse_reference(input));
  if (reference.control || scope.arguments.contains(reference.node)) return std::optional<std::uint32_t>();
  const auto it = scope.places.find(reference.node);
  if (it == scope.places.end()) return invalid(fmt::format("input '{}' is no node of the graph", printable(input)));
  JC_ASSIGN_OR_RETURN(const std::size_t port, port_of(reference, it->second, scope));
  scope.used[it->second] |= std::uint64_t{1} << std::min<std::size_t>(port, 63);
  return std::optional(it->second);
}

// Names of outputs only occur in functions. An operator that is not listed has one, which may stand for several.
Result<std::size_t> Importer::port_of(const Reference& reference, std::uint32_t place, const Scope& scope) const {
  if (reference.output.empty()) return reference.index;
  const NodeView& node = scope.nodes[place];
  if (const FunctionView* function = find_function(node.op)) {
    for (std::size_t i = 0; i < function->outputs.size(); ++i) {
      if (function->outputs[i].name == reference.output) return i;
    }
  }
  return output_place(node.op, reference.output) + reference.index;
}

Result<Tensor> Importer::resolve(std::string_view input, const Scope& scope) const {
  JC_ASSIGN_OR_RETURN(const Reference reference, parse_reference(input));
  if (const auto it = scope.arguments.find(reference.node); it != scope.arguments.end()) return it->second;
  const auto place = scope.places.find(reference.node);
  if (place == scope.places.end()) return invalid(fmt::format("'{}' is no node of the graph", printable(input)));
  JC_ASSIGN_OR_RETURN(const std::size_t port, port_of(reference, place->second, scope));
  const std::vector<Tensor>& outputs = scope.outputs[place->second];
  if (port < outputs.size()) return outputs[port];
  if (outputs.empty()) return Tensor{};  // the back edge of a loop from before TensorFlow 2
  return unsupported(fmt::format("output '{}' is read, but we do not have it", printable(input)));
}

// Nodes that the roots need, by their places.
Result<std::vector<std::uint32_t>> Importer::reached(std::span<const std::string_view> roots, Scope& scope) {
  std::vector<bool> seen(scope.nodes.size(), false);
  std::vector<std::uint32_t> out;
  const auto visit = [&](std::string_view input) -> Result<void> {
    JC_ASSIGN_OR_RETURN(const auto place, place_of(input, scope));
    if (place && !seen[*place]) {
      seen[*place] = true;
      out.push_back(*place);
    }
    return {};
  };
  for (const std::string_view root : roots) JC_RETURN_IF_ERROR(visit(root));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const NodeView& node = scope.nodes[out[i]];
    if (!scope.outputs[out[i]].empty()) continue;  // an input of the network
    for (const std::string_view input : node.inputs) {
      auto done = visit(input);
      if (!done) return tl::unexpected(std::move(done).error().in(fmt::format("node '{}'", printable(node.name))));
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The order of the file, where every node comes after its inputs; else inputs are brought forward. A cycle is only
// legal through a Merge (a loop from before TensorFlow 2), whose inputs after the first are then not waited for.
Result<std::vector<std::uint32_t>> Importer::order(std::span<const std::string_view> roots, Scope& scope) {
  JC_ASSIGN_OR_RETURN(const std::vector<std::uint32_t> needed, reached(roots, scope));
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(scope.nodes.size(), State::kNew);
  struct Step {
    std::uint32_t place;
    std::size_t next = 0;
  };
  std::vector<std::uint32_t> out;
  std::vector<Step> open;
  for (const std::uint32_t start : needed) {
    if (states[start] == State::kNew) open.push_back({start});
    while (!open.empty()) {
      Step& step = open.back();
      const NodeView& node = scope.nodes[step.place];
      states[step.place] = State::kOpen;
      const bool given = !scope.outputs[step.place].empty();
      const std::size_t inputs = given                ? 0
                                 : node.op == "Merge" ? std::min<std::size_t>(1, node.inputs.size())
                                                      : node.inputs.size();
      if (step.next >= inputs) {
        states[step.place] = State::kDone;
        out.push_back(step.place);
        open.pop_back();
        continue;
      }
      JC_ASSIGN_OR_RETURN(const auto place, place_of(node.inputs[step.next++], scope));
      if (!place || states[*place] == State::kDone) continue;
      if (states[*place] == State::kOpen) {
        return invalid(fmt::format("node '{}' takes part in a cycle", printable(node.name)));
      }
      open.push_back({*place});
    }
  }
  return out;
}

}  // namespace joulecast::tensorflow
