// SPDX-License-Identifier: Apache-2.0
#include "gpu/names.h"

#include <algorithm>
#include <array>

namespace joulecast {
namespace {

constexpr std::size_t kEdit = 2;
constexpr std::size_t kLookAlike = 1;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

char look(char c) {
  if (c == 'o') return '0';
  return c == 'l' || c == 'i' ? '1' : c;
}

std::size_t replace_cost(char a, char b) {
  if (a == b) return 0;
  return look(a) == look(b) ? kLookAlike : kEdit;
}

using Row = std::array<std::size_t, kMaxNameLength + 1>;

}  // namespace

std::string normal_form(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') out.push_back(static_cast<char>(c - 'A' + 'a'));
    if ((c >= 'a' && c <= 'z') || is_digit(c)) out.push_back(c);
  }
  for (const std::string_view vendor : {"nvidia", "amd"}) {
    if (out.size() > vendor.size() && out.starts_with(vendor)) return out.substr(vendor.size());
  }
  return out;
}

// Optimal string alignment: Levenshtein's rows, and the row before the last one for swapped neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxNameLength);
  b = b.substr(0, kMaxNameLength);
  Row before{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j * kEdit;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i * kEdit;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + kEdit, row[j - 1] + kEdit, last[j - 1] + replace_cost(a[i - 1], b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + kEdit);
    }
    before = last;
    last = row;
  }
  return last[b.size()];
}

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names) {
  std::string_view best;
  std::size_t least = name.size();
  for (const std::string_view candidate : names) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace joulecast
