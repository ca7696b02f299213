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
// Each takes 56 kB for all hypotheses. Published sweeps have at most a hundred.
constexpr std::size_t kMostRuns = 1000;

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
  out.precision = rows.front()->precision;
  out.batch = rows.front()->batch;
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

namespace {

// Where others have times, those without tell too little.
Rows equally_told(const std::vector<SettingRow>& rows, Refusals& refused) {
  const bool times = std::any_of(rows.begin(), rows.end(), [](const SettingRow& row) { return row.time.has_value(); });
  Rows out;
  for (const SettingRow& row : rows) {
    if (row.time.has_value() == times) {
      out.push_back(&row);
    } else {
      refused.add(row.from.line, "no time, where others of its sweep have one");
    }
  }
  return out;
}

// Sorted, so that equal ones stand together.
std::size_t different(const std::vector<OperatingPoint>& points) {
  std::size_t out = points.empty() ? 0 : 1;
  for (std::size_t i = 1; i < points.size(); ++i) out += points[i] == points[i - 1] ? 0 : 1;
  return out;
}

}  // namespace

SweepSet SweepRows::sweeps(const Catalogue& catalogue) const {
  SweepSet out;
  out.refused = refused_;
  std::set<std::tuple<std::size_t, std::string, std::string, std::string>> taken;
  for (const auto& [key, rows] : rows_) {
    const auto& [rank, name, workload, variant, repeat] = key;
    const std::string& layout = rows.front().from.table;
    const auto refuse = [&](const Rows& views, const std::string& reason) {
      for (const SettingRow* row : views) out.refused[layout].add(row->from.line, reason);
    };
    const Rows views = equally_told(rows, out.refused[layout]);
    const auto gpu = catalogue.find(name);
    const bool repeated = taken.contains({rank, name, workload, variant});
    if (!gpu || repeated || views.size() > kMostRuns) {
      refuse(views, !gpu       ? gpu.error().text()
                    : repeated ? "a repeat of a sweep: the first one counts"
                               : fmt::format("more than {} runs in one sweep", kMostRuns));
      continue;
    }
    Sweep sweep = make_sweep(**gpu, views);
    if (different(sweep.points) < kFewestSettings) {
      refuse(views, fmt::format("fewer than {} settings", kFewestSettings));
      continue;
    }
    taken.emplace(rank, name, workload, variant);
    out.used[layout] += views.size();
    out.sweeps.push_back(std::move(sweep));
  }
  std::erase_if(out.refused, [](const auto& of_layout) { return of_layout.second.rows() == 0; });
  return out;
}

}  // namespace joulecast::settings
