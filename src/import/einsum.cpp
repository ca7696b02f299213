// SPDX-License-Identifier: Apache-2.0
#include "import/einsum.h"

#include <algorithm>

namespace joulecast::einsum {
namespace {

bool distinct(const std::string& labels) {
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels.find(labels[i], i + 1) != std::string::npos) return false;
  }
  return true;
}
bool letters(const std::string& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}
bool has(const std::string& labels, char c) {
  return labels.find(c) != std::string::npos;
}

}  // namespace

std::optional<Equation> parse(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c != ' ') all += c;
  }
  const std::size_t arrow = all.find("->");
  const std::size_t comma = all.find(',');
  if (arrow == std::string::npos || comma == std::string::npos || comma > arrow) return std::nullopt;
  Equation out{all.substr(0, comma), all.substr(comma + 1, arrow - comma - 1), all.substr(arrow + 2)};
  for (const std::string* part : {&out.a, &out.b, &out.out}) {
    if (part->size() > kMaxRank || !letters(*part) || !distinct(*part)) return std::nullopt;
  }
  return out;
}

std::optional<Roles> roles(const Equation& e) {
  Roles out;
  for (const char c : e.out) {
    if (!has(e.a, c) && !has(e.b, c)) return std::nullopt;
    std::string& role = has(e.a, c) ? (has(e.b, c) ? out.batch : out.rows) : out.columns;
    role += c;
  }
  for (const char c : e.a) {
    if (has(e.out, c)) continue;
    if (!has(e.b, c)) return std::nullopt;  // summed over one operand alone
    out.summed += c;
  }
  for (const char c : e.b) {
    if (!has(e.out, c) && !has(e.a, c)) return std::nullopt;
  }
  return out;
}

IntList order_of(const std::string& from, const std::string& to) {
  IntList out;
  for (const char c : to) out.push_back(static_cast<std::int64_t>(from.find(c)));
  return out;
}

bool is_plain_product(const Roles& r) {
  return r.rows.size() == 1 && r.columns.size() == 1 && r.summed.size() == 1;
}

}  // namespace joulecast::einsum
