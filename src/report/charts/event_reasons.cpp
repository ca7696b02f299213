// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/event_reasons.h"
#include "report/charts/charts.h"
#include "report/time_lines.h"

namespace joulecast::report {
namespace {

struct Band {
  double begin_s = 0, end_s = 0;
};

// What a reading says holds until the next one; nothing is known of a gap.
void add_bands(std::vector<Band>& out, const series::Series& part, std::uint64_t bit) {
  for (std::size_t i = 0; i < part.time_s.size(); ++i) {
    if ((static_cast<std::uint64_t>(part.value[i]) & bit) == 0) continue;
    const double end = part.time_s[std::min(i + 1, part.time_s.size() - 1)];
    if (!out.empty() && out.back().end_s >= part.time_s[i]) {
      out.back().end_s = end;
    } else {
      out.push_back({part.time_s[i], end});
    }
  }
}

// No screen tells apart what is nearer than that share of the whole.
std::vector<Band> visible(const std::vector<Band>& bands, double whole_s) {
  constexpr double kNearest = 1.0 / 800;
  std::vector<Band> out;
  for (const Band& band : bands) {
    if (!out.empty() && band.begin_s - out.back().end_s < kNearest * whole_s) {
      out.back().end_s = band.end_s;
    } else {
      out.push_back(band);
    }
  }
  return out;
}

Json band_block(const std::string& device, const char* reason, const std::string& row, const std::vector<Band>& bands) {
  Json begins = Json::array();
  Json ends = Json::array();
  for (const Band& band : bands) {
    begins.push_back(band.begin_s);
    ends.push_back(band.end_s);
  }
  return block({{"device", device}, {"reason", reason}, {"row", row}},
               {{"begin_s", std::move(begins)}, {"end_s", std::move(ends)}});
}

// From the first reading to the last.
Band whole(const std::vector<TimeLine>& lines) {
  Band out{lines.front().parts.front().time_s.front(), lines.front().parts.back().time_s.back()};
  for (const TimeLine& line : lines) {
    out.begin_s = std::min(out.begin_s, line.parts.front().time_s.front());
    out.end_s = std::max(out.end_s, line.parts.back().time_s.back());
  }
  return out;
}

// A block a device and reason that was seen there.
Json band_blocks(const std::vector<TimeLine>& lines) {
  const Band all = whole(lines);
  std::set<std::string> devices;
  for (const TimeLine& line : lines) devices.insert(line.device);
  Json out = Json::array();
  for (const TimeLine& line : lines) {
    for (const EventReason& reason : slowing_reasons()) {
      std::vector<Band> bands;
      for (const series::Series& part : line.parts) add_bands(bands, part, reason.bit);
      if (bands.empty()) continue;
      const std::string row = devices.size() > 1 ? line.device + " " + reason.text : reason.text;
      out.push_back(band_block(line.device, reason.text, row, visible(bands, all.end_s - all.begin_s)));
    }
  }
  return out;
}

Json encoding(const RunView& run) {
  Json begin = time_axis(run);
  begin["field"] = "begin_s";
  const Json reason{{"field", "reason"}, {"type", "nominal"}, {"legend", nullptr}, {"sort", nullptr}};
  return {
      {"x", std::move(begin)},
      {"x2", {{"field", "end_s"}}},
      {"y",
       {{"field", "row"}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}, {"axis", {{"minExtent", 56}}}}},
      {"color", reason},
      {"stroke", reason},
      {"tooltip",
       Json::array({{{"field", "device"}, {"title", "device"}},
                    {{"field", "reason"}, {"title", "held down by"}},
                    {{"field", "begin_s"}, {"title", "from (s)"}, {"type", "quantitative"}, {"format", ".3f"}},
                    {{"field", "end_s"}, {"title", "to (s)"}, {"type", "quantitative"}, {"format", ".3f"}}})}};
}

}  // namespace

Charts event_reason_charts(const RunView& run) {
  const std::vector<TimeLine> lines = time_lines(run, Signal::kEventReasons, 1, "reasons");
  if (lines.empty()) return {};
  Json blocks = band_blocks(lines);
  if (blocks.empty()) return {};
  constexpr int kOfRow = 24;
  constexpr std::size_t kMostRows = 40;
  const int height = kOfRow * static_cast<int>(std::min(blocks.size(), kMostRows));
  Chart chart{"event-reasons", "Clocks held down", {}, new_spec(height)};
  chart.caption = "Why the driver kept clocks below what was asked for, from one reading to the next.";
  chart.spec["data"] = {{"name", "bands"}};
  chart.spec["params"] = Json::array({zoom_and_pick("reason")[0]});
  // The stroke shows what lasted for no more than a reading.
  chart.spec["mark"] = {{"type", "bar"}, {"height", {{"band", 0.7}}}, {"strokeWidth", 1}, {"clip", true}};
  chart.spec["encoding"] = encoding(run);
  chart.unit = "reasons";
  chart.data["bands"] = std::move(blocks);
  return {std::move(chart)};
}

}  // namespace joulecast::report
