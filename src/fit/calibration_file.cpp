// SPDX-License-Identifier: Apache-2.0
#include "fit/calibration_file.h"

#include <fmt/format.h>

#include "fit/rows.h"
#include "predict/physics.h"

namespace joulecast {

using Json = nlohmann::ordered_json;

namespace {

// Of the keys that docs/formats/pack.md has for the table of intervals; of another one nobody would ever hear again.
bool is_interval(std::string_view key) {
  for (const char* what : {"time", "power", "energy"}) {
    for (const char* support : {"inside", "edge", "outside"}) {
      if (key == fmt::format("network/{}/{}", what, support)) return true;
    }
    for (std::size_t g = 0; g < kGroups; ++g) {
      for (const char* level : {"seen", "relative", "unseen-gpu", "elsewhere"}) {
        if (key == fmt::format("operation/{}/{}/{}", name(static_cast<Group>(g)), level, what)) return true;
      }
    }
  }
  return false;
}

}  // namespace

Result<Json> read_calibration(const std::string& path) {
  if (path.empty()) return Json(nullptr);
  JC_ASSIGN_OR_RETURN(const std::string text, text_of(path));
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, const Json&) {
    deep = deep || depth >= 8;
    return !deep;
  };
  Json calibration = Json::parse(text, shallow, false);
  if (deep || !calibration.is_object() || calibration["schema"] != "joulecast.calibration/1" ||
      !calibration["intervals"].is_object())
    return invalid(fmt::format("{}: no joulecast.calibration/1", path));
  constexpr double kLargest = 100.0;  // in units of the spread, where there is one
  for (const auto& [key, value] : calibration["intervals"].items()) {
    if (!is_interval(key)) {
      return invalid(fmt::format(
          "{}: '{}' is no interval; they are called network/time/inside or operation/conv/seen/time", path, key));
    }
    if (!value.is_number() || value.get<double>() < 0.0 || value.get<double>() > kLargest)
      return invalid(fmt::format("{}: '{}' is no logarithm of a factor", path, key));
  }
  return calibration;
}

Numbers interval_factors(const Json& calibration) {
  Numbers out;
  if (calibration.is_null()) return out;
  for (const auto& [key, value] : calibration.at("intervals").items()) out.emplace(key, value.get<double>());
  return out;
}

}  // namespace joulecast
