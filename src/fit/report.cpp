// SPDX-License-Identifier: Apache-2.0
#include "fit/report.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "dataset/metrics.h"

namespace joulecast {
namespace {

Json figure(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json figures_json(const std::vector<double>& measured, const std::vector<double>& predicted) {
  const ErrorFigures f = error_figures(measured, predicted);
  return {{"n", f.count},
          {"r2", figure(f.r2)},
          {"r2_log", figure(f.r2_log)},
          {"mape", figure(f.mape)},
          {"median_ape", figure(f.median)},
          {"p90_ape", figure(f.p90)},
          {"bias", figure(f.bias)}};
}

Json names_json(const std::vector<std::string_view>& names) {
  Json out = Json::array();
  for (const std::string_view name : names) out.push_back(name);
  return out;
}

Json model_json(const ForestView& forest) {
  return {{"trees", forest.tree_count()}, {"features", names_json(forest.feature_names())}};
}

}  // namespace

void Cells::Pairs::add(double value, double predicted, double factor, const std::vector<double>& spread,
                       std::size_t row) {
  measured.push_back(value);
  found.push_back(predicted);
  half_width.push_back(factor * (spread.empty() ? 1.0 : spread[row]));
}

// Errors, how many lie inside their interval, and how wide the middle one of these is: half of it, in shares of the
// predicted value.
Json Cells::Pairs::json() const {
  Json out = figures_json(measured, found);
  std::size_t inside = 0;
  for (std::size_t i = 0; i < measured.size(); ++i)
    inside += std::abs(std::log(found[i] / measured[i])) <= half_width[i] ? 1U : 0U;
  const std::optional<double> middle = quantile(half_width, 0.5);
  out["coverage"] =
      measured.empty() ? Json(nullptr) : Json(static_cast<double>(inside) / static_cast<double>(measured.size()));
  out["interval"] = middle ? Json(std::sinh(*middle)) : Json(nullptr);
  return out;
}

void Cells::add(const std::vector<Sample>& samples, const HeldOut& held, const Bounds& bounds) {
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const Sample& s = samples[i];
    if (!s.primary) continue;
    Cell& cell = cells_[fmt::format("{}/{}/{}", s.table, s.gpu_name, name(s.mode))];
    std::array<float, kMaxFeatures> unused{};
    cell.time.add(s.time, held.time[i], bounds.time, bounds.spread.time, i);
    cell.bound.push_back(physics_of(s.work, s.device, s.situation, unused).bound);
    if (!s.power || held.power[i] <= 0.0) continue;  // no other GPU's power to learn from
    cell.power.add(*s.power, held.power[i], bounds.power, bounds.spread.power, i);
    cell.energy.add(*s.power * s.time, held.power[i] * held.time[i], bounds.energy, bounds.spread.energy, i);
  }
}

Json Cells::json() const {
  Json out = Json::object();
  for (const auto& [key, cell] : cells_) {
    out[key] = {{"time", cell.time.json()},
                {"time_bound_alone", figures_json(cell.time.measured, cell.bound)},
                {"power", cell.power.json()},
                {"energy", cell.energy.json()}};
  }
  return out;
}

Json sources_json(const std::map<std::string, SourceRows>& sources) {
  Json tables = Json::object();
  Json list = Json::array();
  for (const auto& [layout, rows] : sources) {
    if (rows.used > 0) tables[layout] = {{"used", rows.used}, {"refused", rows.refused.rows()}};
    Json because = Json::array();
    for (const Refusal& refusal : rows.refused.by_frequency())
      because.push_back({{"reason", refusal.reason}, {"rows", refusal.count}});
    list.push_back({{"layout", layout},
                    {"files", rows.files},
                    {"publishers", rows.publishers},
                    {"used", rows.used},
                    {"not_needed", rows.not_needed},
                    {"left_out", rows.left_out},
                    {"refused", rows.refused.rows()},
                    {"refused_because", std::move(because)}});
  }
  return {{"tables", std::move(tables)}, {"sources", std::move(list)}};
}

Result<Json> group_json(Group group, const std::vector<Sample>& samples, const Pack& forests) {
  JC_ASSIGN_OR_RETURN(const ForestView time, forests.forest(fmt::format("time/{}", name(group))));
  JC_ASSIGN_OR_RETURN(const ForestView power, forests.forest(fmt::format("power/{}", name(group))));
  std::set<std::string_view> gpus;
  std::set<std::string_view> operations;
  std::size_t powered = 0;
  for (const Sample& s : samples) {
    gpus.insert(s.gpu->id);
    operations.insert(s.key);
    powered += s.power ? 1U : 0U;
  }
  return Json{{"rows", samples.size()}, {"rows_with_power", powered}, {"operations", operations.size()},
              {"gpus", gpus},           {"time", model_json(time)},   {"power", model_json(power)}};
}

}  // namespace joulecast
