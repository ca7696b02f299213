// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "import/text.h"

namespace joulecast::torchscript {
namespace {

// What a character may start.
enum class Class : std::uint8_t {
  kSymbol,
  kOpening,
  kClosing,
  kDot,
  kNothing,
  kBlank,
  kNewline,
  kQuote,
  kLetter,
  kDigit
};

constexpr auto kClasses = [] {
  std::array<Class, 256> out{};
  const auto set = [&](unsigned first, unsigned last, Class as) {
    for (unsigned c = first; c <= last; ++c) out[c] = as;
  };
  set(0, 0x1F, Class::kNothing);
  set(0x7F, 0x7F, Class::kNothing);
  out[' '] = out['\t'] = out['\r'] = out['#'] = Class::kBlank;
  out['\n'] = Class::kNewline;
  out['('] = out['['] = out['{'] = Class::kOpening;
  out[')'] = out[']'] = out['}'] = Class::kClosing;
  out['.'] = Class::kDot;
  out['"'] = out['\''] = Class::kQuote;
  set('a', 'z', Class::kLetter);
  set('A', 'Z', Class::kLetter);
  set('_', '_', Class::kLetter);
  set(0x80, 0xFF, Class::kLetter);
  set('0', '9', Class::kDigit);
  return out;
}();

Class class_of(char c) {
  return kClasses[static_cast<unsigned char>(c)];
}
bool is_digit(char c) {
  return class_of(c) == Class::kDigit;
}

}  // namespace

bool Lexer::fail(tl::unexpected<Error> error) {
  error_ = std::move(error.value());
  return false;
}

void Lexer::take(TokenKind kind, std::size_t length) {
  token_ = {kind, Word::kOther, line_, text_.substr(place_, length)};
  place_ += length;
}

// Blanks and comments; line ends too where a bracket is open.
void Lexer::skip_blank() {
  std::size_t place = place_;
  for (; place < text_.size(); ++place) {
    const char c = text_[place];
    if (c == ' ' || c == '\t' || c == '\r') continue;
    if (c == '\n' && brackets_ > 0) {
      ++line_;
    } else if (c == '#') {
      place = std::min(text_.find('\n', place), text_.size()) - 1;
    } else {
      break;
    }
  }
  place_ = place;
}

// Lines without anything on them do not count.
bool Lexer::start_of_line() {
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
    if (indents_.full()) return fail(unsupported(fmt::format("line {}: blocks nested too deep", line_)));
    indents_.push_back(indent);
    take(TokenKind::kIndent, 0);
    return true;
  }
  while (indent < indents_.back()) {
    indents_.pop_back();
    ++dedents_;
  }
  if (indent != indents_.back()) return fail(invalid(fmt::format("line {}: is indented as no line before", line_)));
  return advance();
}

bool Lexer::advance() {
  if (dedents_ > 0) {
    --dedents_;
    take(TokenKind::kDedent, 0);
    return true;
  }
  if (line_starts_) return start_of_line();
  if (at(0) == ' ') ++place_;  // mostly all there is
  const Class first = class_of(at(0));
  if (first == Class::kBlank || (first == Class::kNewline && brackets_ > 0)) skip_blank();
  if (place_ >= text_.size()) return end_of_text();
  const char c = text_[place_];
  switch (class_of(c)) {
    case Class::kLetter:
      take(TokenKind::kName, length_of_name(0));
      token_.word = keyword(token_.text);
      return true;
    case Class::kOpening:
      ++brackets_;
      return symbol(c);
    case Class::kClosing:
      if (brackets_ > 0) --brackets_;
      return symbol(c);
    case Class::kDot:
      return dot();
    case Class::kNewline:
      take(TokenKind::kNewline, 1);
      ++line_;
      line_starts_ = true;
      return true;
    case Class::kDigit:
      return number();
    case Class::kQuote:
      return string(c);
    case Class::kNothing:
      return nothing();
    default:
      return symbol(c);
  }
}

bool Lexer::end_of_text() {
  if (brackets_ > 0) return fail(invalid(fmt::format("line {}: a bracket is never closed", line_)));
  line_starts_ = indents_.size() > 1;  // what is still open ends here
  take(line_starts_ ? TokenKind::kNewline : TokenKind::kEnd, 0);
  return true;
}

bool Lexer::nothing() {
  const std::string shown = printable(text_.substr(place_, 1));
  return fail(invalid(fmt::format("line {}: the character {} means nothing", line_, shown)));
}

std::size_t Lexer::length_of_name(std::size_t from) const {
  const std::string_view rest = text_.substr(place_ + from);
  std::size_t length = 1;
  while (length < rest.size() && class_of(rest[length]) >= Class::kLetter) ++length;
  return length;
}

bool Lexer::string(char quote) {
  std::size_t length = 1;
  while (at(length) != quote) {
    if (place_ + length >= text_.size() || at(length) == '\n') {
      return fail(invalid(fmt::format("line {}: a string is never closed", line_)));
    }
    length += at(length) == '\\' ? 2 : 1;
  }
  take(TokenKind::kText, length + 1);
  token_.text = token_.text.substr(1, length - 1);
  return true;
}

// 3, 0.5, 1e-05, 2.5j
bool Lexer::number() {
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
  take(real ? TokenKind::kReal : TokenKind::kInteger, length);
  return true;
}

bool Lexer::symbol(char first) {
  const auto [word, length] = sign(first, at(1));
  take(TokenKind::kSymbol, length);
  token_.word = word;
  return true;
}

bool Lexer::dot() {
  if (is_digit(at(1))) return number();
  if (class_of(at(1)) != Class::kLetter) return symbol('.');
  take(TokenKind::kAttribute, 1 + length_of_name(1));
  token_.text.remove_prefix(1);
  token_.word = Word::kDot;
  return true;
}

bool Lexer::expression_ends() const {
  const std::size_t next = text_.find_first_not_of(' ', place_);
  if (next == std::string_view::npos) return true;
  switch (text_[next]) {
    case ',':
    case ':':
    case ')':
    case ']':
      return true;
    case '=':
      return text_.substr(next, 2) != "==";
    case '\n':
      return brackets_ == 0;
    default:
      return false;
  }
}

std::size_t Lexer::skip_attributes() {
  std::size_t count = 0;
  for (; at(0) == '.' && class_of(at(1)) == Class::kLetter; ++count) {
    const std::size_t length = length_of_name(1);
    token_.text = text_.substr(place_ + 1, length);
    place_ += 1 + length;
  }
  return count;
}

bool Lexer::skip_declared_type() {
  constexpr std::string_view kColon = " : ";
  if (brackets_ > 0 || text_.substr(place_, kColon.size()) != kColon) return false;
  std::size_t end = place_ + kColon.size();
  const std::size_t begin = end;
  std::size_t open = 0;
  for (; end < text_.size() && text_[end] != '\n'; ++end) {
    const char c = text_[end];
    open += static_cast<std::size_t>(c == '[');
    if (c == ']' && open-- == 0) return false;
    const bool of_type = class_of(c) >= Class::kLetter || c == '.' || c == '[' || c == ']' || c == ',';
    if (!of_type && (c != ' ' || text_[end - 1] != ',')) return false;
  }
  if (end == begin || end == text_.size() || open > 0) return false;
  place_ = end + 1;
  ++line_;
  line_starts_ = true;
  return true;
}

}  // namespace joulecast::torchscript
