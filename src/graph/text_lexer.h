// SPDX-License-Identifier: Apache-2.0
// Tokens of the text form of graphs. The format is described in docs/formats/graph-text.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast::text_form {

// Names that need no quotes after the % of a value.
bool is_plain_value_name(std::string_view name);
// Words: operators, fields, symbols of extents that need no quotes.
bool is_word(std::string_view text);
// "text" with escapes for quotes, backslashes and control characters; other bytes as they are.
std::string in_quotes(std::string_view text);

enum class TokenKind : std::uint8_t { kEnd, kWord, kNumber, kString, kValue, kMark, kBad };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t offset = 0;
  std::string_view source;       // as written
  std::string text;              // of strings and values: the name without escapes; of kBad: what is wrong
  std::uint32_t occurrence = 0;  // of values: n in %name@n

  [[nodiscard]] bool is_mark(char mark) const { return kind == TokenKind::kMark && source[0] == mark; }
  [[nodiscard]] bool is_word(std::string_view word) const { return kind == TokenKind::kWord && source == word; }
};

// One token ahead. The text must outlive it.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] const Token& peek() const { return token_; }
  Token take();
  // Takes the next token if it is that mark.
  bool accept(char mark);
  Result<void> expect(char mark);
  // An error at the next token: "line 3, column 7: expected a value, found '}'".
  [[nodiscard]] tl::unexpected<Error> expected(std::string_view what) const;
  [[nodiscard]] tl::unexpected<Error> error(std::size_t offset, std::string_view message) const;

 private:
  void advance();
  void skip_blanks();
  void lex_string();
  void lex_escape();
  void lex_value();
  void lex_occurrence();
  void lex_number();
  void fail(std::string message);

  std::string_view text_;
  std::size_t at_ = 0;
  Token token_;
};

}  // namespace joulecast::text_form
