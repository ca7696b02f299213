// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/charts/charts.h"
#include "report/decimate.h"
#include "series/runs.h"

namespace joulecast::report {
namespace {

constexpr std::size_t kCurvePoints = 400;

// The mean of the repeats with its band, of one device.
struct MeanEnergy {
  std::string device;
  series::MeanCurve curve;
};

Json line_encoding(const char* axis) {
  return {{"x", time_axis()}, {"y", value_axis(axis, true)}, {"color", color("device", "device")}};
}

std::vector<series::Series> curves_of(const RunView& run, const std::string& device) {
  std::vector<series::Series> out;
  for (const Phase& command : run.summary.commands) {
    auto curve = run.accountant.energy_curve(device, command.begin, command.end);
    if (!curve) return {};
    out.push_back(decimated(*curve, kCurvePoints));
  }
  return out;
}

Json plain_blocks(const std::vector<std::pair<std::string, series::Series>>& curves) {
  Json out = Json::array();
  for (const auto& [device, curve] : curves) {
    Json values = Json::array();
    Json times = Json::array();
    for (std::size_t i = 0; i < curve.time_s.size(); ++i) {
      times.push_back(drawn(curve.time_s[i]));
      values.push_back(drawn(curve.value[i]));
    }
    out.push_back(block({{"device", device}}, {{"time_s", std::move(times)}, {"value", std::move(values)}}));
  }
  return out;
}

Json mean_blocks(const std::vector<MeanEnergy>& means) {
  Json out = Json::array();
  for (const auto& [device, curve] : means) {
    Json columns{{"time_s", Json::array()}, {"value", Json::array()}, {"low", Json::array()}, {"high", Json::array()}};
    for (std::size_t i = 0; i < curve.time_s.size(); ++i) {
      columns["time_s"].push_back(drawn(curve.time_s[i]));
      columns["value"].push_back(drawn(curve.mean[i]));
      columns["low"].push_back(curve.low[i] ? Json(drawn(*curve.low[i])) : Json(nullptr));
      columns["high"].push_back(curve.high[i] ? Json(drawn(*curve.high[i])) : Json(nullptr));
    }
    out.push_back(block({{"device", device}}, std::move(columns)));
  }
  return out;
}

Chart mean_chart(const std::vector<MeanEnergy>& means, std::size_t repeats) {
  Chart chart{"energy", fmt::format("Energy since the command began, mean of {} repeats", repeats), {}, new_spec(240)};
  chart.caption =
      "The band holds the mean in 95 % of cases (Student's t at each moment). Where the fast repeats have ended, the "
      "line "
      "is of the slow ones alone.";
  chart.unit = "J";
  Json band{{"x", time_axis()},
            {"y", {{"field", "low"}, {"type", "quantitative"}}},
            {"y2", {{"field", "high"}}},
            {"fill", color("device", "device")}};
  band["fill"]["legend"] = nullptr;  // the lines have one
  chart.spec["data"] = {{"name", "lines"}};
  chart.spec["layer"] =
      Json::array({{{"mark", {{"type", "area"}, {"opacity", 0.25}, {"clip", true}}}, {"encoding", std::move(band)}},
                   {{"mark", {{"type", "line"}, {"strokeWidth", 1.5}, {"clip", true}}},
                    {"params", zoom_and_pick("device")},
                    {"encoding", line_encoding("energy (J)")}}});
  chart.spec["layer"][1]["encoding"]["opacity"] = picked_opacity(0.95);
  chart.data["lines"] = mean_blocks(means);
  return chart;
}

Chart plain_chart(const std::vector<std::pair<std::string, series::Series>>& curves) {
  Chart chart{"energy", "Energy since the command began", {}, new_spec(240)};
  chart.unit = "J";
  chart.spec["data"] = {{"name", "lines"}};
  chart.spec["mark"] = {{"type", "line"}, {"strokeWidth", 1.5}, {"clip", true}};
  chart.spec["params"] = zoom_and_pick("device");
  chart.spec["encoding"] = line_encoding("energy (J)");
  chart.spec["encoding"]["opacity"] = picked_opacity(0.9);
  chart.data["lines"] = plain_blocks(curves);
  return chart;
}

}  // namespace

Charts energy_charts(const RunView& run) {
  const std::size_t repeats = run.summary.commands.size();
  std::vector<std::pair<std::string, series::Series>> single;
  std::vector<MeanEnergy> means;
  for (const std::string& device : run.accountant.devices()) {
    const std::vector<series::Series> curves = curves_of(run, device);
    if (curves.empty()) continue;
    if (repeats == 1) {
      single.emplace_back(device, curves.front());
      continue;
    }
    constexpr double kMoments = 200;
    if (auto mean = series::mean_curve(curves, Hertz{kMoments / run.summary.time_s.most})) {
      means.push_back({device, *std::move(mean)});
    }
  }
  if (!single.empty()) return {plain_chart(single)};
  if (!means.empty()) return {mean_chart(means, repeats)};
  return {};
}

}  // namespace joulecast::report
