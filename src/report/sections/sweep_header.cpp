// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/html.h"
#include "report/sections/head_text.h"
#include "report/sweep_view.h"

namespace joulecast::report {
namespace {

std::string command_text(const std::vector<std::string>& words) {
  // A command that was one text for the shell.
  if (words.size() == 3 && words[0] == "sh" && words[1] == "-c") return words[2];
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

// "power limit 700 W (the default), application clocks 2619,1980 MHz".
std::string found_text(const FoundSettings& found) {
  constexpr double kWatts = 1e-3;
  std::string out;
  if (found.power_limit_mw) {
    out = fmt::format("power limit {:g} W", *found.power_limit_mw * kWatts);
    if (found.default_limit_mw == found.power_limit_mw) {
      out += " (the default)";
    } else if (found.default_limit_mw) {
      out += fmt::format(" (default {:g} W)", *found.default_limit_mw * kWatts);
    }
  }
  if (found.application) {
    out += fmt::format("{}application clocks {},{} MHz", out.empty() ? "" : ", ", found.application->memory_mhz,
                       found.application->sm_mhz);
  }
  return out;
}

// GPUs that were found alike together: "gpu0, gpu1: ...".
std::string found_texts(const std::vector<FoundSettings>& gpus) {
  std::vector<std::pair<std::string, std::string>> kinds;
  for (const FoundSettings& found : gpus) {
    const std::string text = found_text(found);
    if (text.empty()) continue;
    auto at = std::find_if(kinds.begin(), kinds.end(), [&](const auto& kind) { return kind.first == text; });
    if (at == kinds.end()) at = kinds.insert(at, {text, {}});
    at->second += fmt::format("{}gpu{}", at->second.empty() ? "" : ", ", found.index);
  }
  std::string out;
  for (const auto& [text, names] : kinds) out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", names, text);
  return out;
}

}  // namespace

std::string sweep_header_section(const SweepView& sweep) {
  const LoadedSweep& loaded = sweep.loaded;
  std::vector<std::pair<std::string, std::string>> entries{{"Command", command_text(loaded.command)}};
  for (const SweepMachine& machine : loaded.machines) {
    entries.emplace_back("Machine", machine_text(part(machine.head, "machine")));
    entries.emplace_back("GPUs", gpus_text(machine.head));
    entries.emplace_back("Settings found", found_texts(machine.found));
    entries.emplace_back("Recorded by", member(machine.head, "tool"));
  }
  const std::size_t out = loaded.left_out.size();
  entries.emplace_back("Runs",
                       fmt::format("{}{}", loaded.runs.size(), out > 0 ? fmt::format(", and {} left out", out) : ""));
  return definition_list(entries);
}

}  // namespace joulecast::report
