// SPDX-License-Identifier: Apache-2.0
// JSON as the program prints it: keys in the order they were set, no exception over bad UTF-8 in a model's names.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace joulecast::cli {

using Json = nlohmann::ordered_json;

// A whole number without ".0"; null for what is no number.
inline Json json_number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53: integers beyond are not all doubles
  if (!std::isfinite(value)) return nullptr;
  if (value == std::floor(value) && std::abs(value) <= kExact) return static_cast<std::int64_t>(value);
  return value;
}

inline std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace joulecast::cli
