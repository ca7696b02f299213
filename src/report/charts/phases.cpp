// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <utility>

#include "report/charts/charts.h"
#include "report/phase_bands.h"

namespace joulecast::report {

Charts phase_charts(const RunView& run) {
  constexpr std::size_t kMost = 500;
  const std::vector<Stretch> all = stretches(run, kMost);
  std::set<std::string> names;
  for (const Stretch& one : all) names.insert(one.name);
  // The command alone says nothing that the axis does not.
  if (all.size() < 2) return {};
  constexpr int kOfName = 26;
  constexpr std::size_t kMostNames = 40;
  const int height = kOfName * static_cast<int>(std::min(names.size(), kMostNames));
  Chart chart{"phases", "Phases", {}, new_spec(height)};
  if (std::any_of(all.begin(), all.end(), [](const Stretch& one) { return one.count > 1; })) {
    chart.caption = "Phases too many to be told apart are joined; the tip says how many.";
  }
  chart.unit = "phases";
  chart.spec["data"] = {{"name", "phases"}};
  chart.spec["params"] = Json::array({zoom_and_pick("name")[0]});
  chart.spec["mark"] = {{"type", "bar"}, {"height", {{"band", 0.7}}}, {"clip", true}};
  Json begin = time_axis(run);
  begin["field"] = "begin_s";
  chart.spec["encoding"] = {
      {"x", std::move(begin)},
      {"x2", {{"field", "end_s"}}},
      {"y",
       {{"field", "name"}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}, {"axis", {{"minExtent", 56}}}}},
      {"color", {{"field", "name"}, {"type", "nominal"}, {"legend", nullptr}, {"sort", nullptr}}},
      {"opacity", {{"condition", {{"test", "datum.odd"}, {"value", 0.55}}}, {"value", 0.9}}},
      {"tooltip",
       Json::array({{{"field", "name"}, {"title", "phase"}},
                    {{"field", "begin_s"}, {"title", "from (s)"}, {"type", "quantitative"}, {"format", ".3f"}},
                    {{"field", "end_s"}, {"title", "to (s)"}, {"type", "quantitative"}, {"format", ".3f"}},
                    {{"field", "count"}, {"title", "phases"}, {"type", "quantitative"}}})}};
  chart.data["phases"] = stretch_block(all);
  return {std::move(chart)};
}

}  // namespace joulecast::report
