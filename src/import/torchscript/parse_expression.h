// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <span>
#include <string_view>
#include <vector>

#include "import/torchscript/syntax.h"
#include "import/torchscript/token_cursor.h"
#include "joulecast/result.h"

namespace joulecast::torchscript {

inline constexpr std::size_t kMaxParts = 2'000'000;
inline constexpr std::size_t kMaxParseDepth = 200;

// Expressions from the token at hand to the first that is none of theirs. What they are made of goes to the syntax.
class ExpressionParser {
 public:
  // `scratch` outlives the parser.
  ExpressionParser(TokenCursor& tokens, Syntax& out, std::pmr::memory_resource& scratch)
      : tokens_(tokens), out_(out), open_(&scratch), names_(&scratch) {
    open_.reserve(32);
    names_.reserve(64);
  }

  Result<ExprId> expression();
  // Nobody evaluates types: of a.b.C no more is kept than C, and no name in them is read.
  Result<ExprId> type();
  // a; a, b; a, b, = (a, b)
  Result<ExprId> expression_list();
  // Several, and the bracket that closes them; nobody wants them.
  Result<void> skip_to(Word end);

  Result<ExprId> add(ExprKind kind, std::uint32_t line, std::string_view text, Range children = {});
  // As neighbours in the syntax.
  Range listed(std::span<const ExprId> ids);

  // Names that stand where values are read, one for each time, since they were forgotten.
  [[nodiscard]] const std::pmr::vector<std::string_view>& names() const { return names_; }
  // But for the first `keep`.
  void forget_names(std::size_t keep);

 private:
  struct Depth {
    explicit Depth(std::size_t& count) : count_(count) { ++count_; }
    ~Depth() { --count_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    std::size_t& count_;
  };
  [[nodiscard]] tl::unexpected<Error> too_deep() const;

  Result<ExprId> operation(int level);
  Result<std::string_view> binary_operator();
  Result<ExprId> prefixed(int level);
  Result<ExprId> operand();
  Result<ExprId> attribute(ExprId of);
  Result<ExprId> subscript(ExprId of);
  Result<ExprId> call(ExprId callee);
  Result<ExprId> argument();
  Result<ExprId> atom();
  Result<ExprId> number();
  Result<ExprId> bracketed();
  Result<ExprId> tuple(std::uint32_t line);
  Result<ExprId> dict(std::uint32_t line);

  Result<void> gather(Word end);
  Range listed(std::initializer_list<ExprId> ids) { return listed(std::span(ids.begin(), ids.size())); }
  Range gathered(std::size_t from);

  TokenCursor& tokens_;
  Syntax& out_;
  std::size_t parts_ = 0;  // that the text has, also where none is kept
  std::size_t depth_ = 0;
  std::pmr::vector<ExprId> open_;  // children of what is not closed yet, the innermost last
  std::pmr::vector<std::string_view> names_;
};

}  // namespace joulecast::torchscript
