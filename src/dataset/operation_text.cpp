// SPDX-License-Identifier: Apache-2.0
#include "dataset/operation_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/trimmed.h"
#include "graph/text_form.h"

namespace joulecast {
namespace {

// More operands than any operator has, and longer texts than any needs.
constexpr std::size_t kMaxOperands = 64;
constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kShown = 80;  // of what is no operator

std::string type_text(const TensorType& type) {
  return fmt::format("{}[{}]", name(type.element), fmt::join(type.shape, ", "));
}

std::string contents_text(const Graph& graph, ValueId id) {
  const Contents* contents = graph.known(id);
  if (contents == nullptr) return {};
  return contents->reals.empty() ? fmt::format(" = [{}]", fmt::join(contents->ints, ", "))
                                 : fmt::format(" = [{}]", fmt::join(contents->reals, ", "));
}

std::string operand_text(const Graph& graph, ValueId id) {
  if (id == kNoValue) return "_";
  const Value& value = graph.value(id);
  std::string type = type_text(value.type);
  if (value.kind == ValueKind::kParameter) return "w " + type;
  if (value.kind == ValueKind::kConstant) return "c " + type + contents_text(graph, id);
  return type;
}

// Statements of the text form, and the node's arguments.
struct Statements {
  std::string sources, arguments;
  std::size_t count = 0;

  void add(std::string_view operand) {
    const std::size_t i = count++;
    if (i > 0) arguments += ", ";
    if (operand == "_") {
      arguments += '_';
      return;
    }
    const auto [word, prefix] = operand.starts_with("w ")   ? std::pair("parameter", 'w')
                                : operand.starts_with("c ") ? std::pair("constant", 'c')
                                                            : std::pair("input", 'x');
    if (prefix != 'x') operand = trimmed(operand.substr(2));
    sources += fmt::format("{} %{}{} : {}\n", word, prefix, i, operand);
    arguments += fmt::format("%{}{}", prefix, i);
  }
};

Result<Statements> statements(std::string_view operands) {
  Statements out;
  while (true) {
    const std::size_t end = std::min(operands.find(';'), operands.size());
    if (out.count == kMaxOperands) return invalid(fmt::format("more than {} operands", kMaxOperands));
    const std::string_view operand = trimmed(operands.substr(0, end));
    if (operand.empty()) {
      return invalid(
          fmt::format("operand {} is empty; docs/formats/measurements.md says what it may be", out.count + 1));
    }
    out.add(operand);
    if (end == operands.size()) return out;
    operands.remove_prefix(end + 1);
  }
}

// Without its line and column, "line 3, column 6: ", which are those of a text that nobody has seen.
std::string_view without_place(std::string_view error) {
  const std::size_t end = error.starts_with("line ") ? error.find(": ") : std::string_view::npos;
  return end == std::string_view::npos ? error : error.substr(end + 2);
}

}  // namespace

OperationText operation_text(const Graph& graph) {
  const Node& node = graph.nodes.front();
  OperationText out;
  out.op = name(node.op);
  for (const ValueId id : node.inputs) {
    if (!out.operands.empty()) out.operands += "; ";
    out.operands += operand_text(graph, id);
  }
  out.attributes = text_form::fields_text(node.op);
  return out;
}

Result<Graph> parse_operation(const OperationText& text) {
  if (text.operands.size() > kMaxText || text.attributes.size() > kMaxText) {
    return invalid(fmt::format("an operation of more than {} bytes", kMaxText));
  }
  if (!text_form::is_operator(text.op)) {
    return invalid(
        fmt::format("'{}' is no operator; docs/operators.md says what each is called here", text.op.substr(0, kShown)));
  }
  JC_ASSIGN_OR_RETURN(const Statements from, statements(text.operands));
  auto graph = parse_graph(fmt::format("graph \"\" {{\n{}%y = {}({}){}\noutput %y\n}}\n", from.sources, text.op,
                                       from.arguments, text.attributes.empty() ? "" : " {" + text.attributes + "}"));
  if (!graph) {
    return invalid(fmt::format("no operation: {} ({}) {{{}}}: {}", text.op, text.operands, text.attributes,
                               without_place(graph.error().text())));
  }
  JC_RETURN_IF_ERROR(validate(*graph));
  // Texts may hold line ends and braces; what they make must still be one operation.
  if (graph->nodes.size() != 1 || !graph->bodies.empty() || graph->outputs.size() != 1 || !graph->notes.empty()) {
    return invalid(fmt::format("'{}' is not one operation", text.op));
  }
  JC_RETURN_IF_ERROR(infer_types(*graph, {}));
  return graph;
}

}  // namespace joulecast
