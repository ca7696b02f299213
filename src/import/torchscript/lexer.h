// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "import/torchscript/word.h"
#include "joulecast/inline_vector.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

enum class TokenKind : std::uint8_t {
  kName,
  kAttribute,  // a dot and the name right behind it; text: the name
  kInteger,
  kReal,
  kText,
  kSymbol,
  kNewline,
  kIndent,
  kDedent,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  Word word = Word::kOther;  // of names and symbols; of attributes kDot
  std::uint32_t line = 0;
  std::string_view text;  // of strings what stands between the quotes
};

// Python's tokens one by one, blocks as kIndent and kDedent. Borrows the text.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  // The next token is the one at hand then. False where there is none: error() names the line then, and the lexer is
  // of no use any more.
  [[nodiscard]] bool advance();
  [[nodiscard]] const Error& error() const { return *error_; }
  [[nodiscard]] const Token& token() const { return token_; }

  // Whether no expression goes on behind the token at hand: false where it takes more than a glance to tell.
  [[nodiscard]] bool expression_ends() const;
  // Of a name at hand: past the .b.c right behind it, the last of which is the name then. How many they were.
  std::size_t skip_attributes();
  // Of a name at hand: past the line's end where all that stands behind the name is ` : Type`, and there is a line
  // below. The token at hand is the name still.
  bool skip_declared_type();

 private:
  static constexpr std::size_t kMaxIndents = 100;

  bool fail(tl::unexpected<Error> error);
  bool start_of_line();
  bool end_of_text();
  bool nothing();
  bool number();
  bool string(char quote);
  bool symbol(char first);
  bool dot();
  [[nodiscard]] std::size_t length_of_name(std::size_t from) const;
  void take(TokenKind kind, std::size_t length);
  void skip_blank();
  [[nodiscard]] char at(std::size_t i) const { return place_ + i < text_.size() ? text_[place_ + i] : '\0'; }

  std::string_view text_;
  std::size_t place_ = 0;
  std::uint32_t line_ = 1;
  Token token_;
  std::size_t brackets_ = 0;
  bool line_starts_ = true;
  InlineVector<std::size_t, kMaxIndents + 1> indents_{0};
  std::size_t dedents_ = 0;  // still to be given
  std::optional<Error> error_;
};

}  // namespace joulecast::torchscript
