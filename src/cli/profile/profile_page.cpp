// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "cli/charts.h"
#include "cli/numbers.h"
#include "cli/profile/profile_commands.h"
#include "cli/version.h"
#include "measure/run_head.h"
#include "power/sensor.h"
#include "report/html.h"

namespace joulecast::cli {
namespace {

using report::Chart;
using report::drawn;
using report::Json;

Json quantity(const char* field, const char* title, bool logarithmic = false) {
  Json out = {{"field", field}, {"type", "quantitative"}, {"title", title}};
  if (logarithmic) out["scale"] = {{"type", "log"}};
  return out;
}

// A row for each network, however many there are: no label is left out.
Json rows_of(int height) {
  Json out = report::new_spec(height);
  out["height"] = {{"step", height}};
  return out;
}

Json networks_axis() {
  constexpr int kLongestLabel = 320;
  return {{"field", "network"},
          {"type", "nominal"},
          {"title", nullptr},
          {"sort", nullptr},
          {"axis", {{"labelLimit", kLongestLabel}, {"labelOverlap", false}}}};
}

std::string network_label(const profile::NetworkCheck& net) {
  const std::string at = net.settings.empty() ? "" : " " + net.settings.text();
  return fmt::format("{} {} {} {}{}", net.name, net.batch, name(net.mode), name(net.precision), at);
}

// How far the sums are off, each network alike, however long it takes.
Chart differences_chart(const profile::Validation& found) {
  constexpr int kRow = 13;
  constexpr double kPercent = 100;
  Chart out{"sums-differences", "Sum of the operations against the network",
            "What the sum is too large by, or too small. Networks that lack operations are left out.", rows_of(kRow)};
  Json columns = {{"network", Json::array()}, {"mode", Json::array()}, {"off", Json::array()}};
  for (const auto& net : found.networks) {
    if (net.missing > 0) continue;
    columns["network"].push_back(network_label(net));
    columns["mode"].push_back(std::string(name(net.mode)));
    columns["off"].push_back(drawn(kPercent * (net.sum_s.value / net.whole_s.value - 1)));
  }
  out.spec["data"] = {{"name", "differences"}};
  out.spec["mark"] = "bar";
  out.spec["encoding"] = {
      {"y", networks_axis()},
      {"x", quantity("off", "time, difference (%)")},
      {"color",
       {{"field", "mode"}, {"type", "nominal"}, {"title", nullptr}, {"scale", {{"range", {"#2f7fd1", "#e0782a"}}}}}},
      {"tooltip", Json::array({{{"field", "network"}}, {{"field", "off"}, {"format", "+.1f"}}})}};
  out.data["differences"] = Json::array({report::block(Json::object(), std::move(columns))});
  return out;
}

// Bars of the network and of the sum beside each other, with their standard errors.
class Bars {
 public:
  void add(const std::string& network, const char* what, const profile::ValueWithError& value) {
    columns_["network"].push_back(network);
    columns_["what"].push_back(what);
    columns_["value"].push_back(drawn(value.value));
    columns_["low"].push_back(drawn(value.value - value.error));
    columns_["high"].push_back(drawn(value.value + value.error));
  }
  [[nodiscard]] bool empty() const { return columns_["value"].empty(); }

  Chart chart(const char* id, const std::string& title, const char* axis) && {
    constexpr int kRow = 9;  // of each of the two bars
    Chart out{id, title, "Lines: one standard error; those of the operations add in quadrature.", rows_of(kRow)};
    const Json offset = {{"field", "what"}, {"sort", nullptr}};
    Json bar = {{"mark", "bar"},
                {"encoding", {{"y", networks_axis()}, {"yOffset", offset}, {"x", quantity("value", axis)}}}};
    bar["encoding"]["color"] = {
        {"field", "what"}, {"type", "nominal"}, {"title", nullptr}, {"scale", {{"range", {"#2f7fd1", "#e0782a"}}}}};
    bar["encoding"]["tooltip"] =
        Json::array({{{"field", "network"}}, {{"field", "what"}}, {{"field", "value"}, {"format", ".4~g"}}});
    Json error = {
        {"mark", {{"type", "rule"}, {"strokeWidth", 1.5}, {"color", "#888888"}}},
        {"encoding",
         {{"y", networks_axis()}, {"yOffset", offset}, {"x", quantity("low", axis)}, {"x2", {{"field", "high"}}}}}};
    out.spec["data"] = {{"name", "bars"}};
    out.spec["layer"] = Json::array({std::move(bar), std::move(error)});
    out.data["bars"] = Json::array({report::block(Json::object(), std::move(columns_))});
    return out;
  }

 private:
  Json columns_{{"network", Json::array()},
                {"what", Json::array()},
                {"value", Json::array()},
                {"low", Json::array()},
                {"high", Json::array()}};
};

// Time divided by iterations: a level line is what is proportional.
Chart durations_chart(const MeasuredDurations& one) {
  constexpr int kHeight = 240;
  constexpr double kMicro = 1e6;
  Chart out{"durations", one.label, {}, report::new_spec(kHeight)};
  out.caption = fmt::format(
      "Time of one iteration, over the duration of the run. Level: {}, the median of the runs with most iterations.{}",
      with_prefix(one.line.slope_s, "s"),
      one.line.too_noisy ? " These scatter so much that it was too noisy to tell what is proportional." : "");
  Json x = Json::array(), y = Json::array(), odd = Json::array();
  std::vector<bool> outlier(one.points.size(), false);
  for (const std::size_t i : one.line.outliers) outlier[i] = true;
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    x.push_back(drawn(one.points[i].seconds));
    y.push_back(drawn(kMicro * one.points[i].seconds / static_cast<double>(one.points[i].iterations)));
    odd.push_back(outlier[i] ? "beyond five deviations" : "proportional");
  }
  Json points = {{"data", {{"name", "points"}}}, {"mark", {{"type", "point"}, {"filled", true}}}};
  points["encoding"] = {
      {"x", quantity("x", "duration of the run (s)", true)},
      {"y", quantity("y", "time of an iteration (us)", true)},
      {"color",
       {{"field", "odd"},
        {"type", "nominal"},
        {"title", nullptr},
        {"scale", {{"domain", {"proportional", "beyond five deviations"}}, {"range", {"#2f7fd1", "#e0782a"}}}}}}};
  Json level = {{"data", {{"name", "level"}}},
                {"mark", {{"type", "rule"}, {"strokeDash", {4, 4}}}},
                {"encoding", {{"y", quantity("y", "time of an iteration (us)", true)}}}};
  out.spec["layer"] = Json::array({std::move(level), std::move(points)});
  out.data["points"] =
      Json::array({report::block(Json::object(), {{"x", std::move(x)}, {"y", std::move(y)}, {"odd", std::move(odd)}})});
  out.data["level"] =
      Json::array({report::block(Json::object(), {{"y", Json::array({drawn(kMicro * one.line.slope_s)})}})});
  return out;
}

report::HtmlTable empty_table(const char* what) {
  return report::HtmlTable({{"network"},
                            {"batch", true},
                            {"mode"},
                            {"in"},
                            {fmt::format("{}, measured", what), true},
                            {"sum", true},
                            {"difference", true}});
}

std::string tables_of(const profile::Validation& found) {
  report::HtmlTable times = empty_table("time"), energies = empty_table("energy");
  for (const auto& net : found.networks) {
    times.add(check_cells(net, net.whole_s, net.sum_s, "s"));
    if (net.whole_j && net.sum_j) energies.add(check_cells(net, *net.whole_j, *net.sum_j, "J"));
  }
  return times.html() + energies.html();
}

}  // namespace

report::Article validation_article(const profile::Validation& found) {
  report::Article out{"Sums of operations beside their networks", tables_of(found), {}};
  Bars times, energies;
  for (const auto& net : found.networks) {
    times.add(network_label(net), "network", net.whole_s);
    times.add(network_label(net), "sum of its operations", net.sum_s);
    if (!net.whole_j || !net.sum_j) continue;
    energies.add(network_label(net), "network", *net.whole_j);
    energies.add(network_label(net), "sum of its operations", *net.sum_j);
  }
  if (found.complete > 0) out.charts.push_back(differences_chart(found));
  out.charts.push_back(std::move(times).chart("sums-time", "Time of an iteration", "time (s)"));
  if (!energies.empty())
    out.charts.push_back(std::move(energies).chart("sums-energy", "Energy of an iteration", "energy (J)"));
  return out;
}

report::Article proportionality_article(const std::vector<MeasuredDurations>& measured) {
  report::Article out{"Does time grow with the iterations?", {}, {}};
  for (const MeasuredDurations& one : measured) out.charts.push_back(durations_chart(one));
  return out;
}

Outcome write_article(report::Article article, const std::string& path, Output& output) {
  auto draw = drawing_script();
  if (!draw) {
    output.note(fmt::format("no page {}: {}", path, no_drawing_script().error.text()));
    return {};
  }
  report::PageContent content;
  content.articles.push_back(std::move(article));
  JC_RETURN_IF_FAILURE(write_page(
      path, report::page(content, {"joulecast " + std::string(version()), iso_utc(utc_now()), std::move(draw)})));
  output.note("page: " + path);
  return {};
}

}  // namespace joulecast::cli
