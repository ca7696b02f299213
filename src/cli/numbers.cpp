// SPDX-License-Identifier: Apache-2.0
#include "cli/numbers.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace joulecast::cli {

namespace {

struct Scaled {
  double factor = 1.0;
  std::string_view prefix;
};

Scaled scale_of(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 11> kPrefixes{"p", "n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr std::size_t kOne = 4;
  std::size_t prefix = kOne;
  double factor = 1.0;
  // Counts stay whole; only quantities with a unit have parts.
  while (!unit.empty() && value > 0.0 && value * factor < 0.9995 && prefix > 0) {
    factor *= 1000.0;
    --prefix;
  }
  // 999.5 would be rounded to 1000, which is the next prefix's 1.
  while (value * factor >= 999.5 && prefix + 1 < kPrefixes.size()) {
    factor /= 1000.0;
    ++prefix;
  }
  return {factor, kPrefixes[prefix]};
}

std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value >= 99.95 ? 0 : (value >= 9.995 ? 1 : 2));
}

}  // namespace

std::string with_prefix(double value, std::string_view unit) {
  const Scaled scale = scale_of(value, unit);
  const bool whole = scale.prefix.empty() && value == std::floor(value);
  const std::string tail = fmt::format("{}{}", scale.prefix, unit);
  const std::string digits = whole ? fmt::format("{:.0f}", value) : three_digits(value * scale.factor);
  return fmt::format("{}{}{}", digits, tail.empty() ? "" : " ", tail);
}

std::string range_with_prefix(double value, double lo, double hi, std::string_view unit) {
  const double factor = scale_of(value, unit).factor;
  return fmt::format("{} ({}-{})", with_prefix(value, unit), three_digits(lo * factor), three_digits(hi * factor));
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

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string duration_text(double seconds) {
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < kMinute) return fmt::format("{:.0f} s", seconds);
  if (seconds < kHour) return fmt::format("{:.0f} min", seconds / kMinute);
  return fmt::format("{:.1f} h", seconds / kHour);
}

}  // namespace joulecast::cli
