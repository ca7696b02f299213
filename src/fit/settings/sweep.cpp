// SPDX-License-Identifier: Apache-2.0
#include "fit/settings/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace joulecast::settings {
namespace {

constexpr std::size_t kFewestSettings = 4;

// gpu, workload, variant, repeat
using Key = std::tuple<std::string, std::string, std::string, std::string>;
using Rows = std::map<Key, std::vector<const MeasuredSetting*>>;

Rows rows_by_sweep(const std::vector<MeasuredSetting>& settings, SweepSet& out) {
  Rows rows;
  std::size_t set_aside = 0;
  for (const MeasuredSetting& row : settings) {
    if (row.from.primary && row.readings.power) {
      rows[{row.at.gpu, row.workload, row.variant, row.repeat}].push_back(&row);
    } else {
      ++set_aside;
    }
  }
  out.refused += set_aside;
  return rows;
}

// Boards that draw more than their data sheet says are measured by what they draw.
double reference_limit(const Gpu& gpu, const std::vector<const MeasuredSetting*>& rows) {
  double out = gpu.power_limit.value();
  for (const MeasuredSetting* row : rows) {
    if (!row->at.power_limit) out = std::max(out, row->readings.power->value());
  }
  return out;
}

double clock_share(const MeasuredSetting& row, double highest_hz) {
  return row.sm_clock ? row.sm_clock->value() / highest_hz : 1.0;
}

double highest_clock(const Gpu& gpu, const std::vector<const MeasuredSetting*>& rows) {
  double out = gpu.boost_clock ? gpu.boost_clock->value() : 0.0;
  for (const MeasuredSetting* row : rows) {
    if (row->sm_clock) out = std::max(out, row->sm_clock->value());
  }
  return out;
}

Sweep make_sweep(const Gpu& gpu, std::vector<const MeasuredSetting*> rows) {
  Sweep out;
  out.gpu = &gpu;
  out.layout = rows.front()->from.table;
  out.workload = rows.front()->workload;
  out.variant = rows.front()->variant;
  out.whole_run = rows.front()->at.power_limit && rows.front()->gpu_count == 1;
  out.limit_w = reference_limit(gpu, rows);
  const double highest = highest_clock(gpu, rows);
  const auto share = [&](const MeasuredSetting* row) {
    return std::pair(row->at.power_limit ? row->at.power_limit->value() : out.limit_w, clock_share(*row, highest));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return share(a) < share(b); });
  for (const MeasuredSetting* row : rows) {
    const auto [limit, clock] = share(row);
    out.points.push_back({.clock = clock, .limit = limit / out.limit_w});
    const auto& time = row->readings.time;
    out.log_time.push_back(time ? std::optional(std::log(time->value())) : std::nullopt);
    out.log_power.emplace_back(std::log(row->readings.power->value() / out.limit_w));
  }
  return out;
}

}  // namespace

std::vector<Known> Sweep::known(std::span<const std::size_t> indices, std::size_t first) const {
  std::vector<Known> out;
  for (const std::size_t i : indices) {
    out.push_back({.point = first + i, .log_time = log_time[i], .log_power = log_power[i]});
  }
  return out;
}

std::vector<Known> Sweep::all_known(std::size_t first) const {
  std::vector<std::size_t> all(points.size());
  std::iota(all.begin(), all.end(), 0U);
  return known(all, first);
}

Result<void> add_sweeps(const std::string& path, const Catalogue& catalogue, SweepSet& out) {
  std::vector<MeasuredSetting> settings;
  TableSink sink;
  sink.setting = [&](MeasuredSetting row) { settings.push_back(std::move(row)); };
  JC_ASSIGN_OR_RETURN(const Table table, read_table(path, sink));
  if (settings.empty())
    return invalid(fmt::format("{}: a table of '{}' has no sweeps of clocks or limits", path, table.layout));
  out.refused += table.unmapped.rows();
  std::set<std::tuple<std::string, std::string, std::string>> taken;
  for (const auto& [key, rows] : rows_by_sweep(settings, out)) {
    const auto& [name, workload, variant, repeat] = key;
    const auto gpu = catalogue.find(name);
    const bool repeated = !taken.emplace(name, workload, variant).second;
    if (!gpu || repeated || rows.size() < kFewestSettings) {
      out.refused += rows.size();
      if (!gpu && out.notes.size() < 10) out.notes.push_back(gpu.error().text());
      continue;
    }
    out.used += rows.size();
    out.sweeps.push_back(make_sweep(**gpu, rows));
  }
  return {};
}

}  // namespace joulecast::settings
