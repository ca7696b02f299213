// SPDX-License-Identifier: Apache-2.0
#include "report/sections/head_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "report/sections/sections.h"
#include "report/text.h"

namespace joulecast::report {

std::string member(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto at = object.find(key);
  return at == object.end() ? std::string() : plain_text(*at);
}

nlohmann::json part(const nlohmann::json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto at = object.find(key);
  return at == object.end() ? nlohmann::json() : *at;
}

std::string machine_text(const nlohmann::json& machine) {
  std::string out = member(machine, "host");
  for (const char* key : {"os", "architecture"}) {
    if (const std::string text = member(machine, key); !text.empty()) out += (out.empty() ? "" : ", ") + text;
  }
  if (const std::string cpus = member(machine, "cpus"); !cpus.empty()) out += fmt::format(", {} processors", cpus);
  return out;
}

std::string gpus_text(const nlohmann::json& head) {
  std::vector<std::pair<std::string, std::size_t>> kinds;
  const nlohmann::json devices = part(head, "devices");
  if (!devices.is_array()) return {};
  for (const auto& device : devices) {
    if (member(device, "kind") != "gpu") continue;
    std::string text = member(device, "name");
    if (const std::string driver = member(part(device, "details"), "driver"); !driver.empty()) {
      text += fmt::format(" (driver {})", driver);
    }
    auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == text; });
    if (at == kinds.end()) at = kinds.insert(at, {text, 0});
    ++at->second;
  }
  std::string out;
  for (const auto& [text, count] : kinds) {
    out += (out.empty() ? "" : ", ") + (count > 1 ? fmt::format("{} × {}", count, text) : text);
  }
  return out;
}

std::string command_line(const Recording& recording) {
  std::string out;
  const nlohmann::json command = part(recording.head, "command");
  if (!command.is_array() || command.empty()) return "a recording";
  for (const auto& word : command) out += (out.empty() ? "" : " ") + plain_text(word);
  return out;
}

}  // namespace joulecast::report
