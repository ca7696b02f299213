// SPDX-License-Identifier: Apache-2.0
// The words and signs that the language is built with: what a parser looks for, told once for each token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace joulecast::torchscript {

enum class Word : std::uint8_t {
  kOther,  // every other name, and signs that mean nothing
  kAnd,
  kClass,
  kDef,
  kElse,
  kFor,
  kIf,
  kIn,
  kIs,
  kNot,
  kOr,
  kPass,
  kReturn,
  kWhile,
  kWith,
  kParenthesis,
  kParenthesisEnd,
  kBracket,
  kBracketEnd,
  kBrace,
  kBraceEnd,
  kDot,
  kComma,
  kColon,
  kAssign,
  kPlus,
  kMinus,
  kTimes,
  kDivide,
  kRemainder,
  kMatmul,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kLess,
  kGreater,
  kPower,
  kFloorDivide,
  kEqual,
  kNotEqual,
  kLessEqual,
  kGreaterEqual,
  kShiftLeft,
  kShiftRight,
  kArrow,
};

// "class", "(", "->"; of kOther empty.
std::string_view spelling(Word word);

// Of a name.
Word keyword(std::string_view name);

struct Sign {
  Word word = Word::kOther;
  std::size_t length = 1;
};
// The longest that text starting with these characters starts with.
Sign sign(char first, char second);

}  // namespace joulecast::torchscript
