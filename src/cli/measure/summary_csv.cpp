// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "cli/measure/summary_text.h"
#include "cli/output.h"

namespace joulecast::cli {
namespace {

std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

// Of one run; a device that nothing tells the energy of has a line too.
std::string device_lines(const DeviceAccount& account, std::size_t run, double seconds) {
  const std::string head = fmt::format("{},{},{},", csv_field(account.device), run, number(seconds));
  if (account.energy.empty()) return head + ",,,,,\r\n";
  const auto best = answer(account);
  std::string out;
  for (const SourceEnergy& one : account.energy) {
    out += fmt::format("{}{},{},{},{},{},{}\r\n", head, csv_field(one.source),
                       best && best->source == one.source ? 1 : 0, number(one.energy.value()),
                       number(one.standard_error.value()), number(one.energy.value() / seconds), number(one.coverage));
  }
  return out;
}

}  // namespace

std::string summary_csv(const RunSummary& summary) {
  std::string out = "device,run,time_s,source,best,energy_j,standard_error_j,power_w,coverage_ratio\r\n";
  for (std::size_t i = 0; i < summary.commands.size(); ++i) {
    const double seconds = summary.commands[i].seconds();
    if (summary.devices.empty()) out += device_lines({}, i + 1, seconds);
    for (const DeviceSummary& device : summary.devices) out += device_lines(device.runs[i], i + 1, seconds);
  }
  return out;
}

}  // namespace joulecast::cli
