// SPDX-License-Identifier: Apache-2.0
#include "recording/foreign_json.h"

#include <string>

#include "base/harmless.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

constexpr int kDeepest = 64;

}  // namespace

Json foreign_object(std::string_view text) {
  const auto shallow = [](int depth, Json::parse_event_t /*event*/, Json& /*parsed*/) { return depth <= kDeepest; };
  Json parsed = Json::parse(text, shallow, false);
  // Bytes that are no UTF-8 would cost all of it.
  if (parsed.is_discarded()) parsed = Json::parse(harmless_text(text), shallow, false);
  return parsed.is_object() ? harmless(parsed) : Json();
}

Json harmless(const Json& json) {
  if (json.is_string()) return harmless_text(json.get_ref<const std::string&>());
  if (!json.is_structured()) return json;
  Json out = json.is_object() ? Json::object() : Json::array();
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) {
      out[harmless_line(key)] = harmless(value);
    } else {
      out.push_back(harmless(value));
    }
  }
  return out;
}

}  // namespace joulecast
