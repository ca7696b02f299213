// SPDX-License-Identifier: Apache-2.0
#include "report/sweep_view.h"

#include <gtest/gtest.h>

namespace joulecast::report {
namespace {

// Least energy at 200 W: J = 500 + (limit - 200)^2 / 100, three runs each.
SweepView sweep() {
  SweepView out{"limits", {}, {}};
  for (const double limit : {100.0, 150.0, 200.0, 250.0, 300.0}) {
    for (std::size_t repetition = 1; repetition <= 3; ++repetition) {
      SweepMeasurement run;
      run.setting = std::to_string(static_cast<int>(limit)) + " W";
      run.limit_w = limit;
      run.is_default = limit == 300;
      run.repetition = repetition;
      run.time_s = 10 - limit / 100 + 0.01 * static_cast<double>(repetition);
      run.energy_j = 500 + (limit - 200) * (limit - 200) / 100 + static_cast<double>(repetition);
      out.loaded.runs.push_back(run);
    }
  }
  out.groups = *judge_sweep(out.loaded.runs);
  return out;
}

const Json& columns(const Chart& chart, const char* data) {
  return chart.data[data][0]["columns"];
}

TEST(SweepCharts, MarkTheBestOfEachGoal) {
  const SweepView view = sweep();
  const auto charts = sweep_charts(view, view.groups.front());
  ASSERT_EQ(charts.size(), 3U);
  // Time is least at the highest limit, energy in the middle.
  EXPECT_EQ(columns(charts[0], "means")["best"].dump(), "[false,false,false,false,true]");
  EXPECT_EQ(columns(charts[1], "means")["best"].dump(), "[false,false,true,false,false]");
  EXPECT_NE(charts[1].caption.find("the best setting, 200 W"), std::string::npos) << charts[1].caption;
}

TEST(SweepCharts, ShowEveryRunOverTheLimit) {
  const SweepView view = sweep();
  const auto charts = sweep_charts(view, view.groups.front());
  EXPECT_EQ(columns(charts[1], "runs")["x"].size(), 15U);
  EXPECT_EQ(columns(charts[1], "runs")["x"][0], 100.0);
  EXPECT_EQ(columns(charts[1], "runs")["value"][0], 601.0);
  EXPECT_EQ(columns(charts[1], "means")["mean"][2], 502.0);
  EXPECT_LT(columns(charts[1], "means")["low"][2].get<double>(), 502);
}

TEST(SweepCharts, TheCurveIsTheFits) {
  const SweepView view = sweep();
  const auto charts = sweep_charts(view, view.groups.front());
  const Json& fit = columns(charts[1], "fit");
  EXPECT_EQ(fit["x"].front(), 100.0);
  EXPECT_EQ(fit["x"].back(), 300.0);
  EXPECT_NEAR(fit["value"][40].get<double>(), 502, 0.01);
  EXPECT_FALSE(charts[0].data.contains("fit"));  // nobody fits time
}

SweepMachine machine(const char* host, std::uint32_t limit_mw) {
  SweepMachine out{host, {}, {}};
  out.head = {{"machine", {{"host", host}, {"cpus", 8}}},
              {"devices", {{{"kind", "gpu"}, {"name", "NVIDIA A30"}, {"details", {{"driver", "550.54"}}}}}}};
  for (const std::size_t index : {0, 1}) {
    FoundSettings found;
    found.index = index;
    found.power_limit_mw = limit_mw;
    found.default_limit_mw = 165'000;
    found.application = ApplicationClocks{1215, 1440};
    out.found.push_back(found);
  }
  return out;
}

TEST(SweepHeader, SaysWhatWasRunAndWhere) {
  SweepView view = sweep();
  view.loaded.command = {"python3", "train.py", "<i>{batch}"};
  view.loaded.machines = {machine("node1", 165'000), machine("node2", 120'000)};
  view.loaded.left_out = {"x: exit code 1"};
  const std::string html = sweep_header_section(view);
  for (const char* text :
       {"<dd>python3 train.py &lt;i&gt;{batch}</dd>", "<dd>node1, 8 processors</dd>", "NVIDIA A30 (driver 550.54)",
        "<dd>gpu0, gpu1: power limit 165 W (the default), application clocks 1215,1440 MHz</dd>", "node2",
        "power limit 120 W (default 165 W)", "<dd>15, and 1 left out</dd>"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text << "\n" << html;
  }
}

// f = 0.5 + 0.5 min(limit / u P_max, 1), P = 100 + 200 f^3, t = 5 + 5 / f, so that the fits have nothing left over.
TEST(SweepModels, StandWithTheirCoefficients) {
  std::vector<SweepMeasurement> runs;
  for (const double limit : {100.0, 150.0, 200.0, 250.0, 300.0}) {
    SweepMeasurement run;
    run.setting = std::to_string(static_cast<int>(limit)) + " W";
    run.limit_w = limit;
    const double f = 0.5 + 0.5 * limit / 300;
    run.sm_clock_mhz = 1500 * f;
    run.time_s = 5 + 5 / f;
    run.energy_j = (100 + 200 * f * f * f) * run.time_s;
    run.idle_power_w = 50;
    run.device_limit_w = 300;
    runs.push_back(run);
  }
  const std::string html = sweep_models_section(judge_sweep(runs)->front());
  for (const char* text : {"0.5 + 0.5 min(limit / (u P_max), 1)", "0.667 u f³) P_max", "t = (0.5 + 0.5 / f) t_ref",
                           "f_max = 1500 MHz, P_max = 300 W, P_idle = 50.0 W, u = 1.00", "t_ref = 10 s at 300 W",
                           "Power and SM clock: r = 0.9", "over 5 runs"}) {
    EXPECT_NE(html.find(text), std::string::npos) << text << "\n" << html;
  }
}

TEST(SweepModels, ElseItSaysWhyThereAreNone) {
  const std::string html = sweep_models_section(sweep().groups.front());
  EXPECT_NE(html.find("No models of clock, power and delay: no run has a baseline"), std::string::npos) << html;
}

TEST(SweepSection, WithoutEnergyOnlyTimeStands) {
  SweepView view = sweep();
  for (SweepMeasurement& run : view.loaded.runs) run.energy_j.reset();
  view.groups = *judge_sweep(view.loaded.runs);
  EXPECT_EQ(sweep_charts(view, view.groups.front()).size(), 1U);
  const std::string html = sweep_section(view.groups.front());
  EXPECT_NE(html.find("against "), std::string::npos);
  EXPECT_EQ(html.find("energy"), std::string::npos) << html;
  EXPECT_EQ(html.find("EDP"), std::string::npos) << html;
}

TEST(SweepSection, ForeignSettingsAreText) {
  SweepView view = sweep();
  view.groups.front().settings[0].setting = "<b>batch</b>";
  const std::string html = sweep_section(view.groups.front());
  EXPECT_EQ(html.find("<b>"), std::string::npos);
  EXPECT_NE(html.find("&lt;b&gt;batch"), std::string::npos);
}

}  // namespace
}  // namespace joulecast::report
