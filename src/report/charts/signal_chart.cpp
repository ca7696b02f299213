// SPDX-License-Identifier: Apache-2.0
#include "report/charts/signal_chart.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "report/decimate.h"
#include "report/time_lines.h"

namespace joulecast::report {
namespace {

// A line of one value has no extent to draw an axis of: some room around it; nothing elsewhere.
std::optional<Json> room_around(const std::vector<TimeLine>& lines, bool zero) {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  for (const TimeLine& line : lines) {
    for (const series::Series& part : line.parts) {
      low = std::min(low, *std::min_element(part.value.begin(), part.value.end()));
      high = std::max(high, *std::max_element(part.value.begin(), part.value.end()));
    }
  }
  constexpr double kRoom = 0.02;
  if (low < high && !(zero && high <= 0)) return std::nullopt;
  if (low == 0) return Json::array({0, 1});
  if (zero) return std::nullopt;
  const double room = kRoom * std::abs(low);
  return Json::array({low - room, high + room});
}

}  // namespace

Charts signal_chart(const RunView& run, const SignalChart& what) {
  std::vector<TimeLine> lines;
  std::size_t kinds = 0;
  for (const SignalOf& one : what.signals) {
    std::vector<TimeLine> own = time_lines(run, one.signal, what.step, one.kind);
    if (!own.empty()) ++kinds;
    lines.insert(lines.end(), std::make_move_iterator(own.begin()), std::make_move_iterator(own.end()));
  }
  if (lines.empty()) return {};
  Chart chart{what.id, what.title, {}, new_spec(180)};
  chart.unit = what.unit;
  chart.spec["data"] = {{"name", "lines"}};
  chart.spec["params"] = zoom_and_pick("device");
  chart.spec["mark"] = {{"type", "line"}, {"interpolate", "step-after"}, {"strokeWidth", 1.5}, {"clip", true}};
  Json encoding{{"x", time_axis(run)},
                {"y", value_axis(what.axis, what.zero)},
                {"color", color("device", "device")},
                {"detail", Json::array({{{"field", "source"}}, {{"field", "kind"}}})},
                {"opacity", picked_opacity(0.9)}};
  if (auto domain = room_around(lines, what.zero)) encoding["y"]["scale"]["domain"] = *std::move(domain);
  if (kinds > 1) encoding["strokeDash"] = color("kind", "reading");
  chart.spec["encoding"] = std::move(encoding);
  chart.data["lines"] = line_blocks(lines, kLinePoints);
  return {std::move(chart)};
}

}  // namespace joulecast::report
