// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/html.h"
#include "report/sections/sections.h"
#include "report/text.h"

namespace joulecast::report {
namespace {

// "settings / power limit w", in the order of the recording: whatever was found is shown, whoever wrote it.
struct Found {
  std::string key;
  std::vector<std::string> values;  // one entry a device
};

void set(std::vector<Found>& all, const std::string& key, std::size_t device, std::size_t devices, std::string value) {
  auto at = std::find_if(all.begin(), all.end(), [&](const Found& one) { return one.key == key; });
  if (at == all.end()) at = all.insert(at, {key, std::vector<std::string>(devices)});
  at->values[device] = std::move(value);
}

void flatten(std::vector<Found>& all, const std::string& key, const nlohmann::json& value, std::size_t device,
             std::size_t devices, int depth) {
  constexpr int kDeepest = 8;  // of what a damaged or hostile file may hold
  if (!value.is_object() || depth == kDeepest) {
    set(all, key, device, devices, plain_text(value));
    return;
  }
  for (const auto& [name, inner] : value.items()) {
    flatten(all, key.empty() ? name : fmt::format("{} / {}", key, name), inner, device, devices, depth + 1);
  }
}

bool all_equal(const std::vector<std::string>& values) {
  return std::all_of(values.begin(), values.end(), [&](const std::string& value) { return value == values.front(); });
}

// What all devices share in one list, what differs in a row a device.
std::string table_of(const std::vector<Found>& found, const std::vector<std::string>& devices) {
  HtmlTable common({{"found"}, {devices.size() > 1 ? "all devices" : devices.front()}});
  std::vector<const Found*> differing;
  for (const Found& one : found) {
    if (all_equal(one.values)) {
      common.add({one.key, one.values.front()});
    } else {
      differing.push_back(&one);
    }
  }
  std::vector<HtmlTable::Column> columns{{"device"}};
  for (const Found* one : differing) columns.push_back({one->key});
  HtmlTable own(columns);
  for (std::size_t i = 0; i < devices.size() && !differing.empty(); ++i) {
    std::vector<std::string> row{devices[i]};
    for (const Found* one : differing) row.push_back(one->values[i]);
    own.add(std::move(row));
  }
  return common.html() + own.html();
}

}  // namespace

std::string devices_section(const RunView& run) {
  const auto devices = run.recording.head.find("devices");
  if (devices == run.recording.head.end() || !devices->is_array()) return {};
  std::vector<const nlohmann::json*> shown;
  std::vector<std::string> names;
  for (const auto& device : *devices) {
    if (!device.is_object()) continue;
    const auto id = device.find("id");
    names.push_back(id == device.end() ? "?" : plain_text(*id));
    shown.push_back(&device);
  }
  std::vector<Found> found;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    for (const auto& [key, value] : shown[i]->items()) {
      if (key != "id") flatten(found, key == "details" ? std::string() : key, value, i, shown.size(), 0);
    }
  }
  if (shown.empty() || found.empty()) return {};
  return table_of(found, names);
}

}  // namespace joulecast::report
