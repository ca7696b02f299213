// SPDX-License-Identifier: Apache-2.0
#include "report/chart.h"

#include <fmt/format.h>
#include <cmath>
#include <cstdlib>

#include <utility>

namespace joulecast::report {

Json block(Json constants, Json columns) {
  return {{"constants", std::move(constants)}, {"columns", std::move(columns)}};
}

double drawn(double value) {
  return std::strtod(fmt::format("{:.5g}", value).c_str(), nullptr);
}

Json new_spec(int height) {
  return {{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"},
          {"width", "container"},
          {"height", height},
          {"autosize", {{"type", "fit-x"}, {"contains", "padding"}}}};
}

Json time_axis() {
  return {{"field", "time_s"},
          {"type", "quantitative"},
          {"title", "time since the command began (s)"},
          {"scale", {{"nice", false}, {"zero", false}}}};
}

Json value_axis(const char* title, bool zero) {
  return {{"field", "value"}, {"type", "quantitative"}, {"title", title}, {"scale", {{"zero", zero}, {"nice", true}}}};
}

Json color(const char* field, const char* title) {
  return {{"field", field}, {"type", "nominal"}, {"title", title}, {"sort", nullptr}};
}

Json zoom_and_pick(const char* field) {
  return Json::array(
      {{{"name", "zoom"},
        {"select", {{"type", "interval"}, {"encodings", Json::array({"x"})}, {"zoom", "wheel![event.shiftKey]"}}},
        {"bind", "scales"}},
       {{"name", "pick"}, {"select", {{"type", "point"}, {"fields", Json::array({field})}}}, {"bind", "legend"}}});
}

Json picked_opacity(double picked) {
  return {{"condition", {{"param", "pick"}, {"value", picked}}}, {"value", 0.08}};
}

}  // namespace joulecast::report
