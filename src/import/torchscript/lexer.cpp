// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/text.h"

namespace joulecast::torchscript {
namespace {

constexpr std::size_t kMaxIndents = 100;

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

Token Lexer::token(TokenKind kind, std::size_t length) {
  const Token out{kind, line_, text_.substr(place_, length)};
  place_ += length;
  return out;
}

// Blanks and comments; line ends too where a bracket is open.
void Lexer::skip_blank() {
  while (place_ < text_.size()) {
    const char c = text_[place_];
    if (c == '#') {
      place_ = std::min(text_.find('\n', place_), text_.size());
    } else if (c == '\n' && brackets_ > 0) {
      ++line_;
      ++place_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++place_;
    } else {
      return;
    }
  }
}

// Lines without anything on them do not count.
Result<Token> Lexer::start_of_line() {
  std::size_t indent = 0;
  while (true) {
    const std::size_t begin = place_;
    skip_blank();
    indent = place_ - begin;
    if (at(0) != '\n') break;
    ++line_;
    ++place_;
  }
  line_starts_ = false;
  if (place_ >= text_.size()) indent = 0;
  if (indent > indents_.back()) {
    if (indents_.size() > kMaxIndents) return unsupported(fmt::format("line {}: blocks nested too deep", line_));
    indents_.push_back(indent);
    return Token{TokenKind::kIndent, line_, {}};
  }
  while (indent < indents_.back()) {
    indents_.pop_back();
    ++dedents_;
  }
  if (indent != indents_.back()) return invalid(fmt::format("line {}: is indented as no line before", line_));
  return next();
}

Result<Token> Lexer::next() {
  if (dedents_ > 0) {
    --dedents_;
    return Token{TokenKind::kDedent, line_, {}};
  }
  if (line_starts_) return start_of_line();
  skip_blank();
  if (place_ >= text_.size()) {
    if (brackets_ > 0) return invalid(fmt::format("line {}: a bracket is never closed", line_));
    if (indents_.size() == 1) return Token{TokenKind::kEnd, line_, {}};
    line_starts_ = true;  // what is still open ends here
    return Token{TokenKind::kNewline, line_, {}};
  }
  const char c = text_[place_];
  if (c == '\n') {
    Token out = token(TokenKind::kNewline, 1);
    ++line_;
    line_starts_ = true;
    return out;
  }
  if (is_letter(c)) {
    std::size_t length = 1;
    while (is_letter(at(length)) || is_digit(at(length))) ++length;
    return token(TokenKind::kName, length);
  }
  if (is_digit(c) || (c == '.' && is_digit(at(1)))) return number();
  if (c == '"' || c == '\'') return string(c);
  if (static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
    return invalid(fmt::format("line {}: the character {} means nothing", line_, printable(text_.substr(place_, 1))));
  }
  return symbol();
}

Result<Token> Lexer::string(char quote) {
  std::size_t length = 1;
  while (at(length) != quote) {
    if (place_ + length >= text_.size() || at(length) == '\n') {
      return invalid(fmt::format("line {}: a string is never closed", line_));
    }
    length += at(length) == '\\' ? 2 : 1;
  }
  Token out = token(TokenKind::kText, length + 1);
  out.text = out.text.substr(1, length - 1);
  return out;
}

// 3, 0.5, 1e-05, 2.5j
Token Lexer::number() {
  std::size_t length = 0;
  bool real = false;
  while (true) {
    const char c = at(length);
    const bool exponent = c == 'e' || c == 'E';
    if (!is_digit(c) && c != '.' && !exponent && c != 'j') break;
    real = real || !is_digit(c);
    ++length;
    if (exponent && (at(length) == '-' || at(length) == '+')) ++length;
  }
  return token(real ? TokenKind::kReal : TokenKind::kInteger, length);
}

Token Lexer::symbol() {
  constexpr std::array<std::string_view, 9> kLong{"**", "//", "==", "!=", "<=", ">=", "<<", ">>", "->"};
  const std::string_view rest = text_.substr(place_, 2);
  const bool two = std::find(kLong.begin(), kLong.end(), rest) != kLong.end();
  const char c = rest[0];
  if (c == '(' || c == '[' || c == '{') ++brackets_;
  if ((c == ')' || c == ']' || c == '}') && brackets_ > 0) --brackets_;
  return token(TokenKind::kSymbol, two ? 2 : 1);
}

}  // namespace joulecast::torchscript
