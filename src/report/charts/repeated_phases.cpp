// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "analysis/summary.h"
#include "report/box.h"
#include "report/charts/charts.h"

namespace joulecast::report {
namespace {

// Phases of a name that a chart asks energy of: more are drawn from evenly.
constexpr std::size_t kMostPhases = 1000;
constexpr std::size_t kMostNames = 8;
constexpr std::size_t kMostBeyond = 100;

struct Row {
  std::string name, device;
  std::size_t count = 0;  // how many there were, whatever is drawn
  std::vector<double> values;
};

// Phases of a name that came more than once. Fast ones are marked many at a time ("count=25").
struct Group {
  std::string name;
  std::vector<Phase> drawn;
  std::size_t marks = 0, steps = 0, every = 1;
};

Group group_of(const std::string& name, const std::vector<Phase>& phases) {
  Group out{name, {}, phases.size(), 0, (phases.size() - 1) / kMostPhases + 1};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    out.steps += steps_of(phases[i]);
    if (i % out.every == 0) out.drawn.push_back(phases[i]);
  }
  return out;
}

// By their first begin.
std::vector<Group> repeated(const RunView& run) {
  std::vector<std::pair<std::string, std::vector<Phase>>> all;
  for (const Phase& phase : run.phases.phases) {
    if (phase.open || phase.end <= phase.begin) continue;
    auto at = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.first == phase.name; });
    if (at == all.end()) at = all.insert(all.end(), {phase.name, {}});
    at->second.push_back(phase);
  }
  std::vector<Group> out;
  for (const auto& [name, phases] : all) {
    if (phases.size() > 1 && out.size() < kMostNames) out.push_back(group_of(name, phases));
  }
  return out;
}

double of_one(const Phase& phase, double all) {
  return all / static_cast<double>(steps_of(phase));
}

// Absent where readings cover too little of one of them: a box of the others would be another thing.
std::optional<std::vector<double>> energies(const RunView& run, const std::string& device,
                                            const std::vector<Phase>& phases) {
  std::vector<double> out;
  for (const Phase& phase : phases) {
    const auto energy = answer(run.accountant.account(device, phase.begin, phase.end));
    if (!energy) return std::nullopt;
    out.push_back(of_one(phase, energy->energy.value()));
  }
  return out;
}

// "3000 of them, marked in 120 parts that stand with their means; one of 2 is drawn".
std::string count_text(const Group& group) {
  std::string out = fmt::format("{} of them", group.steps);
  if (group.marks < group.steps) out += fmt::format(", marked in {} parts that stand with their means", group.marks);
  if (group.every > 1) out += fmt::format("; one of {} is drawn", group.every);
  return out;
}

Json box_block(const Row& row) {
  const Box box = box_of(row.values);
  return block({{"name", row.name}, {"device", row.device}}, {{"low", Json::array({drawn(box.low)})},
                                                              {"first", Json::array({drawn(box.first)})},
                                                              {"median", Json::array({drawn(box.median)})},
                                                              {"third", Json::array({drawn(box.third)})},
                                                              {"high", Json::array({drawn(box.high)})},
                                                              {"count", Json::array({row.count})}});
}

Json beyond_block(const Row& row) {
  const Box box = box_of(row.values);
  Json values = Json::array();
  for (std::size_t i = 0; i < box.beyond.size() && i < kMostBeyond; ++i) values.push_back(drawn(box.beyond[i]));
  return block({{"name", row.name}, {"device", row.device}}, {{"value", std::move(values)}});
}

Json tooltip(const char* unit) {
  Json out = Json::array({{{"field", "name"}, {"title", "phase"}},
                          {{"field", "device"}, {"title", "device"}},
                          {{"field", "count"}, {"title", "phases"}, {"type", "quantitative"}}});
  for (const char* field : {"low", "first", "median", "third", "high"}) {
    out.push_back({{"field", field},
                   {"title", std::string(field) + " (" + unit + ")"},
                   {"type", "quantitative"},
                   {"format", ".4~g"}});
  }
  return out;
}

Json axis(const char* field, const char* title) {
  return {{"field", field}, {"type", "quantitative"}, {"title", title}, {"scale", {{"zero", false}, {"padding", 10}}}};
}

// Whisker, box, median, and what is beyond, lying: names have room at the left.
Json layers(const char* axis_title, const char* unit, bool beyond) {
  const auto layer = [&](const char* data, Json mark, Json x, const char* x2) {
    Json encoding{{"y", {{"field", "device"}, {"type", "nominal"}, {"title", nullptr}, {"sort", nullptr}}},
                  {"x", std::move(x)},
                  {"color", color("device", "device")}};
    encoding["color"]["legend"] = nullptr;  // they stand at the left
    if (x2 != nullptr) encoding["x2"] = {{"field", x2}};
    if (data == std::string_view("boxes")) encoding["tooltip"] = tooltip(unit);
    return Json{{"data", {{"name", data}}}, {"mark", std::move(mark)}, {"encoding", std::move(encoding)}};
  };
  Json out = Json::array({layer("boxes", {{"type", "rule"}, {"strokeWidth", 1.2}}, axis("low", axis_title), "high"),
                          layer("boxes", {{"type", "bar"}, {"height", {{"band", 0.6}}}, {"opacity", 0.45}},
                                axis("first", axis_title), "third"),
                          layer("boxes", {{"type", "tick"}, {"height", {{"band", 0.75}}}, {"thickness", 2}},
                                axis("median", axis_title), nullptr)});
  if (beyond) out.push_back(layer("beyond", {{"type", "point"}, {"size", 14}}, axis("value", axis_title), nullptr));
  return out;
}

Chart box_chart(const char* id, const char* axis_title, const char* unit, const std::vector<Row>& rows) {
  constexpr int kOfRow = 22;
  constexpr int kAround = 14;
  Chart chart{id, {}, {}, new_spec(kOfRow * static_cast<int>(rows.size()) + kAround)};
  chart.small = true;
  Json boxes = Json::array();
  Json beyond = Json::array();
  for (const Row& row : rows) {
    boxes.push_back(box_block(row));
    if (Json own = beyond_block(row); !own["columns"]["value"].empty()) beyond.push_back(std::move(own));
  }
  chart.spec["layer"] = layers(axis_title, unit, !beyond.empty());
  chart.data["boxes"] = std::move(boxes);
  if (!beyond.empty()) chart.data["beyond"] = std::move(beyond);
  return chart;
}

}  // namespace

// A chart a phase: the shortest would be a dot on the axis of the longest.
Charts repeated_phase_charts(const RunView& run) {
  Charts out;
  for (const Group& group : repeated(run)) {
    Row time{group.name, "time", group.steps, {}};
    for (const Phase& phase : group.drawn) time.values.push_back(of_one(phase, phase.seconds()));
    std::vector<Row> joules;
    for (const std::string& device : run.accountant.devices()) {
      if (auto values = energies(run, device, group.drawn)) {
        joules.push_back({group.name, device, group.steps, *std::move(values)});
      }
    }
    out.push_back(box_chart("phase-time", "time of one (s)", "s", {std::move(time)}));
    out.back().title = "Time of " + group.name;
    out.back().caption = fmt::format(
        "{}. Box: quartiles and median; whiskers: the last values within 1.5 times the box; points: beyond.",
        count_text(group));
    if (joules.empty()) continue;
    out.push_back(box_chart("phase-energy", "energy of one (J)", "J", joules));
    out.back().title = "Energy of " + group.name;
    out.back().caption = "A phase shorter than some ten of the sensor's updates tells little.";
  }
  return out;
}

}  // namespace joulecast::report
