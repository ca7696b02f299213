// SPDX-License-Identifier: Apache-2.0
// The token at hand, and what parsers ask of it. Errors name its line and what stands there.
#pragma once

#include <string>
#include <string_view>

#include "import/torchscript/lexer.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

class TokenCursor {
 public:
  // Before the first advance() there is no token.
  explicit TokenCursor(std::string_view text) : lexer_(text) {}

  [[nodiscard]] const Token& token() const { return lexer_.token(); }
  [[nodiscard]] bool is(Word word) const { return token().word == word; }
  [[nodiscard]] bool is(TokenKind kind) const { return token().kind == kind; }
  [[nodiscard]] bool expression_ends() const { return lexer_.expression_ends(); }

  std::size_t skip_attributes() { return lexer_.skip_attributes(); }
  bool skip_declared_type() { return lexer_.skip_declared_type(); }
  // Past the token, whatever it is.
  Result<void> advance() {
    if (!lexer_.advance()) return tl::unexpected(lexer_.error());
    return {};
  }
  // Past the token where it is this one.
  Result<bool> accept(Word word) {
    if (!is(word)) return false;
    JC_RETURN_IF_ERROR(advance());
    return true;
  }
  // The others want a certain one.
  Result<void> expect(Word word) {
    if (!is(word)) return lacks(word);
    return advance();
  }
  Result<std::string_view> name() {
    if (!is(TokenKind::kName)) return unexpected("a name");
    const std::string_view out = token().text;
    JC_RETURN_IF_ERROR(advance());
    return out;
  }
  Result<void> end_of_line() {
    if (is(TokenKind::kEnd)) return {};
    if (!is(TokenKind::kNewline)) return unexpected("the end of the line");
    return advance();
  }

  // "line 3: 'x' stands where ')' should"
  [[nodiscard]] tl::unexpected<Error> unexpected(std::string_view wanted) const;

 private:
  [[nodiscard]] tl::unexpected<Error> lacks(Word word) const;
  [[nodiscard]] std::string shown() const;

  Lexer lexer_;
};

}  // namespace joulecast::torchscript
