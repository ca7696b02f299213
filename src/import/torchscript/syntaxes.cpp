// SPDX-License-Identifier: Apache-2.0
#include "import/torchscript/syntaxes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "import/torchscript/parser.h"

namespace joulecast::torchscript {
namespace {

constexpr std::string_view kMangled = "___torch_mangle_";

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t digits_at(std::string_view text, std::size_t place) {
  const auto* const begin = text.begin() + place;
  return static_cast<std::size_t>(std::find_if_not(begin, text.end(), is_digit) - begin);
}

// How many characters two texts start with alike.
std::size_t alike(std::string_view a, std::string_view b) {
  constexpr std::size_t kBlock = 16;
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t out = 0;
  while (most - out >= kBlock && std::memcmp(a.data() + out, b.data() + out, kBlock) == 0) out += kBlock;
  while (out < most && a[out] == b[out]) ++out;
  return out;
}

// Whether two texts differ in nothing but the numbers behind kMangled. These are parts of names, strings and comments:
// the same parts in both, of which everything else is the same.
bool differ_in_numbers_alone(std::string_view a, std::string_view b) {
  while (true) {
    std::size_t place = alike(a, b);
    if (place == a.size() && place == b.size()) return true;
    while (place > 0 && is_digit(a[place - 1])) --place;
    if (!a.substr(0, place).ends_with(kMangled)) return false;
    a.remove_prefix(place + digits_at(a, place));
    b.remove_prefix(place + digits_at(b, place));
  }
}

bool is_mangled(std::string_view text) {
  return text.size() >= kMangled.size() && text.find(kMangled) != std::string_view::npos;
}

// Whether the numbers stand in nothing that was kept of the text, as they do not where they are the types' of fields.
bool keeps_no_numbers(const Syntax& syntax) {
  const auto of_function = [](const auto& entry) { return is_mangled(entry.first); };
  const auto of_class = [&](const auto& entry) {
    const Class& type = entry.second;
    return is_mangled(entry.first) || std::any_of(type.methods.begin(), type.methods.end(), of_function) ||
           std::any_of(type.fields.begin(), type.fields.end(), is_mangled);
  };
  return std::none_of(syntax.exprs.begin(), syntax.exprs.end(), [](const Expr& e) { return is_mangled(e.text); }) &&
         std::none_of(syntax.parameters.begin(), syntax.parameters.end(),
                      [](const Parameter& p) { return is_mangled(p.name); }) &&
         std::none_of(syntax.functions.begin(), syntax.functions.end(), of_function) &&
         std::none_of(syntax.classes.begin(), syntax.classes.end(), of_class);
}

// Hostile archives have many texts that are nearly the same.
constexpr std::size_t kMostCompared = 16;

// "__torch__.act.___torch_mangle_" for each number behind it; empty for a module without one.
std::string_view without_number(std::string_view module) {
  std::size_t end = module.size();
  while (end > 0 && is_digit(module[end - 1])) --end;
  return module.substr(0, end).ends_with(kMangled) && end < module.size() ? module.substr(0, end) : std::string_view();
}

// A longer text is inflated in no time beside its parsing, and many of them are not to be searched for each member.
constexpr std::size_t kLongestForeseen = 4096;

// The text with another module in the place of its own, or more of it than `most` bytes: names may be long.
std::string renamed(std::string_view text, const std::string& own, std::string_view other, std::size_t most) {
  std::string out;
  for (std::size_t next = text.find(own); next != std::string_view::npos && out.size() <= most; next = text.find(own)) {
    const std::size_t behind = next + own.size();
    out.append(text.substr(0, next));
    out.append(behind < text.size() && is_digit(text[behind]) ? own : other);
    text.remove_prefix(behind);
  }
  return out.append(text);
}

}  // namespace

const Syntax* Syntaxes::foreseen(std::string_view module, const ZipMember& member) const {
  if (!member.deflated || !member.readable || member.size > kLongestForeseen) return nullptr;
  const auto others = numbered_.find(without_number(module));
  if (others == numbered_.end()) return nullptr;
  const auto fitting = std::find_if(others->second.begin(), others->second.end(), [&](const Numbered& other) {
    return member.fits(renamed(other.text, other.module, module, member.size));
  });
  return fitting == others->second.end() ? nullptr : fitting->syntax;
}

Result<const Syntax*> Syntaxes::add(std::string_view module, ZipText text) {
  const std::string_view said = text.view();
  const std::string_view first_line = said.substr(0, said.find('\n'));
  if (const auto found = shared_.find(first_line); found != shared_.end()) {
    for (const Parsed& other : found->second) {
      if (differ_in_numbers_alone(other.text, said)) return other.syntax;
    }
  }
  texts_.push_back(std::move(text));
  JC_ASSIGN_OR_RETURN(Syntax parsed, parse(said, *memory_));
  const Syntax& out = syntaxes_.emplace_back(std::move(parsed));
  if (keeps_no_numbers(out)) {
    std::vector<Parsed>& others = shared_[first_line];
    if (others.size() < kMostCompared) others.push_back({said, &out});
    if (const auto name = without_number(module); !name.empty() && said.size() <= kLongestForeseen) {
      std::vector<Numbered>& of_name = numbered_[std::string(name)];
      if (of_name.size() < kMostCompared) of_name.push_back({std::string(module), said, &out});
    }
  }
  return &out;
}

}  // namespace joulecast::torchscript
