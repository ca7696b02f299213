// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "base/relative_error.h"
#include "report/html.h"
#include "report/sections/sections.h"
#include "report/text.h"

namespace joulecast::report {
namespace {

using Column = HtmlTable::Column;

constexpr double kMegahertz = 1e6;
constexpr const char* kNothing = "–";

// The least of the lows and the greatest of the highs of all repeats.
std::string range_text(const DeviceSummary& device, std::optional<ReadingRange> DeviceAccount::*which, double scale) {
  std::optional<ReadingRange> all;
  for (const DeviceAccount& run : device.runs) {
    const auto& range = run.*which;
    if (!range) continue;
    if (!all) all = range;
    all->low = std::min(all->low, range->low);
    all->high = std::max(all->high, range->high);
  }
  return all ? fmt::format("{:.0f}–{:.0f}", all->low / scale, all->high / scale) : kNothing;
}

std::string error_text(const DeviceSummary& device) {
  if (!device.energy_j || !device.standard_error_j || device.energy_j->mean <= 0) return {};
  return relative_error(*device.standard_error_j, device.energy_j->mean);
}

std::string optional_quantity(const std::optional<double>& value, const char* unit) {
  return value ? quantity(*value, unit) : kNothing;
}

// "120 J ±0.4 %"
std::string above_idle_text(const DeviceSummary& device) {
  std::string out = optional_quantity(device.above_idle_j, "J");
  if (device.above_idle_error_j && *device.above_idle_j > 0) {
    out += " " + relative_error(*device.above_idle_error_j, *device.above_idle_j);
  }
  return out;
}

std::string source_of(const DeviceSummary& device) {
  return device.runs.empty() || device.runs.front().energy.empty() ? kNothing
                                                                   : device.runs.front().energy.front().source;
}

bool is_gpu(const DeviceSummary& device) {
  return names_a_gpu(device.device);
}

// GPUs alone: a processor's counter has its memory in it or not, and a wall meter has everything. Absent with fewer
// than two, or where one's is.
std::optional<double> gpu_sum(const RunSummary& summary, const std::vector<std::optional<Spread>>& by_device) {
  double sum = 0;
  std::size_t gpus = 0;
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    if (!is_gpu(summary.devices[i])) continue;
    if (!by_device[i]) return std::nullopt;
    sum += by_device[i]->mean;
    ++gpus;
  }
  return gpus > 1 ? std::optional(sum) : std::nullopt;
}

void add_sum(HtmlTable& table, const RunSummary& summary) {
  std::vector<std::optional<Spread>> energies;
  for (const DeviceSummary& device : summary.devices) energies.push_back(device.energy_j);
  const auto sum = gpu_sum(summary, energies);
  if (!sum) return;
  table.add({"GPUs, sum", quantity(*sum, "J"), "", quantity(*sum / summary.time_s.mean, "W"), "",
             quantity(*sum * summary.time_s.mean, "Js"), "", "", ""});
}

std::string device_table(const RunSummary& summary) {
  const bool idle = std::any_of(summary.devices.begin(), summary.devices.end(),
                                [](const DeviceSummary& device) { return device.idle_power_w.has_value(); });
  std::vector<Column> columns{{"device"},
                              {"energy", true},
                              {"", true},
                              {"power", true},
                              {"W, low–high", true},
                              {"EDP", true},
                              {"SM MHz, low–high", true},
                              {"°C, low–high", true},
                              {"energy by"}};
  if (idle) columns.insert(columns.end(), {{"idle power", true}, {"above idle", true}});
  HtmlTable table(columns);
  for (const DeviceSummary& device : summary.devices) {
    std::vector<std::string> row{device.device,
                                 device.energy_j ? quantity(device.energy_j->mean, "J") : kNothing,
                                 error_text(device),
                                 device.power_w ? quantity(device.power_w->mean, "W") : kNothing,
                                 range_text(device, &DeviceAccount::power_w, 1),
                                 optional_quantity(device.edp_js, "Js"),
                                 range_text(device, &DeviceAccount::sm_clock_hz, kMegahertz),
                                 range_text(device, &DeviceAccount::temperature_c, 1),
                                 source_of(device)};
    if (idle) {
      row.push_back(optional_quantity(device.idle_power_w, "W"));
      row.push_back(above_idle_text(device));
    }
    table.add(std::move(row));
  }
  add_sum(table, summary);
  return table.html();
}

// All sources of energy there are, of each device: the first is the answer, the others witnesses.
std::string source_table(const RunSummary& summary) {
  HtmlTable table(
      {{"device"}, {"source"}, {"method"}, {"energy", true}, {"coverage", true}, {"against the first", true}});
  for (const DeviceSummary& device : summary.devices) {
    if (device.runs.empty()) continue;
    const auto& sources = device.runs.front().energy;
    for (const SourceEnergy& source : sources) {
      const double first = sources.front().energy.value();
      const bool other = &source != &sources.front() && first > 0;
      table.add({device.device, source.source, std::string(series::method_name(source.method)),
                 quantity(source.energy.value(), "J"), fmt::format("{:.1f} %", source.coverage * 100),
                 other ? fmt::format("{:+.1f} %", (source.energy.value() / first - 1) * 100) : std::string()});
    }
  }
  return table.html();
}

// "2.98 kJ ±0.4 %", of one phase.
std::string phase_energy_text(const PhaseGroup& group, std::size_t device) {
  const auto& energy = group.energy_j[device];
  if (!energy) return kNothing;
  const auto& error = group.standard_error_j[device];
  return quantity(energy->mean, "J") + (error ? " " + relative_error(*error, energy->mean) : "");
}

// A column a device where there are few, else their sum.
std::string phase_table(const RunSummary& summary) {
  constexpr std::size_t kFew = 4;
  const bool few = summary.devices.size() <= kFew;
  const bool gpus = std::count_if(summary.devices.begin(), summary.devices.end(), is_gpu) > 1;
  std::vector<Column> columns{{"phase"}, {"n", true}, {"time each", true}, {"deviation", true}, {"in all", true}};
  for (const DeviceSummary& device : summary.devices) {
    if (few) columns.push_back({device.device + ", each", true});
  }
  if (gpus) columns.push_back({"GPUs, each", true});
  HtmlTable table(columns);
  for (const PhaseGroup& group : summary.phases) {
    std::vector<std::string> row{group.name + (group.open ? " (without an end)" : ""),
                                 std::to_string(group.time_s.count), quantity(group.time_s.mean, "s"),
                                 optional_quantity(group.time_s.deviation, "s"), quantity(group.time_s.total, "s")};
    for (std::size_t i = 0; few && i < group.energy_j.size(); ++i) row.push_back(phase_energy_text(group, i));
    if (gpus) row.push_back(optional_quantity(gpu_sum(summary, group.energy_j), "J"));
    table.add(std::move(row));
  }
  return table.html();
}

std::string time_text(const Spread& time) {
  if (time.count < 2) return quantity(time.mean, "s");
  return fmt::format("{}, mean of {} runs; deviation {}, {} to {}", quantity(time.mean, "s"), time.count,
                     quantity(time.deviation.value_or(0), "s"), quantity(time.least, "s"), quantity(time.most, "s"));
}

}  // namespace

std::string summary_section(const RunView& run) {
  std::string out = element("p", "Time: " + time_text(run.summary.time_s), "lead");
  out += device_table(run.summary);
  if (const std::string phases = phase_table(run.summary); !phases.empty()) out += element("h4", "Phases") + phases;
  if (const std::string sources = source_table(run.summary); !sources.empty()) {
    out += "<details><summary>Energy by every source" +
           std::string(run.summary.commands.size() > 1 ? ", first repeat" : "") + "</summary>\n" + sources +
           "</details>\n";
  }
  return out;
}

}  // namespace joulecast::report
