// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/harmless.h"

namespace joulecast::report {
namespace {

// The escape of one byte; empty where it stays.
std::string_view escape(char byte) {
  switch (byte) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      break;
  }
  return {};
}

}  // namespace

std::string html_text(std::string_view text) {
  const std::string harmless = harmless_text(text);
  std::string out;
  out.reserve(harmless.size());
  for (const char byte : harmless) {
    const std::string_view escaped = escape(byte);
    if (escaped.empty()) {
      out += byte;
    } else {
      out += escaped;
    }
  }
  return out;
}

std::string script_json(const Json& json) {
  // ASCII alone has no U+2028, which ends a line of JavaScript.
  const std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size());
  for (const char byte : text) {
    if (byte == '<' || byte == '>' || byte == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      out += byte;
    }
  }
  return out;
}

std::string quantity(double value, std::string_view unit) {
  struct Prefix {
    double factor;
    const char* text;
  };
  constexpr std::array kPrefixes{Prefix{1e12, "T"}, Prefix{1e9, "G"},  Prefix{1e6, "M"},  Prefix{1e3, "k"},
                                 Prefix{1, ""},     Prefix{1e-3, "m"}, Prefix{1e-6, "µ"}, Prefix{1e-9, "n"}};
  constexpr double kNothing = 0.5e-9;  // less than any clock here tells
  if (!std::isfinite(value)) return fmt::format("{} {}", value, unit);
  if (std::abs(value) < kNothing) return fmt::format("0 {}", unit);
  for (const Prefix& prefix : kPrefixes) {
    // What three digits would round up to a thousand has the next prefix.
    constexpr double kRoundsUp = 0.9995;
    const double scaled = value / prefix.factor;
    if (std::abs(scaled) < kRoundsUp && prefix.factor > kPrefixes.back().factor) continue;
    const int digits = std::abs(scaled) >= 99.95 ? 0 : std::abs(scaled) >= 9.995 ? 1 : 2;
    return fmt::format("{:.{}f} {}{}", scaled, digits, prefix.text, unit);
  }
  return {};
}

std::string plain_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? std::string() : value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace joulecast::report
