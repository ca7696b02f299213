// SPDX-License-Identifier: Apache-2.0
#include "analysis/run_device.h"

namespace joulecast {
namespace {

std::string text(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

}  // namespace

const nlohmann::json* find_device(const Recording& recording, const std::string& device) {
  const auto devices = recording.head.find("devices");
  if (devices == recording.head.end() || !devices->is_array()) return nullptr;
  for (const auto& one : *devices) {
    if (one.is_object() && text(one, "id") == device) return &one;
  }
  return nullptr;
}

std::string name_of(const Recording& recording, const std::string& device) {
  const auto* entry = find_device(recording, device);
  return entry == nullptr ? std::string() : text(*entry, "name");
}

std::string uuid_of(const Recording& recording, const std::string& device) {
  const auto* entry = find_device(recording, device);
  if (entry == nullptr) return {};
  const auto details = entry->find("details");
  return details != entry->end() && details->is_object() ? text(*details, "uuid") : std::string();
}

}  // namespace joulecast
