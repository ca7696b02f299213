// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/token_cursor.h"

#include <fmt/format.h>

#include <utility>

#include "import/text.h"

namespace joulecast::torchscript {

tl::unexpected<Error> TokenCursor::lacks(Word word) const {
  return unexpected(fmt::format("'{}'", spelling(word)));
}

tl::unexpected<Error> TokenCursor::unexpected(std::string_view wanted) const {
  return invalid(fmt::format("line {}: {} stands where {} should", token().line, shown(), wanted));
}

std::string TokenCursor::shown() const {
  switch (token().kind) {
    case TokenKind::kNewline:
      return "the end of the line";
    case TokenKind::kIndent:
    case TokenKind::kDedent:
      return "another indentation";
    case TokenKind::kEnd:
      return "the end of the file";
    case TokenKind::kAttribute:
      return "'.'";
    default:
      return fmt::format("'{}'", printable(token().text, 40));
  }
}

}  // namespace joulecast::torchscript
