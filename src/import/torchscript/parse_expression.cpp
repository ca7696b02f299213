// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/parse_expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

namespace joulecast::torchscript {
namespace {

// Of binary operators; 0 for what is none.
int precedence(Word word) {
  switch (word) {
    case Word::kOr:
      return 1;
    case Word::kAnd:
      return 2;
    case Word::kIs:
    case Word::kIn:
    case Word::kNot:
    case Word::kEqual:
    case Word::kNotEqual:
    case Word::kLess:
    case Word::kGreater:
    case Word::kLessEqual:
    case Word::kGreaterEqual:
      return 4;
    case Word::kBitOr:
      return 5;
    case Word::kBitXor:
      return 6;
    case Word::kBitAnd:
      return 7;
    case Word::kShiftLeft:
    case Word::kShiftRight:
      return 8;
    case Word::kPlus:
    case Word::kMinus:
      return 9;
    case Word::kTimes:
    case Word::kDivide:
    case Word::kFloorDivide:
    case Word::kRemainder:
    case Word::kMatmul:
      return 10;
    case Word::kPower:
      return 12;
    default:
      return 0;
  }
}
constexpr int kNotLevel = 3;
constexpr int kMinusLevel = 11;

}  // namespace

Result<ExprId> ExpressionParser::add(ExprKind kind, std::uint32_t line, std::string_view text, Range children) {
  if (parts_++ >= kMaxParts) return unsupported(fmt::format("more than {} parts", kMaxParts));
  out_.exprs.push_back({.kind = kind, .line = line, .text = text, .children = children});
  return static_cast<ExprId>(out_.exprs.size() - 1);
}

Range ExpressionParser::listed(std::span<const ExprId> ids) {
  const Range out{static_cast<std::uint32_t>(out_.ids.size()), static_cast<std::uint32_t>(ids.size())};
  for (const ExprId id : ids) out_.ids.push_back(id);
  return out;
}

Range ExpressionParser::gathered(std::size_t from) {
  const Range out = listed(std::span(open_).subspan(from));
  open_.resize(from);
  return out;
}

void ExpressionParser::forget_names(std::size_t keep) {
  names_.resize(std::min(names_.size(), keep));
}

tl::unexpected<Error> ExpressionParser::too_deep() const {
  return unsupported(fmt::format("line {}: nested more than {} deep", tokens_.token().line, kMaxParseDepth));
}

Result<ExprId> ExpressionParser::expression() {
  const Depth depth(depth_);
  if (depth_ >= kMaxParseDepth) return too_deep();
  // Most are a name or a number.
  if (tokens_.token().word == Word::kOther && tokens_.expression_ends()) return atom();
  JC_ASSIGN_OR_RETURN(const ExprId value, operation(1));
  if (!tokens_.is(Word::kIf)) return value;
  const std::uint32_t line = tokens_.token().line;
  JC_RETURN_IF_ERROR(tokens_.advance());
  JC_ASSIGN_OR_RETURN(const ExprId condition, operation(1));
  JC_RETURN_IF_ERROR(tokens_.expect(Word::kElse));
  JC_ASSIGN_OR_RETURN(const ExprId otherwise, expression());
  return add(ExprKind::kChoice, line, {}, listed({condition, value, otherwise}));
}

Result<ExprId> ExpressionParser::type() {
  const std::size_t names_before = names_.size();
  if (tokens_.is(TokenKind::kName) && tokens_.is(Word::kOther)) parts_ += tokens_.skip_attributes();
  auto out = expression();
  forget_names(names_before);
  return out;
}

Result<ExprId> ExpressionParser::expression_list() {
  JC_ASSIGN_OR_RETURN(const ExprId first, expression());
  if (!tokens_.is(Word::kComma)) return first;
  const std::size_t from = open_.size();
  open_.push_back(first);
  while (tokens_.is(Word::kComma)) {
    JC_RETURN_IF_ERROR(tokens_.advance());
    if (tokens_.is(TokenKind::kNewline)) break;
    JC_ASSIGN_OR_RETURN(const ExprId item, expression());
    open_.push_back(item);
  }
  return add(ExprKind::kTuple, out_.exprs[first].line, {}, gathered(from));
}

Result<void> ExpressionParser::skip_to(Word end) {
  JC_RETURN_IF_ERROR(gather(end));
  open_.clear();
  return {};
}

Result<void> ExpressionParser::gather(Word end) {
  while (!tokens_.is(end)) {
    JC_ASSIGN_OR_RETURN(const ExprId item, expression());
    open_.push_back(item);
    if (tokens_.is(end)) break;
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kComma));
  }
  return tokens_.advance();
}

// Operators of at least this level.
Result<ExprId> ExpressionParser::operation(int level) {
  const Depth depth(depth_);
  if (depth_ > kMaxParseDepth) return too_deep();
  JC_ASSIGN_OR_RETURN(ExprId left, operand());
  while (true) {
    const Word word = tokens_.token().word;
    const int found = precedence(word);
    if (found == 0 || found < level) return left;
    const std::uint32_t line = tokens_.token().line;
    JC_ASSIGN_OR_RETURN(const std::string_view op, binary_operator());
    // Powers bind to the right.
    JC_ASSIGN_OR_RETURN(const ExprId right, operation(word == Word::kPower ? found : found + 1));
    JC_ASSIGN_OR_RETURN(left, add(ExprKind::kBinary, line, op, listed({left, right})));
  }
}

Result<std::string_view> ExpressionParser::binary_operator() {
  const Token first = tokens_.token();
  JC_RETURN_IF_ERROR(tokens_.advance());
  if (first.word == Word::kIs) {
    JC_ASSIGN_OR_RETURN(const bool negated, tokens_.accept(Word::kNot));
    return negated ? std::string_view("is not") : first.text;
  }
  if (first.word != Word::kNot) return first.text;
  JC_RETURN_IF_ERROR(tokens_.expect(Word::kIn));
  return std::string_view("not in");
}

Result<ExprId> ExpressionParser::prefixed(int level) {
  const Token op = tokens_.token();
  JC_RETURN_IF_ERROR(tokens_.advance());
  JC_ASSIGN_OR_RETURN(const ExprId operand, operation(level));
  return add(ExprKind::kUnary, op.line, op.text, listed({operand}));
}

Result<ExprId> ExpressionParser::operand() {
  const Word prefix = tokens_.token().word;
  if (prefix == Word::kNot) return prefixed(kNotLevel);
  if (prefix == Word::kMinus || prefix == Word::kBitNot || prefix == Word::kPlus) return prefixed(kMinusLevel);
  JC_ASSIGN_OR_RETURN(ExprId value, atom());
  while (true) {
    switch (tokens_.token().word) {
      case Word::kDot: {
        JC_ASSIGN_OR_RETURN(value, attribute(value));
        break;
      }
      case Word::kParenthesis: {
        JC_ASSIGN_OR_RETURN(value, call(value));
        break;
      }
      case Word::kBracket: {
        JC_ASSIGN_OR_RETURN(value, subscript(value));
        break;
      }
      default:
        return value;
    }
  }
}

Result<ExprId> ExpressionParser::attribute(ExprId of) {
  const Token token = tokens_.token();
  std::string_view name = token.text;
  JC_RETURN_IF_ERROR(tokens_.advance());
  if (token.kind != TokenKind::kAttribute) {
    JC_ASSIGN_OR_RETURN(name, tokens_.name());
  }
  return add(ExprKind::kAttribute, token.line, name, listed({of}));
}

// Several, in types: Dict[str, Tensor].
Result<ExprId> ExpressionParser::subscript(ExprId of) {
  const std::uint32_t line = tokens_.token().line;
  JC_RETURN_IF_ERROR(tokens_.advance());
  const std::size_t from = open_.size();
  JC_RETURN_IF_ERROR(gather(Word::kBracketEnd));
  ExprId index = open_.size() == from + 1 ? open_.back() : kNoExpr;
  if (index == kNoExpr) {
    JC_ASSIGN_OR_RETURN(index, add(ExprKind::kTuple, line, {}, gathered(from)));
  }
  open_.resize(from);
  return add(ExprKind::kSubscript, line, {}, listed({of, index}));
}

Result<ExprId> ExpressionParser::call(ExprId callee) {
  const std::uint32_t line = tokens_.token().line;
  JC_RETURN_IF_ERROR(tokens_.advance());
  const std::size_t from = open_.size();
  open_.push_back(callee);
  while (!tokens_.is(Word::kParenthesisEnd)) {
    JC_ASSIGN_OR_RETURN(const ExprId given, argument());
    open_.push_back(given);
    if (tokens_.is(Word::kParenthesisEnd)) break;
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kComma));
  }
  JC_RETURN_IF_ERROR(tokens_.advance());
  return add(ExprKind::kCall, line, {}, gathered(from));
}

// value; name = value
Result<ExprId> ExpressionParser::argument() {
  JC_ASSIGN_OR_RETURN(const ExprId first, expression());
  if (!tokens_.is(Word::kAssign)) return first;
  if (out_.exprs[first].kind != ExprKind::kName) return tokens_.unexpected("',' or ')'");
  names_.pop_back();
  JC_RETURN_IF_ERROR(tokens_.advance());
  JC_ASSIGN_OR_RETURN(const ExprId value, expression());
  out_.exprs[first].kind = ExprKind::kKeyword;
  out_.exprs[first].children = listed({value});
  return first;
}

Result<ExprId> ExpressionParser::atom() {
  const Token token = tokens_.token();
  switch (token.kind) {
    case TokenKind::kName:
      names_.push_back(token.text);
      JC_RETURN_IF_ERROR(tokens_.advance());
      return add(ExprKind::kName, token.line, token.text);
    case TokenKind::kText:
      JC_RETURN_IF_ERROR(tokens_.advance());
      return add(ExprKind::kText, token.line, token.text);
    case TokenKind::kInteger:
    case TokenKind::kReal:
      return number();
    default:
      return bracketed();
  }
}

Result<ExprId> ExpressionParser::number() {
  const Token token = tokens_.token();
  JC_RETURN_IF_ERROR(tokens_.advance());
  const char* const begin = token.text.data();
  const char* const end = begin + token.text.size();
  std::int64_t whole = 0;
  double real = 0.0;
  if (token.kind == TokenKind::kInteger) {
    const auto read = std::from_chars(begin, end, whole);
    // The smallest integer is printed as minus what is one too large.
    if (read.ec == std::errc::result_out_of_range) whole = std::numeric_limits<std::int64_t>::max();
  } else {
    const auto read = std::from_chars(begin, end, real);
    if (read.ec == std::errc::invalid_argument) return invalid(fmt::format("line {}: a number is none", token.line));
  }
  const ExprKind kind = token.kind == TokenKind::kInteger ? ExprKind::kInteger : ExprKind::kReal;
  JC_ASSIGN_OR_RETURN(const ExprId id, add(kind, token.line, token.text));
  out_.exprs[id].whole = whole;
  out_.exprs[id].real = real;
  return id;
}

Result<ExprId> ExpressionParser::bracketed() {
  const Token token = tokens_.token();
  if (token.word != Word::kParenthesis && token.word != Word::kBracket && token.word != Word::kBrace) {
    return tokens_.unexpected("a value");
  }
  JC_RETURN_IF_ERROR(tokens_.advance());
  if (token.word == Word::kBrace) return dict(token.line);
  if (token.word == Word::kParenthesis) return tuple(token.line);
  const std::size_t from = open_.size();
  JC_RETURN_IF_ERROR(gather(Word::kBracketEnd));
  return add(ExprKind::kList, token.line, {}, gathered(from));
}

// (); (a, b); (a) is a.
Result<ExprId> ExpressionParser::tuple(std::uint32_t line) {
  const std::size_t from = open_.size();
  if (!tokens_.is(Word::kParenthesisEnd)) {
    JC_ASSIGN_OR_RETURN(const ExprId first, expression());
    JC_ASSIGN_OR_RETURN(const bool more, tokens_.accept(Word::kComma));
    if (!more) {
      JC_RETURN_IF_ERROR(tokens_.expect(Word::kParenthesisEnd));
      return first;
    }
    open_.push_back(first);
  }
  JC_RETURN_IF_ERROR(gather(Word::kParenthesisEnd));
  return add(ExprKind::kTuple, line, {}, gathered(from));
}

Result<ExprId> ExpressionParser::dict(std::uint32_t line) {
  const std::size_t from = open_.size();
  while (!tokens_.is(Word::kBraceEnd)) {
    JC_ASSIGN_OR_RETURN(const ExprId key, expression());
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kColon));
    JC_ASSIGN_OR_RETURN(const ExprId value, expression());
    open_.push_back(key);
    open_.push_back(value);
    if (tokens_.is(Word::kBraceEnd)) break;
    JC_RETURN_IF_ERROR(tokens_.expect(Word::kComma));
  }
  JC_RETURN_IF_ERROR(tokens_.advance());
  return add(ExprKind::kDict, line, {}, gathered(from));
}

}  // namespace joulecast::torchscript
