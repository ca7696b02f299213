// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "analysis/event_reasons.h"
#include "report/html.h"
#include "report/sections/sections.h"
#include "report/text.h"

namespace joulecast::report {
namespace {

// Same sentences for several GPUs are told once.
void add_reasons(std::vector<std::string>& out, const RunSummary& summary) {
  for (const DeviceSummary& device : summary.devices) {
    std::uint64_t bits = 0;
    double capped = 0;
    for (const DeviceAccount& run : device.runs) {
      bits |= run.event_reasons.value_or(0);
      capped = std::max(capped, run.capped_share.value_or(0));
    }
    const std::string reasons = reasons_text(bits);
    if (reasons.empty()) continue;
    out.push_back(fmt::format("{}: clocks were held down by {}{}", device.device, reasons,
                              capped > 0 ? fmt::format(" ({:.0f} % of readings)", capped * 100) : ""));
  }
}

std::string word(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? std::string() : plain_text(*at);
}

std::vector<std::string> missing(const nlohmann::json& head) {
  std::vector<std::string> out;
  const auto all = head.find("missing");
  if (all == head.end() || !all->is_array()) return out;
  for (const auto& one : *all) {
    if (!one.is_object()) continue;
    std::string text = word(one, "what") + ": " + word(one, "why");
    if (const std::string remedy = word(one, "remedy"); !remedy.empty()) text += " (" + remedy + ")";
    out.push_back(std::move(text));
  }
  return out;
}

std::string absence_table(const Recording& recording) {
  struct Sum {
    std::uint32_t channel;
    Absence absence;
    std::string text;
    std::uint64_t count;
  };
  std::vector<Sum> sums;
  for (const AbsenceRecord& record : recording.absences) {
    if (record.channel >= recording.channels.size()) continue;
    auto at = std::find_if(sums.begin(), sums.end(), [&](const Sum& sum) {
      return sum.channel == record.channel && sum.absence == record.absence && sum.text == record.text;
    });
    if (at == sums.end()) at = sums.insert(at, {record.channel, record.absence, record.text, 0});
    at->count += record.count;
  }
  HtmlTable table({{"device"}, {"reading"}, {"source"}, {"missing", true}, {"why"}});
  for (const Sum& sum : sums) {
    const Channel& channel = recording.channels[sum.channel];
    table.add({channel.device, std::string(info(channel.signal).key), channel.source, std::to_string(sum.count),
               std::string(name(sum.absence)) + (sum.text.empty() ? "" : ": " + sum.text)});
  }
  return table.html();
}

}  // namespace

std::string warnings_section(const RunView& run) {
  std::vector<std::string> sentences = run.summary.doubts;
  add_reasons(sentences, run.summary);
  std::string out = sentences.empty() ? element("p", "Nothing puts the figures in doubt that the recorder could see.")
                                      : bullet_list(sentences, "warnings");
  if (const std::string table = absence_table(run.recording); !table.empty()) {
    out += element("h4", "Readings that are missing") + table;
  }
  const std::vector<std::string> lacking = missing(run.recording.head);
  if (!lacking.empty()) {
    out += "<details><summary>What could not be read on this machine (" + std::to_string(lacking.size()) +
           ")</summary>\n" + bullet_list(lacking) + "</details>\n";
  }
  return out;
}

}  // namespace joulecast::report
