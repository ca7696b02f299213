// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "report/html.h"
#include "report/sections/head_text.h"
#include "report/sections/sections.h"
#include "report/text.h"

namespace joulecast::report {
namespace {

std::string ending_text(const RunView& run) {
  if (!run.recording.damage.complete) return "the recorder was cut off";
  std::string out;
  const nlohmann::json commands = part(run.recording.end, "commands");
  if (!commands.is_array()) return out;
  for (const auto& command : commands) {
    if (const std::string code = member(command, "code"); !code.empty()) out += (out.empty() ? "" : ", ") + code;
  }
  return out;
}

// "python 3.12.4, torch 2.9.1": what programs say of themselves, each once (docs/formats/marks.md).
std::string software_text(const Recording& recording) {
  std::vector<std::string> all;
  for (const Event& event : recording.events) {
    if (event.kind != EventKind::kMark || event.name != "software") continue;
    for (std::string_view rest = event.details; !rest.empty();) {
      const std::string_view pair = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
      std::string text(pair);
      if (const std::size_t sign = text.find('='); sign != std::string::npos) text[sign] = ' ';
      if (std::find(all.begin(), all.end(), text) == all.end()) all.push_back(std::move(text));
    }
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string pairs_text(const nlohmann::json& object) {
  std::string out;
  if (!object.is_object()) return out;
  for (const auto& [key, value] : object.items()) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", key, plain_text(value));
  }
  return out;
}

}  // namespace

std::string header_section(const RunView& run) {
  const nlohmann::json& head = run.recording.head;
  const nlohmann::json rank = part(head, "rank");
  return definition_list({{"Started", member(head, "started_utc")},
                          {"Machine", machine_text(part(head, "machine"))},
                          {"GPUs", gpus_text(head)},
                          {"Chosen", plain_text(part(head, "gpu_choice"))},
                          {"Environment", pairs_text(part(head, "environment"))},
                          {"Software", software_text(run.recording)},
                          {"Rank", rank.is_object() ? member(rank, "rank") + " of " + member(rank, "size") : ""},
                          {"Exit code", ending_text(run)},
                          {"Recorded by", member(head, "tool")},
                          {"File", run.path}});
}

}  // namespace joulecast::report
