// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

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
                          {"Rank", rank.is_object() ? member(rank, "rank") + " of " + member(rank, "size") : ""},
                          {"Exit code", ending_text(run)},
                          {"Recorded by", member(head, "tool")},
                          {"File", run.path}});
}

}  // namespace joulecast::report
