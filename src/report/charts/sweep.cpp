// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "report/sweep_view.h"

namespace joulecast::report {
namespace {

constexpr std::array kUnits{"s", "J", "Js"};
constexpr std::array kTitles{"Time", "Energy", "Energy-delay product"};

// What the charts stand over: watts, megahertz, or names where several things change or none.
struct Axis {
  std::string title;
  bool number = true;
};

Axis axis_of(const SweepGroup& group) {
  if (group.axis == "limit_w") return {"power limit (W)", true};
  if (group.axis == "clock_mhz") return {"locked SM clock (MHz)", true};
  return {"setting", false};
}

template <typename Setting>
Json place(const SweepGroup& group, const Setting& setting) {
  if (group.axis == "limit_w" && setting.limit_w) return drawn(*setting.limit_w);
  if (group.axis == "clock_mhz" && setting.clock_mhz) return drawn(*setting.clock_mhz);
  return setting.setting;
}

Json x_encoding(const Axis& axis) {
  if (!axis.number) return {{"field", "x"}, {"type", "nominal"}, {"title", axis.title}, {"sort", nullptr}};
  return {
      {"field", "x"}, {"type", "quantitative"}, {"title", axis.title}, {"scale", {{"zero", false}, {"padding", 14}}}};
}

Json y_encoding(const char* field, const std::string& title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", title}, {"scale", {{"zero", false}}}};
}

Json run_blocks(const SweepView& sweep, const SweepGroup& group, SweepGoal goal) {
  Json x = Json::array();
  Json value = Json::array();
  Json repetition = Json::array();
  for (const SweepMeasurement& run : sweep.loaded.runs) {
    if (run.group != group.group) continue;
    x.push_back(place(group, run));
    value.push_back(drawn(value_of(run, goal)));
    repetition.push_back(run.repetition);
  }
  return Json::array(
      {block(Json::object(), {{"x", std::move(x)}, {"value", std::move(value)}, {"run", std::move(repetition)}})});
}

Json mean_blocks(const SweepGroup& group, std::size_t goal) {
  Json columns{{"x", Json::array()},   {"setting", Json::array()}, {"mean", Json::array()},
               {"low", Json::array()}, {"high", Json::array()},    {"best", Json::array()}};
  for (std::size_t i = 0; i < group.settings.size(); ++i) {
    const SweepEstimate& estimate = group.settings[i].estimates[goal];
    columns["x"].push_back(place(group, group.settings[i]));
    columns["setting"].push_back(group.settings[i].setting);
    columns["mean"].push_back(drawn(estimate.mean));
    columns["low"].push_back(drawn(estimate.low.value_or(estimate.mean)));
    columns["high"].push_back(drawn(estimate.high.value_or(estimate.mean)));
    columns["best"].push_back(group.optima[goal].setting == i);
  }
  return Json::array({block(Json::object(), std::move(columns))});
}

// The curve of lowest degree there is for the goal.
const SweepCurve* curve_of(const SweepGroup& group, SweepGoal goal) {
  const auto at = std::find_if(group.curves.begin(), group.curves.end(),
                               [&](const SweepCurve& curve) { return curve.goal == goal; });
  return at == group.curves.end() ? nullptr : &*at;
}

Json fit_blocks(const SweepGroup& group, const SweepCurve& curve) {
  constexpr int kPoints = 80;
  const auto x_of = [&](const SweepSetting& setting) {
    return group.axis == "limit_w" ? setting.limit_w : setting.clock_mhz;
  };
  const auto first = x_of(group.settings.front());
  const auto last = x_of(group.settings.back());
  Json x = Json::array();
  Json value = Json::array();
  for (int i = 0; first && last && i <= kPoints; ++i) {
    const double at = *first + (*last - *first) * i / kPoints;
    x.push_back(drawn(at));
    value.push_back(drawn(curve.fit.at(at)));
  }
  return Json::array({block(Json::object(), {{"x", std::move(x)}, {"value", std::move(value)}})});
}

Json layer(const char* data, Json mark, Json x, Json y) {
  return {
      {"data", {{"name", data}}}, {"mark", std::move(mark)}, {"encoding", {{"x", std::move(x)}, {"y", std::move(y)}}}};
}

Json mean_layers(const Axis& axis, const std::string& title, const char* unit) {
  const Json x = x_encoding(axis);
  Json band = layer("means", {{"type", "rule"}, {"strokeWidth", 2}}, x, y_encoding("low", title));
  band["encoding"]["y2"] = {{"field", "high"}};
  Json mean = layer("means", {{"type", "point"}, {"filled", true}, {"opacity", 1}}, x, y_encoding("mean", title));
  mean["encoding"]["size"] = {{"condition", {{"test", "datum.best"}, {"value", 170}}}, {"value", 45}};
  mean["encoding"]["shape"] = {{"condition", {{"test", "datum.best"}, {"value", "diamond"}}}, {"value", "circle"}};
  mean["encoding"]["color"] = {{"condition", {{"test", "datum.best"}, {"value", "#e0782a"}}}, {"value", "#2f7fd1"}};
  Json tooltip = Json::array({{{"field", "setting"}, {"title", "setting"}}});
  for (const char* field : {"mean", "low", "high"}) {
    tooltip.push_back({{"field", field},
                       {"title", fmt::format("{} ({})", field, unit)},
                       {"type", "quantitative"},
                       {"format", ".5~g"}});
  }
  mean["encoding"]["tooltip"] = std::move(tooltip);
  return Json::array({std::move(band), std::move(mean)});
}

std::string caption_of(const SweepGroup& group, const SweepOptimum& best, const SweepCurve* curve) {
  std::string out = fmt::format("Diamond: the best setting, {}", group.settings[best.setting].setting);
  if (best.confidence) out += fmt::format(", in {:.0f} % of resampled series", *best.confidence * 100);
  out += fmt::format("; {}. Bars: 95 % of the mean.", verdict_text(best.verdict));
  if (curve != nullptr) {
    out += fmt::format(" Curve: polynomial of degree {}, least at {:.0f} {}{}.", curve->degree, curve->least_at,
                       group.axis == "limit_w" ? "W" : "MHz", curve->at_the_edge ? ", an edge of what was swept" : "");
  }
  return out;
}

Chart chart_of(const SweepView& sweep, const SweepGroup& group, std::size_t index) {
  const SweepGoal goal = group.goals[index];
  const Axis axis = axis_of(group);
  const std::string title = fmt::format("{} ({})", name_of(goal), kUnits[index]);
  const SweepCurve* curve = axis.number ? curve_of(group, goal) : nullptr;
  Chart chart{fmt::format("sweep-{}", index), kTitles[index], {}, new_spec(220)};
  chart.small = true;
  chart.caption = caption_of(group, group.optima[index], curve);
  Json layers = Json::array();
  if (curve != nullptr) {
    layers.push_back(layer("fit", {{"type", "line"}, {"strokeWidth", 1.5}, {"color", "#2f9e6e"}}, x_encoding(axis),
                           y_encoding("value", title)));
    chart.data["fit"] = fit_blocks(group, *curve);
  }
  layers.push_back(layer("runs", {{"type", "point"}, {"size", 18}, {"opacity", 0.45}, {"color", "#888888"}},
                         x_encoding(axis), y_encoding("value", title)));
  for (Json& one : mean_layers(axis, title, kUnits[index])) layers.push_back(std::move(one));
  chart.spec["layer"] = std::move(layers);
  chart.data["runs"] = run_blocks(sweep, group, goal);
  chart.data["means"] = mean_blocks(group, index);
  return chart;
}

}  // namespace

std::vector<Chart> sweep_charts(const SweepView& sweep, const SweepGroup& group) {
  std::vector<Chart> out;
  for (std::size_t i = 0; i < group.goals.size(); ++i) out.push_back(chart_of(sweep, group, i));
  return out;
}

}  // namespace joulecast::report
