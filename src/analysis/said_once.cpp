// SPDX-License-Identifier: Apache-2.0
#include "analysis/said_once.h"

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace joulecast {
namespace {

// A sentence around its first percentage.
struct Parts {
  std::string before, low, high, after;  // without a percentage all of it is `before`

  [[nodiscard]] std::string text() const { return before + low + (low == high ? "" : " to " + high) + after; }
};

bool of_number(char c) {
  return (c >= '0' && c <= '9') || c == '.' || c == '+' || c == '-';
}

Parts parts_of(const std::string& sentence) {
  constexpr std::string_view kSign = " %";
  for (std::size_t at = sentence.find(kSign); at != std::string::npos; at = sentence.find(kSign, at + 1)) {
    std::size_t begin = at;
    while (begin > 0 && of_number(sentence[begin - 1])) --begin;
    if (begin == at) continue;
    const std::string number = sentence.substr(begin, at - begin);
    return {sentence.substr(0, begin), number, number, sentence.substr(at)};
  }
  return {sentence, {}, {}, {}};
}

double value_of(const std::string& number) {
  return std::strtod(number.c_str(), nullptr);
}

}  // namespace

std::vector<std::string> said_once(const std::vector<std::string>& sentences) {
  std::vector<Parts> all;
  for (const std::string& sentence : sentences) {
    Parts own = parts_of(sentence);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Parts& other) {
      return other.before == own.before && other.after == own.after && other.low.empty() == own.low.empty();
    });
    if (same == all.end()) {
      all.push_back(std::move(own));
      continue;
    }
    if (value_of(own.low) < value_of(same->low)) same->low = own.low;
    if (value_of(own.high) > value_of(same->high)) same->high = own.high;
  }
  std::vector<std::string> out;
  out.reserve(all.size());
  for (const Parts& parts : all) out.push_back(parts.text());
  return out;
}

}  // namespace joulecast
