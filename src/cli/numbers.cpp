// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace joulecast::cli {

std::string with_prefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 11> kPrefixes{"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr std::size_t kOne = 4;
  std::size_t prefix = kOne;
  // Counts stay whole; only quantities with a unit have parts.
  while (!unit.empty() && value > 0.0 && value < 0.9995 && prefix > 0) {
    value *= 1000.0;
    --prefix;
  }
  // 999.5 would be rounded to 1000, which is the next prefix's 1.
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000.0;
    ++prefix;
  }
  const bool whole = prefix == kOne && value == std::floor(value);
  const int decimals = whole || value >= 99.95 ? 0 : (value >= 9.995 ? 1 : 2);
  const std::string tail = fmt::format("{}{}", kPrefixes[prefix], unit);
  return fmt::format("{:.{}f}{}{}", value, decimals, tail.empty() ? "" : " ", tail);
}

std::string share(double part, double whole) {
  if (!(whole > 0.0)) return "-";
  const double percent = 100.0 * part / whole;
  if (percent > 0.0 && percent < 0.05) return "<0.1 %";
  return fmt::format("{:.1f} %", percent);
}

std::string plain(double value) {
  return fmt::format("{:.7g}", value);
}

}  // namespace joulecast::cli
