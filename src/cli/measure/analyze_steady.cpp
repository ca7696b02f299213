// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/measure/analyze_parts.h"
#include "cli/numbers.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

using Align = Table::Align;

std::optional<double> idle_of(const RunSummary& summary, const std::string& device,
                              std::optional<double> idle_power_w) {
  for (const DeviceSummary& one : summary.devices) {
    if (one.device == device && one.idle_power_w) return one.idle_power_w;
  }
  return names_a_gpu(device) ? idle_power_w : std::nullopt;
}

const SourceEnergy* energy_of(const SteadyRun& run) {
  const bool told = !run.account.energy.empty() && run.account.energy.front().coverage >= kLeastCoverage;
  return told ? &run.account.energy.front() : nullptr;
}

// Absent where nothing tells it.
std::optional<double> error_of(const SteadyEntry& steady) {
  const SourceEnergy* energy = energy_of(steady.run);
  return energy == nullptr || steady.energy_aliases ? std::nullopt : std::optional(energy->standard_error.value());
}

std::string channel_text(const SteadyEntry& steady) {
  if (!steady.run.deviation_w) return "-";
  return steady.power_aliases ? "± ?" : "±" + with_prefix(3 * *steady.run.deviation_w, "W");
}

Json number_or_null(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

Json one_json(const SteadyEntry& steady) {
  const SteadyRun& run = steady.run;
  const SourceEnergy* energy = energy_of(run);
  Json warnings = Json::array();
  for (const series::Warning warning : run.warnings) warnings.push_back(series::warning_name(warning));
  return {{"device", run.device},
          {"source", run.source},
          {"from_s", json_number(run.from_s)},
          {"to_s", json_number(run.to_s)},
          {"cut_head_s", json_number(run.cut_head_s)},
          {"cut_tail_s", json_number(run.cut_tail_s)},
          {"cut_head_readings", run.head_readings},
          {"cut_tail_readings", run.tail_readings},
          {"energy_j", energy == nullptr ? Json(nullptr) : json_number(energy->energy.value())},
          {"standard_error_j", number_or_null(error_of(steady))},
          {"energy_source", energy == nullptr ? Json(nullptr) : Json(energy->source)},
          {"channel",
           {{"readings", run.readings},
            {"mean_w", json_number(run.power_w)},
            {"stddev_w", number_or_null(run.deviation_w)},
            {"sigmas", 3},
            {"outside", run.outside},
            {"kept_mean_w", number_or_null(run.kept_power_w)}}},
          {"idle_ratio", number_or_null(run.idle_share)},
          {"warnings", warnings}};
}

}  // namespace

SteadyRuns steady_runs(const ReadRun& run, std::optional<double> idle_power_w) {
  const Accountant accountant(run.recording, run.lines);
  SteadyRuns out;
  for (const DeviceSummary& device : run.summary.devices) {
    for (const Phase& command : run.summary.commands) {
      auto steady = steady_run(run.recording, accountant, device.device, command,
                               idle_of(run.summary, device.device, idle_power_w));
      if (!steady) {
        // A device that tells no power has no steady part to miss.
        if (steady.error().code() != ErrorCode::kNotFound) out.notes.push_back("steady part: " + steady.error().text());
        continue;
      }
      for (const series::Warning warning : steady->warnings) {
        if (warning == series::Warning::kShortWindow)
          out.notes.push_back(fmt::format("{}: less than half of the run is steady", device.device));
      }
      const SourceEnergy* energy = energy_of(*steady);
      const bool energy_aliases = energy != nullptr && aliases(run.summary, device.device, energy->source);
      const bool power_aliases = aliases(run.summary, device.device, steady->source);
      out.runs.push_back({*std::move(steady), power_aliases, energy_aliases});
    }
  }
  return out;
}

std::string steady_text(const SteadyRuns& steady) {
  if (steady.runs.empty()) return {};
  Table table({{"steady"},
               {"from-to s", Align::kRight},
               {"cut s", Align::kRight},
               {"readings", Align::kRight},
               {"energy", Align::kRight},
               {"power", Align::kRight},
               {"3 sigma", Align::kRight},
               {"out", Align::kRight},
               {"idle", Align::kRight}});
  for (const SteadyEntry& one : steady.runs) {
    const SteadyRun& run = one.run;
    const SourceEnergy* energy = energy_of(run);
    table.add(
        {run.device, fmt::format("{:.1f}-{:.1f}", run.from_s, run.to_s),
         fmt::format("{:.1f}+{:.1f}", run.cut_head_s, run.cut_tail_s),
         fmt::format("{}+{}", run.head_readings, run.tail_readings),
         energy == nullptr ? "-" : with_prefix(energy->energy.value(), "J"),
         energy == nullptr ? with_prefix(run.power_w, "W") : with_prefix(energy->energy.value() / run.seconds(), "W"),
         channel_text(one), std::to_string(run.outside), run.idle_share ? share(*run.idle_share, 1) : "-"});
  }
  return table.text(2) +
         "  cut: at the start and at the tail, in seconds and readings of power;\n"
         "  out: readings outside three deviations of the mean\n\n";
}

Json steady_json(const SteadyRuns& steady) {
  Json out = Json::array();
  for (const SteadyEntry& one : steady.runs) out.push_back(one_json(one));
  return out;
}

}  // namespace joulecast::cli
