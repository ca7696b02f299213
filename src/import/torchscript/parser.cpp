// SPDX-License-Identifier: Apache-2.0
// Statements, functions and classes.
#include "import/torchscript/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory_resource>
#include <utility>

#include "import/torchscript/parse_expression.h"

namespace joulecast::torchscript {
namespace {

class Parser {
 public:
  Parser(std::string_view text, Syntax& out) : tokens_(text), expressions_(tokens_, out, scratch_), out_(out) {
    // About as many as the serializer's code has.
    constexpr std::size_t kMost = 4096;
    out.exprs.reserve(std::min(text.size() / 10, kMost));
    out.ids.reserve(std::min(text.size() / 10, kMost));
    out.statements.reserve(std::min(text.size() / 30, kMost));
    open_.reserve(32);
  }

  Result<void> run() {
    JC_RETURN_IF_ERROR(tokens_.advance());
    while (!tokens_.is(TokenKind::kEnd)) {
      if (tokens_.is(TokenKind::kNewline)) {
        JC_RETURN_IF_ERROR(tokens_.advance());
      } else if (tokens_.is(Word::kClass)) {
        JC_RETURN_IF_ERROR(read_class());
      } else if (tokens_.is(Word::kDef)) {
        JC_ASSIGN_OR_RETURN(Function function, read_function());
        const std::string_view name = function.name;
        out_.functions.insert_or_assign(name, std::move(function));
      } else {
        JC_RETURN_IF_ERROR(statement(0));
      }
    }
    return {};
  }

 private:
  // Statements.
  Result<Range> block(std::size_t depth) {
    if (depth > kMaxParseDepth) {
      return unsupported(fmt::format("line {}: blocks nested too deep", tokens_.token().line));
    }
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kColon));
    const std::size_t from = open_.size();
    if (!tokens_.is(TokenKind::kNewline)) {
      JC_ASSIGN_OR_RETURN(const Statement only, statement(depth));
      open_.push_back(only);
      return closed(from);
    }
    JC_RETURN_IF_ERROR(tokens_.advance());
    // A block may have nothing but a comment.
    if (!tokens_.is(TokenKind::kIndent)) return Range{};
    JC_RETURN_IF_ERROR(tokens_.advance());
    while (!tokens_.is(TokenKind::kDedent)) {
      if (tokens_.is(TokenKind::kEnd)) return tokens_.unexpected("a statement");
      JC_ASSIGN_OR_RETURN(const Statement next, statement(depth));
      if (++statements_ > kMaxParts) return unsupported(fmt::format("more than {} parts", kMaxParts));
      open_.push_back(next);
    }
    JC_RETURN_IF_ERROR(tokens_.advance());
    return closed(from);
  }
  Range closed(std::size_t from) {
    const Range out{static_cast<std::uint32_t>(out_.statements.size()),
                    static_cast<std::uint32_t>(open_.size() - from)};
    const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(from);
    out_.statements.insert(out_.statements.end(), begin, open_.end());
    open_.erase(begin, open_.end());
    return out;
  }

  Result<Statement> statement(std::size_t depth) {
    Statement out;
    out.line = tokens_.token().line;
    switch (tokens_.token().word) {
      case Word::kIf:
      case Word::kWhile:
        return condition(out, depth);
      case Word::kFor:
        return loop(out, depth);
      case Word::kWith:
        return unsupported(fmt::format("line {}: a 'with' block", out.line));
      case Word::kDef:
        return unsupported(fmt::format("line {}: a function in a function", out.line));
      case Word::kPass:
        JC_RETURN_IF_ERROR(tokens_.advance());
        JC_RETURN_IF_ERROR(tokens_.end_of_line());
        return out;
      case Word::kReturn:
        return returned(out);
      default:
        return assignment(out);
    }
  }

  Result<Statement> returned(Statement out) {
    out.kind = StatementKind::kReturn;
    JC_RETURN_IF_ERROR(tokens_.advance());
    if (!tokens_.is(TokenKind::kNewline)) {
      JC_ASSIGN_OR_RETURN(out.value, expressions_.expression_list());
    }
    JC_RETURN_IF_ERROR(tokens_.end_of_line());
    return out;
  }

  // value; target = value; a, b, = value; target : Type = value
  Result<Statement> assignment(Statement out) {
    const std::size_t names_before = expressions_.names().size();
    targets_.clear();
    while (true) {
      JC_ASSIGN_OR_RETURN(const ExprId target, expressions_.expression());
      targets_.push_back(target);
      JC_ASSIGN_OR_RETURN(const bool more, tokens_.accept(Word::kComma));
      if (!more) break;
      out.unpacks = true;
      if (tokens_.is(Word::kAssign)) break;
    }
    JC_ASSIGN_OR_RETURN(const bool typed, tokens_.accept(Word::kColon));
    if (typed) JC_RETURN_IF_ERROR(expressions_.type());
    if (tokens_.is(Word::kAssign)) {
      JC_RETURN_IF_ERROR(check_targets(out, names_before));
      JC_RETURN_IF_ERROR(tokens_.advance());
      out.kind = StatementKind::kAssign;
      out.targets = expressions_.listed(targets_);
      unpacks_ = unpacks_ || targets_.size() > 1;
      JC_ASSIGN_OR_RETURN(out.value, expressions_.expression_list());
    } else if (typed) {
      out.targets = expressions_.listed(targets_);
    } else {
      if (out.unpacks) return tokens_.unexpected("'='");
      out.kind = StatementKind::kExpression;
      out.value = targets_[0];
    }
    JC_RETURN_IF_ERROR(tokens_.end_of_line());
    return out;
  }
  // Variables that are given a value are not read.
  Result<void> check_targets(const Statement& statement, std::size_t names_before) {
    const bool plain = std::all_of(targets_.begin(), targets_.end(),
                                   [&](ExprId id) { return out_.exprs[id].kind == ExprKind::kName; });
    if (plain) expressions_.forget_names(names_before);
    for (const ExprId id : targets_) {
      const ExprKind kind = out_.exprs[id].kind;
      if (kind != ExprKind::kName && kind != ExprKind::kAttribute && kind != ExprKind::kSubscript) {
        return invalid(fmt::format("line {}: gives a value to what cannot have one", statement.line));
      }
    }
    return {};
  }

  Result<Statement> condition(Statement out, std::size_t depth) {
    out.kind = tokens_.is(Word::kIf) ? StatementKind::kIf : StatementKind::kWhile;
    JC_RETURN_IF_ERROR(tokens_.advance());
    JC_ASSIGN_OR_RETURN(out.value, expressions_.expression());
    JC_ASSIGN_OR_RETURN(out.body, block(depth + 1));
    JC_ASSIGN_OR_RETURN(const bool otherwise, tokens_.accept(Word::kElse));
    if (otherwise) {
      JC_ASSIGN_OR_RETURN(out.otherwise, block(depth + 1));
    }
    return out;
  }
  Result<Statement> loop(Statement out, std::size_t depth) {
    out.kind = StatementKind::kFor;
    JC_RETURN_IF_ERROR(tokens_.advance());
    JC_ASSIGN_OR_RETURN(const std::string_view variable, tokens_.name());
    JC_ASSIGN_OR_RETURN(const ExprId target, expressions_.add(ExprKind::kName, out.line, variable));
    out.targets = expressions_.listed({&target, 1});
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kIn));
    JC_ASSIGN_OR_RETURN(out.value, expressions_.expression());
    JC_ASSIGN_OR_RETURN(out.body, block(depth + 1));
    return out;
  }

  // Functions and classes.
  Result<Function> read_function() {
    Function out;
    out.line = tokens_.token().line;
    JC_RETURN_IF_ERROR(tokens_.advance());
    JC_ASSIGN_OR_RETURN(out.name, tokens_.name());
    JC_ASSIGN_OR_RETURN(out.parameters, read_parameters());
    JC_ASSIGN_OR_RETURN(const bool typed, tokens_.accept(Word::kArrow));
    if (typed) JC_RETURN_IF_ERROR(expressions_.type());
    expressions_.forget_names(0);
    unpacks_ = false;
    JC_ASSIGN_OR_RETURN(out.body, block(0));
    if (unpacks_) out.read.insert(expressions_.names().begin(), expressions_.names().end());
    return out;
  }
  Result<Range> read_parameters() {
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kParenthesis));
    Range out{static_cast<std::uint32_t>(out_.parameters.size())};
    while (!tokens_.is(Word::kParenthesisEnd)) {
      JC_ASSIGN_OR_RETURN(const Parameter parameter, read_parameter());
      out_.parameters.push_back(parameter);
      ++out.count;
      if (tokens_.is(Word::kParenthesisEnd)) break;
      JC_RETURN_IF_ERROR(tokens_.expect(Word::kComma));
    }
    JC_RETURN_IF_ERROR(tokens_.advance());
    return out;
  }
  Result<Parameter> read_parameter() {
    Parameter out;
    JC_ASSIGN_OR_RETURN(out.name, tokens_.name());
    JC_ASSIGN_OR_RETURN(const bool typed, tokens_.accept(Word::kColon));
    if (typed) {
      JC_ASSIGN_OR_RETURN(out.type, expressions_.type());
    }
    JC_ASSIGN_OR_RETURN(const bool optional, tokens_.accept(Word::kAssign));
    if (optional) {
      JC_ASSIGN_OR_RETURN(out.absent, expressions_.expression());
    }
    return out;
  }

  // class Net(Module):
  Result<void> read_class() {
    JC_RETURN_IF_ERROR(tokens_.advance());
    JC_ASSIGN_OR_RETURN(const std::string_view name, tokens_.name());
    Class& out = out_.classes.try_emplace(name).first->second;
    JC_ASSIGN_OR_RETURN(const bool bases, tokens_.accept(Word::kParenthesis));
    if (bases) JC_RETURN_IF_ERROR(expressions_.skip_to(Word::kParenthesisEnd));
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kColon));
    JC_RETURN_IF_ERROR(tokens_.end_of_line());
    if (!tokens_.is(TokenKind::kIndent)) return {};
    JC_RETURN_IF_ERROR(tokens_.advance());
    while (!tokens_.is(TokenKind::kDedent)) {
      if (tokens_.is(TokenKind::kEnd)) return tokens_.unexpected("a method");
      JC_RETURN_IF_ERROR(read_member(out));
    }
    return tokens_.advance();
  }
  Result<void> read_member(Class& out) {
    if (tokens_.is(Word::kDef)) {
      JC_ASSIGN_OR_RETURN(Function function, read_function());
      const std::string_view name = function.name;
      out.methods.insert_or_assign(name, std::move(function));
      return {};
    }
    // What most lines of a traced module are; nobody asks for the types of its fields.
    const Token first = tokens_.token();
    if (tokens_.is(TokenKind::kName) && tokens_.is(Word::kOther) && tokens_.skip_declared_type()) {
      out.fields.push_back(first.text);
      return tokens_.advance();
    }
    JC_ASSIGN_OR_RETURN(const Statement attribute, statement(0));
    if (attribute.targets.count != 1) return {};
    const std::string_view name = out_.exprs[out_.ids[attribute.targets.first]].text;
    if (attribute.kind == StatementKind::kAssign) out.constants.insert_or_assign(name, attribute.value);
    if (attribute.kind == StatementKind::kPass) out.fields.push_back(name);
    return {};
  }

  std::array<std::byte, 4096> buffer_;  // of the scratch memory of a text of usual size
  std::pmr::monotonic_buffer_resource scratch_{buffer_.data(), buffer_.size()};
  TokenCursor tokens_;
  ExpressionParser expressions_;
  Syntax& out_;
  std::pmr::vector<Statement> open_{&scratch_};  // of blocks that are not closed yet, the innermost last
  std::pmr::vector<ExprId> targets_{&scratch_};  // of the statement at hand
  std::size_t statements_ = 0;
  bool unpacks_ = false;  // whether a statement of the function has several targets
};

}  // namespace

Result<Syntax> parse(std::string_view text, SourceMemory& memory) {
  Syntax out(memory);
  JC_RETURN_IF_ERROR(Parser(text, out).run());
  return out;
}

}  // namespace joulecast::torchscript
