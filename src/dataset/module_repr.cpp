// SPDX-License-Identifier: Apache-2.0
#include "dataset/module_repr.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "base/csv.h"

namespace joulecast {
namespace {

class ReprParser {
 public:
  explicit ReprParser(std::string_view text) : text_(text) {}

  Result<ModuleRepr> run() {
    ModuleRepr module;
    module.name = word();
    if (module.name.empty() || !take('(')) return error("is not a module");
    while (!take(')')) {
      if (!module.arguments.empty() && !take(',')) return error("expected ',' or ')'");
      if (module.arguments.size() == kMaxArguments) return error("has too many arguments");
      JC_ASSIGN_OR_RETURN(ReprArgument argument, this->argument());
      module.arguments.push_back(std::move(argument));
    }
    if (at_ != text_.size()) return error("goes on after ')'");
    return module;
  }

 private:
  static constexpr std::size_t kMaxArguments = 32;

  Result<ReprArgument> argument() {
    ReprArgument argument;
    skip_spaces();
    const std::size_t begin = at_;
    std::string name = word();
    if (!name.empty() && take('=')) {
      argument.name = std::move(name);
    } else {
      at_ = begin;
    }
    JC_RETURN_IF_ERROR(value(argument));
    return argument;
  }

  Result<void> value(ReprArgument& argument) {
    if (take('(')) {
      argument.tuple = true;
      while (!take(')')) {
        if (argument.numbers.size() == kMaxArguments) return error("has too long a tuple");
        if (!number(argument)) return error("expected a number");
        if (!take(',') && peek() != ')') return error("expected ',' or ')'");
      }
      return {};
    }
    if (number(argument)) return {};
    const bool quoted = take('\'');
    argument.word = word();
    if (argument.word.empty() || (quoted && !take('\''))) return error("expected a value");
    if (!quoted && (argument.word == "True" || argument.word == "False")) {
      argument.numbers.push_back(argument.word == "True" ? 1.0 : 0.0);
      argument.word.clear();
    }
    return {};
  }

  bool number(ReprArgument& argument) {
    skip_spaces();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789.+-e", at_), text_.size());
    const auto parsed = parse_number(text_.substr(at_, end - at_));
    if (!parsed) return false;
    argument.numbers.push_back(*parsed);
    at_ = end;
    return true;
  }

  std::string word() {
    skip_spaces();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_spaces() { at_ = std::min(text_.find_first_not_of(' ', at_), text_.size()); }
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] tl::unexpected<Error> error(std::string_view what) const {
    return invalid(fmt::format("'{}' {} (at character {})", text_, what, at_ + 1));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string value_text(const ReprArgument& argument) {
  if (argument.tuple) return fmt::format("({})", fmt::join(argument.numbers, ", "));
  return argument.numbers.empty() ? argument.word : fmt::format("{}", argument.numbers.front());
}

}  // namespace

const ReprArgument* ModuleRepr::find(std::string_view wanted) const {
  const auto found = std::find_if(arguments.begin(), arguments.end(),
                                  [&](const ReprArgument& argument) { return argument.name == wanted; });
  return found == arguments.end() ? nullptr : &*found;
}

std::string ModuleRepr::text() const {
  std::string text;
  for (const ReprArgument& argument : arguments) {
    if (argument.name == "inplace") continue;
    if (!text.empty()) text += ", ";
    text += argument.name.empty() ? value_text(argument) : fmt::format("{}={}", argument.name, value_text(argument));
  }
  return fmt::format("{}({})", name, text);
}

Result<ModuleRepr> parse_module_repr(std::string_view text) {
  return ReprParser(text).run();
}

}  // namespace joulecast
