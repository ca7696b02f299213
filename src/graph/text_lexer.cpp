// SPDX-License-Identifier: Apache-2.0
#include "graph/text_lexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace joulecast::text_form {
namespace {

// Not <cctype>: the text form must not depend on the locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_word_part(char c) {
  return is_letter(c) || is_digit(c);
}
bool is_value_part(char c) {
  return is_word_part(c) || c == '.' || c == '/' || c == '-';
}
bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
bool is_number_part(char c, char before) {
  return is_word_part(c) || c == '.' || ((c == '-' || c == '+') && (before == 'e' || before == 'E'));
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

bool is_plain_value_name(std::string_view name) {
  return std::all_of(name.begin(), name.end(), is_value_part);
}

bool is_word(std::string_view text) {
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), is_word_part);
}

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (is_control(c)) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

Token Lexer::take() {
  Token taken = std::move(token_);
  advance();
  return taken;
}

bool Lexer::accept(char mark) {
  if (!token_.is_mark(mark)) return false;
  advance();
  return true;
}

Result<void> Lexer::expect(char mark) {
  if (accept(mark)) return {};
  return expected(fmt::format("'{}'", mark));
}

tl::unexpected<Error> Lexer::expected(std::string_view what) const {
  if (token_.kind == TokenKind::kBad) return error(token_.offset, token_.text);
  if (token_.kind == TokenKind::kEnd) return error(token_.offset, fmt::format("expected {}, the text ends here", what));
  constexpr std::size_t kShown = 40;
  return error(token_.offset, fmt::format("expected {}, found '{}'", what, token_.source.substr(0, kShown)));
}

tl::unexpected<Error> Lexer::error(std::size_t offset, std::string_view message) const {
  const std::string_view before = text_.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n');
  const std::size_t column = line_start == std::string_view::npos ? offset + 1 : offset - line_start;
  return invalid(fmt::format("line {}, column {}: {}", line, column, message));
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else {
      return;
    }
  }
}

void Lexer::advance() {
  skip_blanks();
  token_ = Token{};
  token_.offset = at_;
  if (at_ >= text_.size()) return;
  const char c = text_[at_];
  if (c == '"') {
    token_.kind = TokenKind::kString;
    lex_string();
  } else if (c == '%') {
    lex_value();
  } else if (is_letter(c)) {
    token_.kind = TokenKind::kWord;
    while (at_ < text_.size() && is_word_part(text_[at_])) ++at_;
  } else if (is_digit(c) || c == '-') {
    lex_number();
  } else if (std::string_view("{}[]()=,:?@").find(c) != std::string_view::npos) {
    token_.kind = TokenKind::kMark;
    ++at_;
  } else {
    ++at_;
    fail(is_control(c) ? fmt::format("unexpected byte 0x{:02x}", static_cast<unsigned char>(c))
                       : fmt::format("unexpected '{}'", c));
  }
  token_.source = text_.substr(token_.offset, at_ - token_.offset);
}

void Lexer::fail(std::string message) {
  token_.kind = TokenKind::kBad;
  token_.text = std::move(message);
}

void Lexer::lex_string() {
  ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n' && token_.kind != TokenKind::kBad) {
    if (text_[at_] == '\\') {
      lex_escape();
    } else {
      token_.text += text_[at_++];
    }
  }
  if (token_.kind == TokenKind::kBad) return;
  if (at_ >= text_.size() || text_[at_] != '"') return fail("the quote is never closed on its line");
  ++at_;
}

void Lexer::lex_escape() {
  const std::string_view rest = text_.substr(at_ + 1, 3);
  if (!rest.empty() && (rest[0] == '"' || rest[0] == '\\')) {
    token_.text += rest[0];
    at_ += 2;
  } else if (!rest.empty() && rest[0] == 'n') {
    token_.text += '\n';
    at_ += 2;
  } else if (rest.size() == 3 && rest[0] == 'x' && hex_digit(rest[1]) >= 0 && hex_digit(rest[2]) >= 0) {
    token_.text += static_cast<char>(hex_digit(rest[1]) * 16 + hex_digit(rest[2]));
    at_ += 4;
  } else {
    fail(R"(unknown escape; there are \" \\ \n and \x with two lower-case hexadecimal digits)");
  }
}

void Lexer::lex_value() {
  token_.kind = TokenKind::kValue;
  ++at_;
  if (at_ < text_.size() && text_[at_] == '"') {
    lex_string();
  } else {
    const std::size_t start = at_;
    while (at_ < text_.size() && is_value_part(text_[at_])) ++at_;
    token_.text = text_.substr(start, at_ - start);
  }
  if (token_.kind == TokenKind::kValue && at_ < text_.size() && text_[at_] == '@') lex_occurrence();
}

void Lexer::lex_occurrence() {
  const char* const first = text_.data() + at_ + 1;
  const char* const last = text_.data() + text_.size();
  const auto [end, status] = std::from_chars(first, last, token_.occurrence);
  if (status != std::errc{}) return fail("expected a number after the '@' of a value");
  at_ = static_cast<std::size_t>(end - text_.data());
}

void Lexer::lex_number() {
  token_.kind = TokenKind::kNumber;
  ++at_;
  while (at_ < text_.size() && is_number_part(text_[at_], text_[at_ - 1])) ++at_;
}

}  // namespace joulecast::text_form
