// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/summary_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/event_reasons.h"
#include "base/relative_error.h"
#include "cli/numbers.h"
#include "cli/output.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

using Align = Table::Align;

constexpr const char* kNothing = "-";
constexpr std::size_t kMostPhases = 40;  // names of phases in the table
constexpr double kMegahertz = 1e6;

std::string command_text(const Recording& recording) {
  std::string out;
  const auto command = recording.head.find("command");
  if (command == recording.head.end() || !command->is_array()) return "a recording";
  for (const auto& word : *command) {
    if (!out.empty()) out += ' ';
    if (word.is_string()) out += word.get<std::string>();
  }
  return shortened(printable(out), 66);
}

std::string time_text(const RunSummary& summary) {
  std::string out = with_prefix(summary.time_s.mean, "s");
  if (summary.time_s.count > 1) {
    out += fmt::format(" (mean of {} runs, deviation {})", summary.time_s.count,
                       with_prefix(*summary.time_s.deviation, "s"));
  }
  return out;
}

std::string range_text(const std::optional<ReadingRange>& range, double scale, int digits) {
  if (!range) return kNothing;
  // Rounded away from each other: what lies between is between them as shown, too.
  constexpr double kRest = 1e-6;  // what multiplying by steps leaves
  const double unit = std::pow(10.0, -digits);
  return fmt::format("{:.{}f}-{:.{}f}", std::floor(range->low / scale / unit + kRest) * unit, digits,
                     std::ceil(range->high / scale / unit - kRest) * unit, digits);
}

// Over all repeats.
std::optional<ReadingRange> merged(const DeviceSummary& device, std::optional<ReadingRange> DeviceAccount::*which) {
  std::optional<ReadingRange> out;
  double sum = 0, count = 0;
  for (const DeviceAccount& run : device.runs) {
    const auto& range = run.*which;
    if (!range) continue;
    if (!out) out = range;
    out->low = std::min(out->low, range->low);
    out->high = std::max(out->high, range->high);
    sum += range->mean;
    ++count;
  }
  if (out) out->mean = sum / count;
  return out;
}

std::string source_of(const DeviceSummary& device) {
  return device.runs.empty() || device.runs.front().energy.empty() ? std::string(kNothing)
                                                                   : device.runs.front().energy.front().source;
}

// How far the best of the other sources is from the first, over all repeats; empty where there is none.
std::string witness(const DeviceSummary& device) {
  double first = 0;
  double second = 0;
  for (const DeviceAccount& run : device.runs) {
    if (run.energy.size() < 2 || run.energy[1].coverage < kLeastCoverage) return {};
    first += run.energy[0].energy.value();
    second += run.energy[1].energy.value();
  }
  return first > 0 ? fmt::format("{:+.1f} %", (second / first - 1) * 100) : std::string();
}

std::string error_text(const DeviceSummary& device) {
  if (!device.energy_j) return {};
  return device.standard_error_j ? relative_error(*device.standard_error_j, device.energy_j->mean) : "± ?";
}

std::vector<std::string> row(const DeviceSummary& device) {
  const auto clock = merged(device, &DeviceAccount::sm_clock_hz);
  const auto temperature = merged(device, &DeviceAccount::temperature_c);
  return {device.device,
          device.energy_j ? with_prefix(device.energy_j->mean, "J") : kNothing,
          error_text(device),
          device.power_w ? with_prefix(device.power_w->mean, "W") : kNothing,
          range_text(merged(device, &DeviceAccount::power_w), 1, 0),
          clock ? fmt::format("{:.0f}", clock->mean / kMegahertz) : kNothing,
          temperature ? fmt::format("{:.0f}", temperature->high) : kNothing,
          source_of(device),
          witness(device)};
}

// GPUs alone: a processor's counter has its memory in it or not, and a wall meter has everything.
std::optional<double> gpu_energy(const RunSummary& summary, const std::vector<std::optional<Spread>>& by_device,
                                 bool mean) {
  double sum = 0;
  std::size_t gpus = 0;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    if (!names_a_gpu(summary.devices[i].device)) continue;
    if (!by_device[i]) return std::nullopt;
    sum += mean ? by_device[i]->mean : by_device[i]->total;
    ++gpus;
  }
  return gpus == 0 ? std::nullopt : std::optional(sum);
}

std::string device_table(const RunSummary& summary) {
  Table table({{"device"},
               {"energy", Align::kRight},
               {"", Align::kRight},
               {"power", Align::kRight},
               {"W, low-high", Align::kRight},
               {"MHz", Align::kRight},
               {"°C", Align::kRight},
               {"by"},
               {"check", Align::kRight}});
  std::vector<std::optional<Spread>> energies;
  for (const DeviceSummary& device : summary.devices) {
    table.add(row(device));
    energies.push_back(device.energy_j);
  }
  const auto gpus = std::count_if(summary.devices.begin(), summary.devices.end(),
                                  [](const DeviceSummary& device) { return names_a_gpu(device.device); });
  const auto total = gpu_energy(summary, energies, true);
  if (gpus > 1 && total) {
    table.add(
        {"GPUs", with_prefix(*total, "J"), "", with_prefix(*total / summary.time_s.mean, "W"), "", "", "", "sum", ""});
  }
  return table.text(2);
}

// "250 ms ±2.1 %"
std::string spread_text(const Spread& spread, const char* unit) {
  const std::string mean = with_prefix(spread.mean, unit);
  return spread.deviation ? fmt::format("{} {}", mean, relative_error(*spread.deviation, spread.mean)) : mean;
}

// "206 mJ ±12 %", of one phase on all GPUs, whose errors are independent.
std::string phase_energy_text(const RunSummary& summary, const PhaseGroup& group) {
  const auto each = gpu_energy(summary, group.energy_j, true);
  if (!each) return kNothing;
  double squares = 0;
  bool known = true;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    if (!names_a_gpu(summary.devices[i].device)) continue;
    known = known && group.standard_error_j[i];
    squares += std::pow(group.standard_error_j[i].value_or(0), 2);
  }
  if (!(*each > 0)) return with_prefix(*each, "J");
  return with_prefix(*each, "J") + " " + (known ? relative_error(std::sqrt(squares), *each) : "± ?");
}

std::string phase_table(const RunSummary& summary) {
  Table table({{"phase"},
               {"n", Align::kRight},
               {"time each ± sd", Align::kRight},
               {"in all", Align::kRight},
               {"of the run", Align::kRight},
               {"GPU energy each ±", Align::kRight},
               {"in all", Align::kRight}});
  const double whole = summary.time_s.total;
  for (const PhaseGroup& group : summary.phases) {
    if (table.row_count() == kMostPhases) break;
    const auto all = gpu_energy(summary, group.energy_j, false);
    table.add({printable(group.name), std::to_string(group.time_s.count), spread_text(group.time_s, "s"),
               with_prefix(group.time_s.total, "s"), share(group.time_s.total, whole),
               phase_energy_text(summary, group), all ? with_prefix(*all, "J") : kNothing});
  }
  if (summary.phases.size() <= kMostPhases) return table.text(2);
  return table.text(2) + fmt::format("  and {} more; --json has all\n", summary.phases.size() - kMostPhases);
}

void add_lines(std::string& out, const DeviceSummary& device) {
  if (device.idle_power_w) {
    out += fmt::format("  {}: idle {}{}, above idle {}{}\n", device.device, with_prefix(*device.idle_power_w, "W"),
                       device.idle_share ? fmt::format(" ({})", share(*device.idle_share, 1)) : "",
                       with_prefix(*device.above_idle_j, "J"),
                       device.above_idle_error_j && *device.above_idle_j > 0
                           ? " " + relative_error(*device.above_idle_error_j, *device.above_idle_j)
                           : "");
  }
  std::uint64_t reasons = 0;
  double capped = 0;
  for (const DeviceAccount& run : device.runs) {
    reasons |= run.event_reasons.value_or(0);
    capped = std::max(capped, run.capped_share.value_or(0));
  }
  if (const std::string text = reasons_text(reasons); !text.empty()) {
    out += fmt::format("  {}: clocks held down by {}{}\n", device.device, text,
                       capped > 0 ? fmt::format(" ({:.0f} % of readings)", capped * 100) : "");
  }
}

}  // namespace

std::string summary_text(const Recording& recording, const RunSummary& summary) {
  std::string out = fmt::format("\nMeasured: {}\nTime:     {}\n", command_text(recording), time_text(summary));
  if (!summary.devices.empty()) out += "\n" + device_table(summary);
  for (const DeviceSummary& device : summary.devices) add_lines(out, device);
  if (!summary.phases.empty()) out += "\n" + phase_table(summary);
  return out + "\n";
}

std::string phase_list(const Recording& recording, const RunSummary& summary, const std::string& name) {
  const Accountant accountant(recording);
  Table table({{"phase"},
               {"from", Align::kRight},
               {"time", Align::kRight},
               {"device"},
               {"energy", Align::kRight},
               {"power", Align::kRight}});
  std::size_t count = 0;
  const MonotonicUs start = summary.commands.front().begin;
  for (const Phase& phase : phases_of(recording).phases) {
    if (phase.name != name || phase.end <= phase.begin) continue;
    const std::string index = detail_of(phase.details, "index").value_or(std::to_string(count));
    ++count;
    const std::string title = fmt::format("{} {}", printable(name), printable(index));
    const std::string from = fmt::format("{:.2f} s", static_cast<double>(phase.begin - start) * 1e-6);
    bool first = true;
    for (const DeviceSummary& device : summary.devices) {
      const DeviceAccount account = accountant.account(device.device, phase.begin, phase.end);
      const bool told = !account.energy.empty() && account.energy.front().coverage >= kLeastCoverage;
      const double energy = told ? account.energy.front().energy.value() : 0;
      table.add({first ? title : "", first ? from : "", first ? with_prefix(phase.seconds(), "s") : "", device.device,
                 told ? with_prefix(energy, "J") : kNothing,
                 told ? with_prefix(energy / phase.seconds(), "W") : kNothing});
      first = false;
    }
    if (first) table.add({title, from, with_prefix(phase.seconds(), "s"), "", kNothing, kNothing});
  }
  return table.row_count() == 0 ? std::string() : table.text(2);
}

}  // namespace joulecast::cli
