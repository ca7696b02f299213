// SPDX-License-Identifier: Apache-2.0
// Text -> graph: recursive descent, one function a statement. The format is described in docs/formats/graph-text.md.
#include <fmt/format.h>

#include <charconv>
#include <type_traits>
#include <unordered_map>

#include "graph/enum_names.h"
#include "graph/text_form.h"
#include "graph/text_lexer.h"
#include "joulecast/graph.h"

namespace joulecast {
namespace {

using text_form::Lexer;
using text_form::Token;
using text_form::TokenKind;

template <typename T>
Result<void> parse_number(Lexer& lexer, T& out, std::string_view what) {
  const std::string_view source = lexer.peek().source;
  const bool numeric = lexer.peek().kind == TokenKind::kNumber ||
                       (std::is_floating_point_v<T> && lexer.peek().kind == TokenKind::kWord);  // inf, nan
  if (!numeric) return lexer.expected(what);
  const auto [end, status] = std::from_chars(source.data(), source.data() + source.size(), out);
  if (status != std::errc{} || end != source.data() + source.size()) return lexer.expected(what);
  lexer.take();
  return {};
}

// "[a, b, c]"; `item` parses one.
template <typename Item>
Result<void> parse_list(Lexer& lexer, Item&& item) {
  JC_RETURN_IF_ERROR(lexer.expect('['));
  if (lexer.accept(']')) return {};
  do {
    JC_RETURN_IF_ERROR(item());
  } while (lexer.accept(','));
  return lexer.expect(']');
}

Result<void> parse(Lexer& lexer, bool& out) {
  if (!lexer.peek().is_word("true") && !lexer.peek().is_word("false")) return lexer.expected("true or false");
  out = lexer.take().source == "true";
  return {};
}
Result<void> parse(Lexer& lexer, std::int64_t& out) {
  return parse_number(lexer, out, "a whole number of 64 bits");
}
Result<void> parse(Lexer& lexer, std::uint32_t& out) {
  return parse_number(lexer, out, "a whole number of 32 bits, not negative");
}
Result<void> parse(Lexer& lexer, double& out) {
  return parse_number(lexer, out, "a number");
}
Result<void> parse(Lexer& lexer, std::string& out) {
  if (lexer.peek().kind != TokenKind::kString) return lexer.expected("a quoted text");
  out = lexer.take().text;
  return {};
}
Result<void> parse(Lexer& lexer, ElementType& out) {
  const auto type = parse_element_type(lexer.peek().source);
  if (!type || lexer.peek().kind == TokenKind::kString) return lexer.expected("an element type (f32, i64, ...)");
  out = *type;
  lexer.take();
  return {};
}
template <typename E>
Result<void> parse(Lexer& lexer, E& out) requires std::is_enum_v<E> {
  const auto value = parse_enum<E>(lexer.peek().source);
  if (!value || lexer.peek().kind != TokenKind::kWord) {
    return lexer.expected(fmt::format("one of {}", fmt::join(EnumNames<E>::kNames, ", ")));
  }
  out = *value;
  lexer.take();
  return {};
}
Result<void> parse(Lexer& lexer, std::optional<std::int64_t>& out) {
  return parse(lexer, out.emplace());
}
template <std::size_t N>
Result<void> parse(Lexer& lexer, InlineVector<std::int64_t, N>& out) {
  out.clear();
  return parse_list(lexer, [&]() -> Result<void> {
    if (out.full()) return lexer.expected(fmt::format("at most {} numbers", N));
    std::int64_t item = 0;
    JC_RETURN_IF_ERROR(parse(lexer, item));
    out.push_back(item);
    return {};
  });
}
// f32[2, 3]; without brackets a scalar.
Result<void> parse(Lexer& lexer, TensorType& out) {
  JC_RETURN_IF_ERROR(parse(lexer, out.element));
  out.shape.clear();
  return lexer.peek().is_mark('[') ? parse(lexer, out.shape) : Result<void>{};
}
// 3, batch, "2*n", or batch = 3.
Result<void> parse(Lexer& lexer, Dimension& out) {
  if (lexer.peek().kind == TokenKind::kWord) {
    out.symbol = std::string(lexer.take().source);
  } else if (lexer.peek().kind == TokenKind::kString) {
    out.symbol = lexer.take().text;
  } else {
    return parse(lexer, out.extent);
  }
  return lexer.accept('=') ? parse(lexer, out.extent) : Result<void>{};
}
template <typename T>
Result<void> parse(Lexer& lexer, std::vector<T>& out) {
  out.clear();
  return parse_list(lexer, [&]() { return parse(lexer, out.emplace_back()); });
}
// Finds one field of an operator by its name and parses its value into it.
template <typename Op>
Result<void> parse_field(Lexer& lexer, Op& op, std::uint32_t& seen) {
  if (lexer.peek().kind != TokenKind::kWord) return lexer.expected("a field");
  const Token field = lexer.take();
  Result<void> result;
  std::uint32_t bit = 1;
  bool found = false;
  Op::fields([&](std::string_view name, auto member) {
    if (name == field.source) {
      found = true;
      if ((seen & bit) != 0) {
        result = lexer.error(field.offset, fmt::format("field '{}' is given twice", name));
      } else {
        seen |= bit;
        result = lexer.expect('=');
        if (result) result = parse(lexer, op.*member);
      }
    }
    bit <<= 1;
  });
  if (!found) return lexer.error(field.offset, fmt::format("'{}' has no field '{}'", Op::kName, field.source));
  return result;
}

template <typename Op>
Result<void> parse_fields(Lexer& lexer, Op& op) {
  if (!lexer.accept('{') || lexer.accept('}')) return {};
  std::uint32_t seen = 0;
  do {
    JC_RETURN_IF_ERROR(parse_field(lexer, op, seen));
  } while (lexer.accept(','));
  return lexer.expect('}');
}

template <std::size_t I = 0>
bool make_operator(std::string_view name, Operator& out) {
  if constexpr (I < std::variant_size_v<Operator>) {
    if (name != std::variant_alternative_t<I, Operator>::kName) return make_operator<I + 1>(name, out);
    out.emplace<I>();
    return true;
  } else {
    return false;
  }
}

class GraphParser {
 public:
  GraphParser(Lexer& lexer, std::size_t depth) : lexer_(lexer), depth_(depth) {}

  // The statements up to the closing brace.
  Result<Graph> run() {
    JC_RETURN_IF_ERROR(lexer_.expect('{'));
    while (!lexer_.accept('}')) JC_RETURN_IF_ERROR(statement());
    return std::move(graph_);
  }

 private:
  Result<void> statement() {
    const Token& next = lexer_.peek();
    if (next.kind == TokenKind::kValue || next.is_mark('(') || next.is_word("_")) return node();
    using Parse = Result<void> (GraphParser::*)();
    static constexpr std::pair<std::string_view, Parse> kStatements[] = {
        {"input", &GraphParser::input},   {"parameter", &GraphParser::parameter}, {"constant", &GraphParser::constant},
        {"output", &GraphParser::output}, {"note", &GraphParser::note},           {"body", &GraphParser::body},
        {"order", &GraphParser::order},   {"contents", &GraphParser::contents}};
    for (const auto& [word, parse_statement] : kStatements) {
      if (!next.is_word(word)) continue;
      lexer_.take();
      return (this->*parse_statement)();
    }
    return lexer_.expected("a statement or '}'");
  }

  static std::string key(const Token& value) { return fmt::format("{}@{}", value.occurrence, value.text); }

  // A value that this statement produces: a new one, or one that `order` announced.
  Result<ValueId> declare(ValueKind kind) {
    if (lexer_.peek().kind != TokenKind::kValue) return lexer_.expected("a value (%name)");
    const Token token = lexer_.take();
    const auto [at, added] = ids_.try_emplace(key(token), ValueId{static_cast<std::uint32_t>(graph_.values.size())});
    if (added) {
      graph_.add_value(Value{.name = token.text, .kind = kind, .type = {}, .contents = {}});
      produced_.push_back(false);
    }
    const std::size_t id = index(at->second);
    if (produced_[id]) return lexer_.error(token.offset, fmt::format("{} is produced twice", token.source));
    produced_[id] = true;
    graph_.values[id].kind = kind;
    return at->second;
  }

  Result<ValueId> read() {
    if (lexer_.peek().kind != TokenKind::kValue) return lexer_.expected("a value (%name)");
    const Token token = lexer_.take();
    const auto at = ids_.find(key(token));
    if (at == ids_.end() || !produced_[index(at->second)]) {
      return lexer_.error(token.offset, fmt::format("{} is read before it is produced", token.source));
    }
    return at->second;
  }

  Result<void> annotation(ValueId id) {
    if (!lexer_.accept(':')) return {};
    return parse(lexer_, graph_.values[index(id)].type);
  }

  Result<void> input() {
    GraphInput input;
    JC_ASSIGN_OR_RETURN(input.value, declare(ValueKind::kInput));
    JC_RETURN_IF_ERROR(lexer_.expect(':'));
    JC_RETURN_IF_ERROR(parse(lexer_, input.element));
    if (lexer_.peek().is_mark('[')) JC_RETURN_IF_ERROR(parse(lexer_, input.dimensions));
    TensorType& type = graph_.values[index(input.value)].type;
    type = text_form::implied_type(input);
    if (lexer_.peek().is_word("typed")) {
      lexer_.take();
      JC_RETURN_IF_ERROR(parse(lexer_, type));
    }
    graph_.inputs.push_back(std::move(input));
    return {};
  }

  Result<void> parameter() { return source(ValueKind::kParameter); }
  Result<void> constant() { return source(ValueKind::kConstant); }

  Result<void> source(ValueKind kind) {
    JC_ASSIGN_OR_RETURN(const ValueId id, declare(kind));
    Value& value = graph_.values[index(id)];
    JC_RETURN_IF_ERROR(lexer_.expect(':'));
    JC_RETURN_IF_ERROR(parse(lexer_, value.type));
    if (!lexer_.accept('=')) return {};
    if (lexer_.peek().is_word("contents")) {
      lexer_.take();
      return parse(lexer_, value.contents.emplace());
    }
    value.contents = static_cast<std::uint32_t>(graph_.contents.size());
    Contents& contents = graph_.contents.emplace_back();
    const bool whole = is_integer(value.type.element) || value.type.element == ElementType::kBool;
    return whole ? one_or_list(contents.ints) : one_or_list(contents.reals);
  }

  template <typename T>
  Result<void> one_or_list(std::vector<T>& out) {
    return lexer_.peek().is_mark('[') ? parse(lexer_, out) : parse(lexer_, out.emplace_back());
  }

  Result<void> contents() {
    Contents& contents = graph_.contents.emplace_back();
    JC_RETURN_IF_ERROR(parse(lexer_, contents.ints));
    return parse(lexer_, contents.reals);
  }

  // Announces values so that they get their ids in this order.
  Result<void> order() {
    do {
      const std::size_t offset = lexer_.peek().offset;
      const std::size_t count = graph_.values.size();
      JC_ASSIGN_OR_RETURN(const ValueId id, declare(ValueKind::kComputed));
      if (graph_.values.size() == count) return lexer_.error(offset, "the value was announced before");
      JC_RETURN_IF_ERROR(annotation(id));
      produced_[index(id)] = false;
    } while (lexer_.accept(','));
    return {};
  }

  Result<void> node() {
    Node node;
    JC_RETURN_IF_ERROR(node_outputs(node));
    JC_RETURN_IF_ERROR(lexer_.expect('='));
    if (lexer_.peek().kind != TokenKind::kWord || !make_operator(lexer_.peek().source, node.op)) {
      return lexer_.expected("an operator");
    }
    lexer_.take();
    JC_RETURN_IF_ERROR(node_inputs(node));
    JC_RETURN_IF_ERROR(std::visit([&](auto& op) { return parse_fields(lexer_, op); }, node.op));
    if (lexer_.peek().kind == TokenKind::kString) node.name = lexer_.take().text;
    // Only now: a node does not read what it produces.
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) produced_[index(id)] = true;
    }
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  Result<void> node_outputs(Node& node) {
    if (lexer_.accept('(')) return lexer_.expect(')');
    do {
      node.outputs.push_back(kNoValue);
      if (accept_no_value()) continue;
      JC_ASSIGN_OR_RETURN(node.outputs.back(), declare(ValueKind::kComputed));
      JC_RETURN_IF_ERROR(annotation(node.outputs.back()));
    } while (lexer_.accept(','));
    for (const ValueId id : node.outputs) {
      if (id != kNoValue) produced_[index(id)] = false;
    }
    return {};
  }

  Result<void> node_inputs(Node& node) {
    JC_RETURN_IF_ERROR(lexer_.expect('('));
    if (lexer_.accept(')')) return {};
    do {
      node.inputs.push_back(kNoValue);
      if (accept_no_value()) continue;
      JC_ASSIGN_OR_RETURN(node.inputs.back(), read());
    } while (lexer_.accept(','));
    return lexer_.expect(')');
  }

  bool accept_no_value() {
    if (!lexer_.peek().is_word("_")) return false;
    lexer_.take();
    return true;
  }

  Result<void> output() {
    do {
      JC_ASSIGN_OR_RETURN(const ValueId id, read());
      graph_.outputs.push_back(id);
    } while (lexer_.accept(','));
    return {};
  }

  Result<void> note() { return parse(lexer_, graph_.notes.emplace_back().text); }

  Result<void> body() {
    const std::size_t offset = lexer_.peek().offset;
    std::uint32_t number = 0;
    JC_RETURN_IF_ERROR(parse(lexer_, number));
    if (number != graph_.bodies.size()) {
      return lexer_.error(offset, fmt::format("bodies are numbered in order, expected {}", graph_.bodies.size()));
    }
    if (depth_ == kMaxBodyDepth) {
      return lexer_.error(offset, fmt::format("bodies are nested more than {} deep", kMaxBodyDepth));
    }
    std::string name;
    if (lexer_.peek().kind == TokenKind::kString) name = lexer_.take().text;
    JC_ASSIGN_OR_RETURN(Graph nested, GraphParser(lexer_, depth_ + 1).run());
    nested.name = std::move(name);
    graph_.bodies.push_back(std::move(nested));
    return {};
  }

  Lexer& lexer_;
  std::size_t depth_;
  Graph graph_;
  std::unordered_map<std::string, ValueId> ids_;
  std::vector<bool> produced_;
};

}  // namespace

bool text_form::is_operator(std::string_view word) {
  Operator unused;
  return make_operator(word, unused);
}

Result<Graph> parse_graph(std::string_view text) {
  if (text.size() > text_form::kMaxBytes) {
    return unsupported(fmt::format("the text has {} bytes, more than {}", text.size(), text_form::kMaxBytes));
  }
  Lexer lexer(text);
  if (!lexer.peek().is_word("graph")) return lexer.expected("'graph'");
  lexer.take();
  std::string name;
  if (lexer.peek().kind == TokenKind::kString) name = lexer.take().text;
  JC_ASSIGN_OR_RETURN(Graph graph, GraphParser(lexer, 0).run());
  if (lexer.peek().kind != TokenKind::kEnd) return lexer.expected("the end of the text");
  graph.name = std::move(name);
  JC_RETURN_IF_ERROR(validate(graph));
  return graph;
}

}  // namespace joulecast
