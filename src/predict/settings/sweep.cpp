// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace joulecast::settings {
namespace {

constexpr std::size_t kFewestSettings = 4;

using Rows = std::vector<const SettingRow*>;

// Boards that draw more than their data sheet says are measured by what they draw.
double reference_limit(const Gpu& gpu, const Rows& rows) {
  double out = gpu.power_limit.value();
  for (const SettingRow* row : rows) {
    if (!row->power_limit) out = std::max(out, row->power.value());
  }
  return out;
}

double clock_share(const SettingRow& row, double highest_hz) {
  return row.sm_clock ? row.sm_clock->value() / highest_hz : 1.0;
}

double highest_clock(const Gpu& gpu, const Rows& rows) {
  double out = gpu.boost_clock ? gpu.boost_clock->value() : 0.0;
  for (const SettingRow* row : rows) {
    if (row->sm_clock) out = std::max(out, row->sm_clock->value());
  }
  return out;
}

Sweep make_sweep(const Gpu& gpu, Rows rows) {
  Sweep out;
  out.gpu = &gpu;
  out.gpu_label = rows.front()->gpu_label;
  out.mode = rows.front()->mode;
  out.layout = rows.front()->from.table;
  out.workload = rows.front()->workload;
  out.variant = rows.front()->variant;
  out.whole_run = rows.front()->power_limit && rows.front()->gpu_count == 1;
  out.limit_w = reference_limit(gpu, rows);
  const double highest = highest_clock(gpu, rows);
  const auto share = [&](const SettingRow* row) {
    return std::pair(row->power_limit ? row->power_limit->value() : out.limit_w, clock_share(*row, highest));
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return share(a) < share(b); });
  for (const SettingRow* row : rows) {
    const auto [limit, clock] = share(row);
    out.points.push_back({.clock = clock, .limit = limit / out.limit_w});
    const auto& time = row->time;
    out.log_time.push_back(time ? std::optional(std::log(time->value())) : std::nullopt);
    out.log_power.emplace_back(std::log(row->power.value() / out.limit_w));
    out.settings.push_back({.sm_clock = row->sm_clock, .power_limit = row->power_limit});
    out.lines.push_back(row->from.line);
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

void SweepRows::add(const MeasuredOther& row) {
  auto setting = setting_row(row);
  if (!setting) return refused_[row.from.table].add(row.from.line, setting.error().text());
  const std::size_t rank = sweep_rank(row.from.table).value_or(0);
  const Key key(rank, setting->gpu, setting->workload, setting->variant, setting->repeat);
  rows_[key].push_back(std::move(*setting));
}

SweepSet SweepRows::sweeps(const Catalogue& catalogue) const {
  SweepSet out;
  out.refused = refused_;
  std::set<std::tuple<std::size_t, std::string, std::string, std::string>> taken;
  for (const auto& [key, rows] : rows_) {
    const auto& [rank, name, workload, variant, repeat] = key;
    const std::string& layout = rows.front().from.table;
    const auto gpu = catalogue.find(name);
    const bool repeated = !taken.emplace(rank, name, workload, variant).second;
    if (!gpu || repeated || rows.size() < kFewestSettings) {
      const std::string reason = !gpu       ? gpu.error().text()
                                 : repeated ? "a repeat of a sweep: the first one counts"
                                            : fmt::format("fewer than {} settings", kFewestSettings);
      for (const SettingRow& row : rows) out.refused[layout].add(row.from.line, reason);
      continue;
    }
    Rows views;
    for (const SettingRow& row : rows) views.push_back(&row);
    out.used[layout] += rows.size();
    out.sweeps.push_back(make_sweep(**gpu, std::move(views)));
  }
  return out;
}

}  // namespace joulecast::settings
