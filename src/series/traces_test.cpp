// SPDX-License-Identifier: Apache-2.0
// The analysis held against an external meter on all rails, on the traces of JimZeyuYang/GPU_Power_Benchmark (MIT),
// which are not part of the repository: $JOULECAST_SHARED_DATA, or ../shared/data beside it, holds them. "transient":
// idle, 6 s of load, idle. "square50": 8 s of a load that goes on and off every 50 ms.
//
// Found, in percent off the meter ("as read": all of the trace; "calibrated": the card's line, on a part it was not
// fitted to; "steady": how far the card is off under steady load):
//
//   trace            class  as read  calibrated  steady
//   transient 3090   C         -4.7        -1.2    -5.0
//   transient A100   A         -5.6        +0.1    -5.3
//   transient A5000  C         -5.3        -1.2    -6.7
//   transient K40m   F         +3.4        -0.8    +3.3
//   square50 3090    C         -5.2        -0.3    -5.1
//   square50 A100    A         -0.6        +5.6   (-5.3)
//
// "Within 5 % as read" holds for the 3090's transient and the K40m alone. The others are off by what the card itself is
// off under steady load, which no processing knows without a meter. The A100's square50 looks best as read and is
// worthless: what aliasing adds happens to cancel the card's own error over these 8 s, and half a second of it is up to
// 50 % off. The 3090 under the same load shows none of its swing, but its mean of a second covers ten periods and
// holds: no aliasing.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "series/aliasing.h"
#include "series/blocks.h"
#include "series/calibration.h"
#include "series/change_point.h"
#include "series/energy.h"
#include "series/moments.h"
#include "series/running_mean.h"
#include "series/sampling.h"
#include "series/sensor_class.h"

namespace joulecast::series {
namespace {

std::filesystem::path folder() {
  const char* shared = std::getenv("JOULECAST_SHARED_DATA");
  const std::filesystem::path root = shared != nullptr ? shared : JOULECAST_SOURCE_DIR "/../shared/data";
  return (root / "power/traces").lexically_normal();
}

struct Trace {
  Series meter, reading;  // watts; the reading as polled
  std::vector<double> marks_s;
};

// Columns source, time_s, power_w and more. Stamps of milliseconds come twice now and then: the first counts.
Trace read_trace(const std::string& name) {
  Trace trace;
  std::ifstream in(folder() / ("pmd_trace_" + name + ".csv"));
  Series marks;
  std::string line, source, time, power;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::getline(fields, source, ',');
    std::getline(fields, time, ',');
    std::getline(fields, power, ',');
    Series& to = source == "pmd" ? trace.meter : source == "nvml" ? trace.reading : marks;
    if (!to.time_s.empty() && std::stod(time) <= to.time_s.back()) continue;
    to.time_s.push_back(std::stod(time));
    to.value.push_back(power.empty() ? 0 : std::stod(power));
  }
  trace.marks_s = marks.time_s;
  return trace;
}

struct Case {
  const char* name;
  SensorClass sensor;
  double as_read_least, as_read_most;  // energy of the whole trace over the meter's, minus 1

  friend std::ostream& operator<<(std::ostream& out, const Case& trace) { return out << trace.name; }
};

class Traces : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder())) {
      GTEST_SKIP() << "no traces at " << folder() << ": set JOULECAST_SHARED_DATA to the folder of shared data";
    }
    trace_ = read_trace(GetParam().name);
    ASSERT_TRUE(check(trace_.meter));
    ASSERT_TRUE(check(trace_.reading));
  }
  Trace trace_;
};

// Readings where they belong. Class F has no known delay, and the traces of 14 s are long enough for it.
Series corrected(const Series& reading, SensorClass sensor) {
  return correct(reading, sensor).value().power_w;
}

struct Compared {
  Energy reading;
  Joules meter;
};
Compared compare(const Series& reading, const Series& meter, double from, double to) {
  const Seconds begin{std::max({from, reading.time_s.front(), meter.time_s.front()})};
  const Seconds end{std::min({to, reading.time_s.back(), meter.time_s.back()})};
  return {step_energy(cut(reading, begin, end, Between::kHeld).value(), Between::kHeld).value(),
          trapezoid_energy(cut(meter, begin, end).value())->value};
}

double off(Joules energy, Joules meter) {
  return energy / meter - 1;
}

constexpr double kBegin = 0, kEnd = 100;
// Lines are fitted after this and judged before it: half of the load is in either part. The judged part is short, and
// class C is some 45 ms later than its class says on both cards: judged up to 3.5 s they are 1.5 % off, up to 3 s 1.9
// %.
constexpr double kParted = 4.0;

// What trails by a second must have settled, and some updates are late besides: with 1.5 s instead of 2 s the A5000's
// line still has readings of the load in its idle end, and is 1.6 % off.
CalibrationLine line_of(const Trace& trace) {
  const Series reading =
      cut(trace.reading, Seconds{kParted}, Seconds{trace.reading.time_s.back()}, Between::kHeld).value();
  const Series meter = cut(trace.meter, Seconds{kParted}, Seconds{trace.meter.time_s.back()}).value();
  const Blocks blocks = steady_blocks(reading, meter, {Seconds{0.25}, Seconds{2.0}, 0.05}).value();
  return fit_calibration(blocks.reading, blocks.reference).value();
}

bool is_square(const std::string& name) {
  return name.starts_with("square50");
}
std::string transient_of(const std::string& name) {
  return is_square(name) ? "transient_" + name.substr(sizeof("square50_") - 1) + "_TR" : name;
}

TEST_P(Traces, EnergyAsRead) {
  const Compared whole = compare(corrected(trace_.reading, GetParam().sensor), trace_.meter, kBegin, kEnd);
  const double found = off(whole.reading.value, whole.meter);
  RecordProperty("off_percent", std::to_string(100 * found));
  EXPECT_GT(found, GetParam().as_read_least);
  EXPECT_LT(found, GetParam().as_read_most);
}

TEST_P(Traces, EnergyCalibratedIsWithinOneAndAHalfPercentUnlessAliased) {
  const std::string name = GetParam().name;
  const CalibrationLine line = line_of(is_square(name) ? read_trace(transient_of(name)) : trace_);
  // A square50 trace is no part of its card's line: all of it is judged.
  const Compared part =
      compare(corrected(trace_.reading, GetParam().sensor), trace_.meter, kBegin, is_square(name) ? kEnd : kParted);
  const double found = off(true_energy(line, part.reading).value, part.meter);
  RecordProperty("off_percent", std::to_string(100 * found));
  RecordProperty("gain_offset", std::to_string(line.gain) + " " + std::to_string(line.offset.value()));
  if (name == "square50_A100") {
    EXPECT_GT(std::abs(found), 0.015);
  } else {
    EXPECT_LT(std::abs(found), 0.015);
  }
}

TEST_P(Traces, AliasingIsWarnedOfWhereTheReadingIsWorthless) {
  const SourceComparison found = compare_sources(trace_.reading, trace_.meter).value();
  RecordProperty("wander_percent", std::to_string(100 * found.wander));
  EXPECT_GE(found.blocks, 8U);
  EXPECT_EQ(has(found.warnings, Warning::kAliasing), GetParam().name == std::string("square50_A100"));
}

TEST_P(Traces, AliasingIsForeseenFromTheLoadsMarks) {
  const std::optional<Seconds> period = period_of_marks(trace_.marks_s, 2);
  ASSERT_EQ(period.has_value(), is_square(GetParam().name));
  if (!period) return;
  const Series load = cut(trace_.meter, Seconds{trace_.marks_s.front()}, Seconds{trace_.marks_s.back()}).value();
  const PeriodicLoad square{*period, 0.5, Watts{*quantile(load.value, 0.1)}, Watts{*quantile(load.value, 0.9)}};
  SensorMeaning sensor = meaning(GetParam().sensor);
  sensor.period = update_period(trace_.reading)->period;
  const AliasingDoubt doubt = aliasing_by_period(square, sensor, duration(load)).value();
  RecordProperty("bound_percent", std::to_string(100 * doubt.mean_error));
  EXPECT_EQ(has(doubt.warnings, Warning::kAliasing), GetParam().name == std::string("square50_A100"));
  // The 3090's mean holds, and shows none of the load's swing.
  EXPECT_EQ(has(doubt.warnings, Warning::kSwingHidden), GetParam().name == std::string("square50_3090"));
}

TEST_P(Traces, PeriodOfTheLoadIsInTheMeterToo) {
  const std::optional<Seconds> by_meter = period_of(trace_.meter, Seconds{0.02}, Seconds{1}).value();
  ASSERT_EQ(by_meter.has_value(), is_square(GetParam().name));
  if (!by_meter) return;
  EXPECT_NEAR(by_meter->value(), period_of_marks(trace_.marks_s, 2)->value(), 0.001);
}

TEST_P(Traces, UpdatePeriodIsTheClass) {
  const UpdatePeriod found = update_period(trace_.reading).value();
  EXPECT_NEAR(found.period.value(), meaning(GetParam().sensor).period->value(), 0.002);
  // The K40m updates every 15 ms and was polled every 9 ms.
  EXPECT_EQ(has(found.warnings, Warning::kPolledTooSlowly), GetParam().sensor == SensorClass::kF);
}

TEST_P(Traces, AMeanOfASecondThatMissedUpdatesIsNotUndone) {
  if (GetParam().sensor != SensorClass::kC) return;
  const Result<Desmeared> found = desmear(changes(trace_.reading).value(), Seconds{1}, Seconds{0.1});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), ErrorCode::kUnsupported);
}

TEST_P(Traces, StartUpIsCutWhereTheLoadBegins) {
  if (is_square(GetParam().name)) return;
  const double begins = trace_.marks_s[0], ends = trace_.marks_s[1];
  const Series run = cut(trace_.meter, Seconds{trace_.meter.time_s.front()}, Seconds{ends}).value();
  const SteadyPart by_meter = steady_part(run).value();
  RecordProperty("meter_cut_s", std::to_string(by_meter.from.value() - begins));
  // Within a shortest segment of 0.5 s: the 3090 starts up for less than that, and loads end some ms before their mark.
  EXPECT_GT(by_meter.from.value(), begins - 0.01);
  EXPECT_LT(by_meter.from.value(), begins + 0.51);
  EXPECT_LT(by_meter.cut_tail.value(), 0.51);
  // A polled register, with its ramp of a second for class C.
  const Series polled = cut(trace_.reading, Seconds{0}, Seconds{ends}, Between::kHeld).value();
  const SteadyPart by_reading = steady_part(polled).value();
  RecordProperty("reading_cut_s", std::to_string(by_reading.from.value() - begins));
  EXPECT_GT(by_reading.from.value(), begins);
  EXPECT_LT(by_reading.from.value(), begins + 1.6);
  EXPECT_LT(by_reading.cut_tail.value(), 0.51);
}

INSTANTIATE_TEST_SUITE_P(All, Traces,
                         testing::Values(Case{"transient_3090_TR", SensorClass::kC, -0.05, 0.05},
                                         Case{"transient_A100_TR", SensorClass::kA, -0.06, -0.05},
                                         Case{"transient_A5000_TR", SensorClass::kC, -0.06, -0.05},
                                         Case{"transient_K40m_TR", SensorClass::kF, -0.05, 0.05},
                                         Case{"square50_3090", SensorClass::kC, -0.06, -0.05},
                                         Case{"square50_A100", SensorClass::kA, -0.05, 0.05}),
                         [](const auto& trace) { return std::string(trace.param.name); });

}  // namespace
}  // namespace joulecast::series
