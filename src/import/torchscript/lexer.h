// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "joulecast/result.h"

namespace joulecast::torchscript {

enum class TokenKind : std::uint8_t { kName, kInteger, kReal, kText, kSymbol, kNewline, kIndent, kDedent, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::uint32_t line = 0;
  std::string_view text;  // of strings what stands between the quotes
};

// Python's tokens one by one, blocks as kIndent and kDedent. Borrows the text.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // Errors name the line.
  Result<Token> next();
  [[nodiscard]] std::uint32_t line() const { return line_; }

 private:
  Result<Token> start_of_line();
  Token token(TokenKind kind, std::size_t length);
  Result<Token> string(char quote);
  Token number();
  Token symbol();
  void skip_blank();
  [[nodiscard]] char at(std::size_t i) const { return place_ + i < text_.size() ? text_[place_ + i] : '\0'; }

  std::string_view text_;
  std::size_t place_ = 0;
  std::uint32_t line_ = 1;
  std::size_t brackets_ = 0;
  bool line_starts_ = true;
  std::vector<std::size_t> indents_{0};
  std::size_t dedents_ = 0;  // still to be given
};

}  // namespace joulecast::torchscript
