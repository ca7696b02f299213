// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/word.h"

#include <array>

namespace joulecast::torchscript {
namespace {

// In the order of Word.
constexpr std::array<std::string_view, 46> kSpellings{
    "",  "and", "class", "def", "else", "for", "if", "in", "is", "not", "or", "pass", "return", "while", "with", "(",
    ")", "[",   "]",     "{",   "}",    ".",   ",",  ":",  "=",  "+",   "-",  "*",    "/",      "%",     "@",    "&",
    "|", "^",   "~",     "<",   ">",    "**",  "//", "==", "!=", "<=",  ">=", "<<",   ">>",     "->"};
static_assert(kSpellings[static_cast<std::size_t>(Word::kArrow)] == "->");

// Of up to eight characters: a number for each name, which a switch can tell apart.
constexpr std::uint64_t packed(std::string_view name) {
  std::uint64_t out = 0;
  for (const char c : name) out = out << 8U | static_cast<unsigned char>(c);
  return out;
}

}  // namespace

std::string_view spelling(Word word) {
  return kSpellings[static_cast<std::size_t>(word)];
}

Word keyword(std::string_view name) {
  constexpr std::size_t kLongest = 6;
  if (name.size() > kLongest) return Word::kOther;
  switch (packed(name)) {
    case packed("and"):
      return Word::kAnd;
    case packed("class"):
      return Word::kClass;
    case packed("def"):
      return Word::kDef;
    case packed("else"):
      return Word::kElse;
    case packed("for"):
      return Word::kFor;
    case packed("if"):
      return Word::kIf;
    case packed("in"):
      return Word::kIn;
    case packed("is"):
      return Word::kIs;
    case packed("not"):
      return Word::kNot;
    case packed("or"):
      return Word::kOr;
    case packed("pass"):
      return Word::kPass;
    case packed("return"):
      return Word::kReturn;
    case packed("while"):
      return Word::kWhile;
    case packed("with"):
      return Word::kWith;
    default:
      return Word::kOther;
  }
}

Sign sign(char first, char second) {
  // One, or with a second character another.
  const auto either = [&](Word one, char with, Word other) { return second == with ? Sign{other, 2} : Sign{one, 1}; };
  switch (first) {
    case '(':
      return {Word::kParenthesis};
    case ')':
      return {Word::kParenthesisEnd};
    case '[':
      return {Word::kBracket};
    case ']':
      return {Word::kBracketEnd};
    case '{':
      return {Word::kBrace};
    case '}':
      return {Word::kBraceEnd};
    case '.':
      return {Word::kDot};
    case ',':
      return {Word::kComma};
    case ':':
      return {Word::kColon};
    case '+':
      return {Word::kPlus};
    case '%':
      return {Word::kRemainder};
    case '@':
      return {Word::kMatmul};
    case '&':
      return {Word::kBitAnd};
    case '|':
      return {Word::kBitOr};
    case '^':
      return {Word::kBitXor};
    case '~':
      return {Word::kBitNot};
    case '=':
      return either(Word::kAssign, '=', Word::kEqual);
    case '!':
      return either(Word::kOther, '=', Word::kNotEqual);
    case '-':
      return either(Word::kMinus, '>', Word::kArrow);
    case '*':
      return either(Word::kTimes, '*', Word::kPower);
    case '/':
      return either(Word::kDivide, '/', Word::kFloorDivide);
    case '<':
      return second == '<' ? Sign{Word::kShiftLeft, 2} : either(Word::kLess, '=', Word::kLessEqual);
    case '>':
      return second == '>' ? Sign{Word::kShiftRight, 2} : either(Word::kGreater, '=', Word::kGreaterEqual);
    default:
      return {};
  }
}

}  // namespace joulecast::torchscript
