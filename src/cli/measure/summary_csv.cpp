// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <map>
#include <string>

#include "cli/measure/summary_text.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

// Of one run; a device that nothing tells the energy of has a line too.
std::string device_lines(const RunSummary& summary, const DeviceAccount& account, std::size_t run, double seconds,
                         int code) {
  const std::string head = fmt::format("{},{},{},", csv_field(account.device), run, number(seconds));
  if (account.energy.empty()) return fmt::format("{},,,,,,{}\r\n", head, code);
  const auto best = answer(account);
  std::string out;
  for (const SourceEnergy& one : account.energy) {
    const auto error = told_error(summary, account.device, one);
    out += fmt::format("{}{},{},{},{},{},{},{}\r\n", head, csv_field(one.source),
                       best && best->source == one.source ? 1 : 0, number(one.energy.value()),
                       error ? number(*error) : "", number(one.energy.value() / seconds), number(one.coverage), code);
  }
  return out;
}

}  // namespace

std::string summary_csv(const Recording& recording, const RunSummary& summary) {
  std::map<std::size_t, std::string> lines;  // by run
  for (std::size_t i = 0; i < summary.commands.size(); ++i) {
    const Phase& command = summary.commands[i];
    const std::size_t run = number_of_run(command);
    const int code = exit_code_of(recording, command);
    if (summary.devices.empty()) lines[run] += device_lines(summary, {}, run, command.seconds(), code);
    for (const DeviceSummary& device : summary.devices)
      lines[run] += device_lines(summary, device.runs[i], run, command.seconds(), code);
  }
  for (const FailedRun& failed : summary.failed) {
    const std::size_t run = number_of_run(failed.command);
    lines[run] += device_lines(summary, {}, run, failed.command.seconds(), failed.code);
  }
  std::string out = "device,run,time_s,source,best,energy_j,standard_error_j,power_w,coverage_ratio,exit_code\r\n";
  for (const auto& [run, text] : lines) out += text;
  return out;
}

}  // namespace joulecast::cli
