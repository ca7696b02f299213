// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "report/charts/charts.h"
#include "report/decimate.h"
#include "report/phase_bands.h"
#include "report/time_lines.h"

namespace joulecast::report {
namespace {

constexpr std::size_t kMostMarks = 50;
constexpr int kSmallHeight = 140;

// A little above the highest: a scale that can be zoomed is not rounded by itself where there are layers.
Json whole_scale(const std::vector<TimeLine>& lines) {
  constexpr double kRoom = 1.05;
  double high = 0;
  for (const TimeLine& line : lines) {
    for (const series::Series& part : line.parts) {
      high = std::max(high, *std::max_element(part.value.begin(), part.value.end()));
    }
  }
  return high > 0 ? Json{{"domain", Json::array({0, drawn(high * kRoom)})}} : Json{{"zero", true}};
}

Json line_layer(const RunView& run, const char* by, const char* title) {
  return {{"data", {{"name", "lines"}}},
          {"params", zoom_and_pick(by)},
          {"mark", {{"type", "line"}, {"strokeWidth", 1.2}, {"clip", true}}},
          {"encoding",
           {{"x", time_axis(run)},
            {"y", value_axis("power (W)", true)},
            {"color", color(by, title)},
            {"detail", Json::array({{{"field", "source"}}, {{"field", "device"}}})},
            {"opacity", picked_opacity(0.9)}}}};
}

Json band_layer(bool legend) {
  Json out = {{"data", {{"name", "bands"}}},
              {"mark", {{"type", "rect"}, {"clip", true}}},
              {"encoding",
               {{"x", {{"field", "begin_s"}, {"type", "quantitative"}}},
                {"x2", {{"field", "end_s"}}},
                {"fill",
                 {{"field", "name"},
                  {"type", "nominal"},
                  {"title", "phase"},
                  {"sort", nullptr},
                  // Below the chart: what the lines are stands above it.
                  {"legend", {{"orient", "bottom"}}},
                  // Paler than lines, and other colours than theirs.
                  {"scale", {{"range", {"#8aa0b8", "#d8b365", "#7fbf9b", "#c994c7", "#b8a99a", "#8dd3c7"}}}}}},
                {"opacity",
                 {{"condition", {{"test", "datum.odd"}, {"value", 0.18}}},
                  {"value", 0.34}}}}}};  // Small charts stand below one that tells.
  if (!legend) out["encoding"]["fill"]["legend"] = nullptr;
  return out;
}

Json mark_layer() {
  return {{"data", {{"name", "marks"}}},
          {"mark", {{"type", "rule"}, {"strokeDash", {2, 3}}, {"color", "#888888"}, {"clip", true}}},
          {"encoding", {{"x", {{"field", "time_s"}, {"type", "quantitative"}}}, {"tooltip", {{"field", "name"}}}}}};
}

// Moments that somebody marked.
Json marks(const RunView& run) {
  Json times = Json::array();
  Json names = Json::array();
  for (const Event& event : run.recording.events) {
    if (event.kind != EventKind::kMark || times.size() == kMostMarks) continue;
    times.push_back(run.seconds(event.time));
    names.push_back(event.name);
  }
  return Json::array({block(Json::object(), {{"time_s", std::move(times)}, {"name", std::move(names)}})});
}

Chart chart_of(const RunView& run, const std::vector<TimeLine>& lines, const char* by, const char* title, int height) {
  Chart chart{"power", "Power", {}, new_spec(height)};
  chart.unit = "W";
  Json layers = Json::array();
  const Bands behind = bands(stretches(run, kLinePoints));
  if (!behind.stretches.empty()) {
    layers.push_back(band_layer(height > kSmallHeight));
    chart.data["bands"] = stretch_block(behind.stretches);
  }
  if (behind.names_left_out > 0 && height > kSmallHeight) {
    chart.caption = fmt::format("Phases of {} more {} are only in the chart of phases.", behind.names_left_out,
                                behind.names_left_out == 1 ? "name" : "names");
  }
  layers.push_back(line_layer(run, by, title));
  layers.back()["encoding"]["y"]["scale"] = whole_scale(lines);
  chart.data["lines"] = line_blocks(lines, kLinePoints);
  if (Json marked = marks(run); !marked[0]["columns"]["time_s"].empty()) {
    layers.push_back(mark_layer());
    chart.data["marks"] = std::move(marked);
  }
  chart.spec["layer"] = std::move(layers);
  return chart;
}

}  // namespace

Charts power_charts(const RunView& run) {
  const std::vector<TimeLine> all = time_lines(run, Signal::kPower, 1, "power");
  if (all.empty()) return {};
  std::vector<TimeLine> best;
  for (const TimeLine& line : all) {
    if (line.source == best_power_source(run, line.device)) best.push_back(line);
  }
  const bool one_device =
      std::all_of(all.begin(), all.end(), [&](const TimeLine& line) { return line.device == all.front().device; });
  if (one_device) {
    Chart chart = chart_of(run, all, "source", "source", 260);
    chart.title = "Power of " + all.front().device + " by source";
    return {std::move(chart)};
  }
  Charts out;
  out.push_back(chart_of(run, best, "device", "device", 280));
  out.back().title = "Power of each device, by its best source";
  if (best.size() == all.size()) return out;
  for (const TimeLine& first : best) {
    std::vector<TimeLine> own;
    std::copy_if(all.begin(), all.end(), std::back_inserter(own),
                 [&](const TimeLine& line) { return line.device == first.device; });
    if (own.size() < 2) continue;
    out.push_back(chart_of(run, own, "source", "source", kSmallHeight));
    out.back().title = "Power of " + first.device + " by source";
    out.back().small = true;
  }
  return out;
}

}  // namespace joulecast::report
