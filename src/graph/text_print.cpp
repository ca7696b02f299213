// SPDX-License-Identifier: Apache-2.0
// Graph -> text. The format is described in docs/formats/graph-text.md.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "graph/enum_names.h"
#include "graph/text_form.h"
#include "graph/text_lexer.h"
#include "joulecast/graph.h"

namespace joulecast {
namespace {

using text_form::in_quotes;

template <typename List>
std::string list(const List& items);

std::string to_text(bool value) {
  return value ? "true" : "false";
}
std::string to_text(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string to_text(std::uint32_t value) {
  return fmt::format("{}", value);
}
// The shortest digits that read back as the same double.
std::string to_text(double value) {
  return fmt::format("{}", value);
}
std::string to_text(const std::string& value) {
  return in_quotes(value);
}
std::string to_text(ElementType value) {
  return std::string(name(value));
}
template <typename E>
std::string to_text(E value) requires std::is_enum_v<E> {
  return std::string(enum_name(value));
}
// Only values that differ from the default are printed, so an optional one is there.
std::string to_text(const std::optional<std::int64_t>& value) {
  return to_text(value.value_or(0));
}
std::string to_text(const TensorType& type) {
  return fmt::format("{}{}", name(type.element), list(type.shape));
}
std::string to_text(const Extents& value) {
  return list(value);
}
std::string to_text(const IntList& value) {
  return list(value);
}
std::string to_text(const std::vector<TensorType>& value) {
  return list(value);
}
std::string to_text(const Dimension& dimension) {
  std::string symbol = text_form::is_word(dimension.symbol) ? dimension.symbol : in_quotes(dimension.symbol);
  if (!dimension.extent) return symbol;
  if (dimension.symbol.empty()) return to_text(*dimension.extent);
  return fmt::format("{} = {}", symbol, *dimension.extent);
}

template <typename List>
std::string list(const List& items) {
  std::string out = "[";
  for (const auto& item : items) {
    if (out.size() > 1) out += ", ";
    out += to_text(item);
  }
  return out + ']';
}

template <typename Op>
std::string fields_text(const Op& op) {
  const Op defaults;
  std::string out;
  Op::fields([&](std::string_view field, auto member) {
    if (op.*member == defaults.*member) return;
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", field, to_text(op.*member));
  });
  return out;
}

}  // namespace

std::string text_form::fields_text(const Operator& op) {
  return std::visit([](const auto& one) { return joulecast::fields_text(one); }, op);
}

namespace {

class Printer {
 public:
  Printer(const Graph& graph, std::size_t depth) : graph_(graph), indent_(2 * depth, ' ') { name_values(); }

  std::string run() {
    layout();
    const std::string statements = std::move(out_);
    out_.clear();
    if (!in_order()) order();
    if (!contents_inline_) all_contents();
    out_ += statements;
    for (const ValueId id : graph_.outputs) line("output " + names_[index(id)]);
    for (const GraphNote& note : graph_.notes) line("note " + in_quotes(note.text));
    for (std::size_t i = 0; i < graph_.bodies.size(); ++i) body(i);
    return std::move(out_);
  }

 private:
  void line(std::string_view text) { out_ += fmt::format("{}{}\n", indent_, text); }

  // Equal names are told apart by their number; an empty name always has one, so that it can be seen.
  void name_values() {
    std::unordered_map<std::string_view, std::uint32_t> seen;
    for (const Value& value : graph_.values) {
      const std::uint32_t occurrence = seen[value.name]++;
      std::string text = "%" + (text_form::is_plain_value_name(value.name) ? value.name : in_quotes(value.name));
      if (occurrence > 0 || value.name.empty()) text += fmt::format("@{}", occurrence);
      names_.push_back(std::move(text));
    }
    contents_inline_ = contents_in_order();
  }

  // Contents are written beside their value where each belongs to one value and comes in the order of the values.
  [[nodiscard]] bool contents_in_order() const {
    std::size_t next = 0;
    for (const Value& value : graph_.values) {
      if (value.contents && *value.contents != next++) return false;
    }
    return next == graph_.contents.size();
  }

  // Inputs and nodes in their order, the sources between them where their id wants them: most graphs then need no
  // order statement.
  void layout() {
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const ValueKind kind = graph_.values[i].kind;
      if (kind == ValueKind::kParameter || kind == ValueKind::kConstant) sources_.push_back(i);
    }
    for (const GraphInput& input : graph_.inputs) {
      sources_before(index(input.value));
      input_statement(input);
    }
    for (const Node& node : graph_.nodes) {
      std::size_t first = index(kNoValue);
      for (const ValueId id : node.outputs) first = std::min(first, index(id));
      if (first != index(kNoValue)) sources_before(first);
      for (const ValueId id : node.inputs) {
        if (id != kNoValue && graph_.value(id).kind != ValueKind::kComputed) sources_before(index(id) + 1);
      }
      node_statement(node);
    }
    sources_before(graph_.values.size());
  }

  void sources_before(std::size_t end) {
    for (; next_source_ < sources_.size() && sources_[next_source_] < end; ++next_source_) {
      const std::size_t id = sources_[next_source_];
      const Value& value = graph_.values[id];
      std::string text = fmt::format("{} {} : {}", value.kind == ValueKind::kParameter ? "parameter" : "constant",
                                     names_[id], to_text(value.type));
      if (value.contents) text += " = " + contents_text(value);
      line(text);
      written_.push_back(id);
    }
  }

  [[nodiscard]] std::string contents_text(const Value& value) const {
    if (!contents_inline_) return fmt::format("contents {}", *value.contents);
    const Contents& contents = graph_.contents[*value.contents];
    return contents.reals.empty() ? list(contents.ints) : list(contents.reals);
  }

  void input_statement(const GraphInput& input) {
    const Value& value = graph_.value(input.value);
    std::string text =
        fmt::format("input {} : {}{}", names_[index(input.value)], name(input.element), list(input.dimensions));
    if (value.type != text_form::implied_type(input)) text += " typed " + to_text(value.type);
    line(text);
    written_.push_back(index(input.value));
  }

  void node_statement(const Node& node) {
    std::string text;
    for (const ValueId id : node.outputs) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", declared(id));
      if (id != kNoValue) written_.push_back(index(id));
    }
    if (text.empty()) text = "()";
    text += fmt::format(" = {}(", name(node.op));
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId id = node.inputs[i];
      text += fmt::format("{}{}", i == 0 ? "" : ", ", id == kNoValue ? "_" : names_[index(id)]);
    }
    text += ")";
    if (const std::string fields = text_form::fields_text(node.op); !fields.empty()) text += " {" + fields + "}";
    if (!node.name.empty()) text += " " + in_quotes(node.name);
    line(text);
  }

  [[nodiscard]] std::string declared(ValueId id) const {
    if (id == kNoValue) return "_";
    const TensorType& type = graph_.value(id).type;
    return type == TensorType{} ? names_[index(id)] : fmt::format("{} : {}", names_[index(id)], to_text(type));
  }

  [[nodiscard]] bool in_order() const {
    for (std::size_t i = 0; i < written_.size(); ++i) {
      if (written_[i] != i) return false;
    }
    return written_.size() == graph_.values.size();
  }

  // All values by id; those that nothing produces are only here, so their type is too.
  void order() {
    std::vector<bool> produced(graph_.values.size(), false);
    for (const std::size_t id : written_) produced[id] = true;
    std::string text;
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      text += text.empty() ? "order " : ", ";
      text += produced[i] ? names_[i] : declared(ValueId{static_cast<std::uint32_t>(i)});
    }
    line(text);
  }

  void all_contents() {
    for (const Contents& contents : graph_.contents) {
      line(fmt::format("contents {} {}", list(contents.ints), list(contents.reals)));
    }
  }

  void body(std::size_t i) {
    const Graph& body = graph_.bodies[i];
    line(fmt::format("body {}{} {{", i, body.name.empty() ? "" : " " + in_quotes(body.name)));
    out_ += Printer(body, indent_.size() / 2 + 1).run();
    line("}");
  }

  const Graph& graph_;
  std::string indent_;
  std::vector<std::string> names_;
  std::vector<std::size_t> sources_;
  std::size_t next_source_ = 0;
  std::vector<std::size_t> written_;  // ids in the order in which the text introduces them
  bool contents_inline_ = true;
  std::string out_;
};

}  // namespace

std::string print_graph(const Graph& graph) {
  return fmt::format("graph {} {{\n{}}}\n", in_quotes(graph.name), Printer(graph, 1).run());
}

}  // namespace joulecast
