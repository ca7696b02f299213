// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <utility>

#include "report/charts/charts.h"
#include "report/histogram.h"

namespace joulecast::report {
namespace {

constexpr std::size_t kBins = 40;
constexpr double kMillisecond = 1e-3;

// Milliseconds between readings of power, of all devices together, by source: one thread reads them all.
std::map<std::string, std::vector<double>> gaps_ms(const RunView& run) {
  std::map<std::string, std::vector<double>> out;
  for (std::size_t i = 0; i < run.recording.channels.size(); ++i) {
    const Channel& channel = run.recording.channels[i];
    const auto& readings = run.recording.readings[i];
    if (channel.signal != Signal::kPower && channel.signal != Signal::kEnergy) continue;
    for (std::size_t k = 1; k < readings.size(); ++k) {
      out[channel.source].push_back(static_cast<double>(readings[k].time - readings[k - 1].time) * kMillisecond);
    }
  }
  return out;
}

}  // namespace

Charts sampling_charts(const RunView& run) {
  Charts out;
  for (auto& [source, gaps] : gaps_ms(run)) {
    if (gaps.empty()) continue;
    const Histogram bins = histogram(std::move(gaps), kBins);
    Chart chart{"gaps", "Time between readings of " + source, {}, new_spec(120)};
    chart.small = true;
    Json from = Json::array();
    Json to = Json::array();
    Json count = Json::array();
    for (std::size_t i = 0; i < kBins; ++i) {
      from.push_back(drawn(bins.width * static_cast<double>(i)));
      to.push_back(drawn(bins.width * static_cast<double>(i + 1)));
      count.push_back(bins.counts[i]);
    }
    chart.spec["data"] = {{"name", "bins"}};
    chart.spec["mark"] = {{"type", "bar"}, {"binSpacing", 0.5}};
    chart.spec["encoding"] = {
        {"x", {{"field", "from"}, {"type", "quantitative"}, {"bin", {{"binned", true}}}, {"title", "gap (ms)"}}},
        {"x2", {{"field", "to"}}},
        {"y",
         {{"field", "count"},
          {"type", "quantitative"},
          {"title", "gaps (root)"},
          {"axis", {{"tickCount", 4}}},
          {"scale", {{"type", "sqrt"}}}}},
        {"tooltip", Json::array({{{"field", "from"}, {"title", "from (ms)"}, {"type", "quantitative"}},
                                 {{"field", "to"}, {"title", "to (ms)"}, {"type", "quantitative"}},
                                 {{"field", "count"}, {"title", "gaps"}, {"type", "quantitative"}}})}};
    chart.data["bins"] = Json::array(
        {block(Json::object(), {{"from", std::move(from)}, {"to", std::move(to)}, {"count", std::move(count)}})});
    out.push_back(std::move(chart));
  }
  return out;
}

}  // namespace joulecast::report
