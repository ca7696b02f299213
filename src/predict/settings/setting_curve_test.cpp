// SPDX-License-Identifier: Apache-2.0
#include "predict/settings/setting_curve.h"

#include <gtest/gtest.h>

#include <cmath>

#include "predict/settings/apply.h"

namespace joulecast::settings {
namespace {

Gpu board() {
  Gpu gpu;
  gpu.id = "board";
  gpu.memory_type = "HBM2";
  gpu.boost_clock = Hertz{1440e6};
  gpu.power_limit = Watts{165};
  gpu.min_power_limit = Watts{100};
  return gpu;
}

Setting clock_of(double mhz) {
  return {.sm_clock = Hertz{mhz * 1e6}, .power_limit = {}};
}

constexpr HiddenEstimate kBusy{.sensitivity = 0.6, .dynamic = 0.7};
constexpr BasePrediction kBase{.time = 0.1, .power = 150.0};

SettingCurve curve(const HiddenEstimate& hidden, const std::vector<MeasuredRun>& measured = {}) {
  return SettingCurve::make(SettingsModel(), board(), hidden, kBase, measured).value();
}

TEST(SettingCurve, DefaultSettingIsTheBasePrediction) {
  const SettingPrediction found = curve(kBusy).at(std::vector<OperatingPoint>{{}}).front();
  EXPECT_NEAR(std::exp(found.log_time), 0.1, 1e-9);
  EXPECT_NEAR(std::exp(found.log_power), 150.0, 1e-6);
}

TEST(SettingCurve, LowerClocksTakeLongerAtLessPower) {
  const auto found = curve(kBusy).at(std::vector<OperatingPoint>{{.clock = 0.5}, {.clock = 0.8}, {}});
  EXPECT_GT(found[0].log_time, found[1].log_time);
  EXPECT_GT(found[1].log_time, found[2].log_time);
  EXPECT_LT(found[0].log_power, found[1].log_power);
  EXPECT_LT(found[1].log_power, found[2].log_power);
  EXPECT_GT(found[0].time_width, found[1].time_width);
}

// What does not wait for arithmetic slows less; what draws more loses more at half the limit.
TEST(SettingCurve, SlowDownFollowsTheHiddenQuantities) {
  const std::vector<OperatingPoint> half{{.clock = 0.5}};
  const auto sure = [](double sensitivity, double dynamic) {
    return HiddenEstimate{
        .sensitivity = sensitivity, .sensitivity_sigma = 0.1, .dynamic = dynamic, .dynamic_sigma = 0.1};
  };
  EXPECT_GT(curve(sure(0.9, 0.7)).at(half)[0].log_time, curve(sure(0.1, 0.7)).at(half)[0].log_time + 0.2);
  const std::vector<OperatingPoint> limited{{.limit = 0.65}};
  EXPECT_GT(curve(sure(0.9, 1.2)).at(limited)[0].log_time, curve(sure(0.9, 0.4)).at(limited)[0].log_time + 0.05);
}

TEST(SettingCurve, GoesThroughWhatWasMeasured) {
  const std::vector<MeasuredRun> measured{{.setting = {}, .time = Seconds{0.2}, .power = Watts{140}},
                                          {.setting = clock_of(720), .time = Seconds{0.3}, .power = Watts{80}}};
  const auto found = curve(kBusy, measured).at(std::vector<OperatingPoint>{{}, {.clock = 0.5}});
  EXPECT_NEAR(std::exp(found[0].log_time), 0.2, 1e-9);
  EXPECT_NEAR(std::exp(found[1].log_time), 0.3, 1e-9);
  EXPECT_NEAR(std::exp(found[1].log_power), 80.0, 1e-6);
}

// What half the clock did to the time says what a quarter will do: hypotheses that do not fit no longer count.
// The bounds of a pack for "something measured" were found with a lower limit measured.
TEST(SettingCurve, OnlyOtherSettingsNarrowWhatSettingsAdd) {
  SettingsModel model;
  model.set_widths(false, false, {.time = 0.8, .power = 0.8, .energy = 0.8});
  model.set_widths(false, true, {.time = 0.2, .power = 0.2, .energy = 0.2});
  const std::vector<OperatingPoint> far{{.clock = 0.3}};
  const auto width = [&](const Setting& setting) {
    const std::vector<MeasuredRun> run{{.setting = setting, .time = Seconds{0.1}, .power = Watts{150}}};
    return SettingCurve::make(model, board(), kBusy, kBase, run).value().at(far)[0].time_width;
  };
  const double none = SettingCurve::make(model, board(), kBusy, kBase, {}).value().at(far)[0].time_width;
  EXPECT_GT(width({}), 0.6 * none);
  EXPECT_GT(width({.sm_clock = {}, .power_limit = Watts{165}}), 0.6 * none);
  EXPECT_LT(width(clock_of(1300)), 0.4 * none);
}

TEST(SettingCurve, MeasurementsWeighTheHypotheses) {
  const auto further = [](double time_at_half) {
    const std::vector<MeasuredRun> measured{{.setting = {}, .time = Seconds{0.1}, .power = {}},
                                            {.setting = clock_of(720), .time = Seconds{time_at_half}, .power = {}}};
    const auto found = curve(kBusy, measured).at(std::vector<OperatingPoint>{{.clock = 0.25}, {.clock = 0.5}});
    return std::exp(found[0].log_time - found[1].log_time);
  };
  EXPECT_GT(further(0.2), 1.85);    // all of it follows the clock: 2
  EXPECT_LT(further(0.115), 1.35);  // s (1 - w) = 0.15: (1 + 3 * 0.15) / (1 + 0.15) = 1.26
}

// Power alone moves power; time stays at its prediction.
TEST(SettingCurve, QuantityNobodyMeasuredKeepsItsPrediction) {
  const std::vector<MeasuredRun> measured{{.setting = {}, .time = {}, .power = Watts{120}}};
  const auto found = curve(kBusy, measured).at(std::vector<OperatingPoint>{{}});
  EXPECT_NEAR(std::exp(found[0].log_time), 0.1, 1e-6);
  EXPECT_NEAR(std::exp(found[0].log_power), 120.0, 1e-4);
}

// Like board(), but its limit goes down to 60 W.
SettingCurve curve_of_a_low_board(const std::vector<MeasuredRun>& measured) {
  Gpu gpu = board();
  gpu.min_power_limit = Watts{60};
  return SettingCurve::make(SettingsModel(), gpu, kBusy, kBase, measured).value();
}

SettingCurve::Choice chosen_of(const SettingCurve& curve, std::span<const OperatingPoint> points, Objective objective,
                               std::vector<std::size_t> open) {
  return curve.recommended(curve.outlook(points), objective, open);
}

// Limits of 100, 60 and 45 % of the default one.
const std::vector<OperatingPoint> kLimits{{}, {.limit = 0.6}, {.limit = 0.45}};
const std::vector<std::size_t> kDefaultOrLow{0, 2};

TEST(SettingCurve, RecommendsWhatSavesAmongWhatIsOpen) {
  const SettingCurve busy = curve(kBusy);
  const SettingCurve::Choice lower = chosen_of(busy, kLimits, Objective::kEnergy, {0, 1});
  EXPECT_EQ(lower.point, 1U);
  EXPECT_GT(lower.chance, 0.9);
  EXPECT_EQ(chosen_of(busy, kLimits, Objective::kTime, {0, 1}).point, 0U);
  EXPECT_LT(chosen_of(busy, kLimits, Objective::kEdp, {1}).chance, lower.chance) << "it takes longer";
  const SettingCurve::Choice same = chosen_of(busy, kLimits, Objective::kEnergy, {0});
  EXPECT_EQ(same.point, 0U);
  EXPECT_EQ(same.chance, 0.0);
}

TEST(SettingCurve, NoLowLimitIsRecommendedUnseen) {
  EXPECT_EQ(chosen_of(curve(kBusy), kLimits, Objective::kEnergy, kDefaultOrLow).point, 0U);
  EXPECT_TRUE(chosen_of(curve(kBusy), kLimits, Objective::kEnergy, kDefaultOrLow).floored);
  EXPECT_FALSE(chosen_of(curve(kBusy), kLimits, Objective::kEnergy, {0, 1}).floored);
  EXPECT_EQ(chosen_of(curve(kBusy), kLimits, Objective::kEnergy, {2}).point, 2U) << "where nothing else is open";
}

TEST(SettingCurve, LowLimitsMayBeRecommendedOnceALowerOneWasMeasured) {
  const MeasuredRun usual{.setting = {}, .time = Seconds{0.1}, .power = Watts{150}};
  EXPECT_EQ(chosen_of(curve(kBusy, {usual}), kLimits, Objective::kEnergy, kDefaultOrLow).point, 0U);
  const MeasuredRun slightly{
      .setting = {.sm_clock = {}, .power_limit = Watts{160}}, .time = Seconds{0.1}, .power = Watts{148}};
  EXPECT_EQ(chosen_of(curve(kBusy, {usual, slightly}), kLimits, Objective::kEnergy, kDefaultOrLow).point, 0U)
      << "it shows nothing of the fall";
  const MeasuredRun lower{
      .setting = {.sm_clock = {}, .power_limit = Watts{99}}, .time = Seconds{0.115}, .power = Watts{98}};
  EXPECT_EQ(chosen_of(curve_of_a_low_board({usual, lower}), kLimits, Objective::kEnergy, kDefaultOrLow).point, 2U);
}

// The floor is a little below half.
TEST(SettingCurve, HalfOfTheLimitMayBeRecommendedUnseen) {
  const std::vector<OperatingPoint> limits{{}, {.limit = 0.48}, {.limit = 0.47}};
  EXPECT_EQ(chosen_of(curve(kBusy), limits, Objective::kEnergy, {0, 1}).point, 1U);
  EXPECT_EQ(chosen_of(curve(kBusy), limits, Objective::kEnergy, kDefaultOrLow).point, 0U);
}

// By the law an arithmetic-bound workload at 60 % of the limit saves. Three measured settings, by which it does not,
// decide against it; two do not, however often they were measured.
TEST(SettingCurve, ThreeMeasuredSettingsDecide) {
  const auto run = [](double watts, double time, double power) {
    return MeasuredRun{
        .setting = {.sm_clock = {}, .power_limit = Watts{watts}}, .time = Seconds{time}, .power = Watts{power}};
  };
  const std::vector<std::size_t> both{0, 1};
  const auto chosen = [&](const std::vector<MeasuredRun>& runs) {
    return chosen_of(curve_of_a_low_board(runs), kLimits, Objective::kEnergy, both).point;
  };
  EXPECT_EQ(chosen({run(165, 0.1, 150), run(80, 0.13, 79), run(80, 0.13, 79)}), 1U);
  EXPECT_EQ(chosen({run(165, 0.1, 150), run(80, 0.13, 79), run(99, 0.2, 98)}), 0U);
  EXPECT_EQ(chosen({run(165, 0.1, 150), run(99, 0.17, 85), run(99, 0.17, 85)}), 0U) << "two, by the law";
}

TEST(SettingCurve, LowLimitsMayBeRecommendedOnSweptBoards) {
  SettingsModel model;
  model.add(board(), SettingsModel().constants(board()), true);
  const auto swept = SettingCurve::make(model, board(), kBusy, kBase, {}).value();
  EXPECT_EQ(chosen_of(swept, kLimits, Objective::kEnergy, kDefaultOrLow).point, 2U);
  EXPECT_FALSE(chosen_of(swept, kLimits, Objective::kEnergy, kDefaultOrLow).floored);
}

TEST(SettingCurve, RefusesMeasurementsThatCannotBe) {
  const auto refused = [](const MeasuredRun& run) {
    return !SettingCurve::make(SettingsModel(), board(), kBusy, kBase, std::vector<MeasuredRun>{run});
  };
  EXPECT_TRUE(refused({.setting = {}, .time = Seconds{-1.0}, .power = {}}));
  EXPECT_TRUE(refused({.setting = {}, .time = {}, .power = {}}));
  EXPECT_TRUE(refused({.setting = clock_of(5000), .time = Seconds{1.0}, .power = {}}));
  EXPECT_TRUE(refused({.setting = {}, .time = Seconds{1e-12}, .power = {}}));
  EXPECT_TRUE(refused({.setting = {}, .time = {}, .power = Watts{1}}));
  EXPECT_TRUE(refused({.setting = {}, .time = {}, .power = Watts{300}}));
  EXPECT_FALSE(refused({.setting = {}, .time = Seconds{1e-6}, .power = Watts{170}}));
}

TEST(OperatingPoint, IsAShareOfWhatTheBoardHas) {
  const auto point = operating_point(board(), {.sm_clock = Hertz{720e6}, .power_limit = Watts{132}});
  ASSERT_TRUE(point);
  EXPECT_DOUBLE_EQ(point->clock, 0.5);
  EXPECT_DOUBLE_EQ(point->limit, 0.8);
  EXPECT_DOUBLE_EQ(operating_point(board(), {})->limit, 1.0);
}

TEST(OperatingPoint, RefusesSettingsTheBoardLacks) {
  const auto limit = [](double watts) {
    return operating_point(board(), {.sm_clock = {}, .power_limit = Watts{watts}});
  };
  EXPECT_FALSE(limit(99));
  EXPECT_FALSE(limit(166));
  EXPECT_TRUE(limit(100));
  EXPECT_FALSE(operating_point(board(), clock_of(1441)));
  EXPECT_FALSE(operating_point(board(), clock_of(100)));
  EXPECT_NE(limit(99).error().text().find("100 to 165 W"), std::string::npos);
}

// Half of the time at 0.8 of the limit in arithmetic, half at 0.4 in memory.
TEST(Hidden, ComesFromTheOperations) {
  const SettingLaw law({.static_power = 0.2, .held = 1.0});
  const std::vector<BusyOperation> operations{{.busy = 0.05, .power = 80, .compute = 1.0, .memory = 0.0},
                                              {.busy = 0.05, .power = 40, .compute = 0.0, .memory = 1.0}};
  const HiddenEstimate found = hidden_of({operations, 0.1}, 100.0, law);
  EXPECT_NEAR(found.sensitivity, 0.5, 1e-12);
  EXPECT_NEAR(found.dynamic, 0.5 * (0.6 + 0.2), 1e-12);
}

// The GPU works for 0.8 of the step, all of it arithmetic: at half the clock it would need 1.6 and the host 1.
// (1 + 0.8^6 (2^6 - 1))^(1/6) = 1.6115 steps; the demand is that of 0.8 of the time.
TEST(Hidden, WaitsForTheHost) {
  const SettingLaw law({.static_power = 0.2, .held = 1.0});
  const std::vector<BusyOperation> operations{{.busy = 0.08, .power = 80, .compute = 1.0, .memory = 0.0}};
  const HiddenEstimate found = hidden_of({operations, 0.1}, 100.0, law);
  EXPECT_NEAR(found.sensitivity, 0.6115, 1e-4);
  EXPECT_NEAR(found.dynamic, 0.8 * 0.6, 1e-12);
  // Hardly busy at all: the clock hardly matters.
  const std::vector<BusyOperation> small{{.busy = 0.03, .power = 80, .compute = 1.0, .memory = 0.0}};
  EXPECT_LT(hidden_of({small, 0.1}, 100.0, law).sensitivity, 0.01);
}

// For a third of the step its input comes: that is no time of operations, and nothing that a clock changes. Weights of
// hypotheses without it vanish, those of more are as they were.
TEST(Hidden, WaitsForItsInput) {
  const SettingLaw law({.static_power = 0.2, .held = 1.0});
  const std::vector<BusyOperation> operations{{.busy = 0.1, .power = 80, .compute = 1.0, .memory = 0.0}};
  const HiddenStep step{.operations = operations, .time = 0.15, .beside = 0.05};
  const HiddenEstimate found = hidden_of(step, 100.0, law);
  EXPECT_NEAR(found.sensitivity, 1.0, 1e-12);
  EXPECT_NEAR(found.dynamic, 0.6, 1e-12);
  EXPECT_NEAR(found.least_low_share, 1.0 / 3.0, 1e-12);
  HiddenEstimate without = found;
  without.least_low_share = 0.0;
  const Weights even(kGridSize, 1.0);
  const Weights weights = grid_prior_with(even, found);
  const Weights before = grid_prior_with(even, without);
  for (std::size_t i = 0; i < kLowShares.size(); ++i) {
    if (kLowShares[i] > 0.34) {
      EXPECT_EQ(weights[i], before[i]) << kLowShares[i];
    } else if (kLowShares[i] < 0.28) {
      EXPECT_LT(weights[i], 1e-3 * before[i]) << kLowShares[i];
    }
  }
}

// An operation at the limit wants more than fits: as much as makes the law run at the clock it keeps.
TEST(Hidden, DemandBehindTheLimit) {
  const SettingLaw law({.static_power = 0.2, .knee = 0.5, .slope = 1.0, .held = 1.0, .clocked = 1.0});
  const std::vector<BusyOperation> capped{{.busy = 1, .power = 100, .compute = 1, .memory = 0, .held = 0.75}};
  // 0.8 / (0.75 * (1.25 / 1.5)^2)
  EXPECT_NEAR(hidden_of({capped, 1.0}, 100.0, law).dynamic, 0.8 / 0.520833, 1e-4);
}

// What is predicted at the default setting chooses among the hypotheses, the more the surer it is: near the limit a cap
// costs time, far below it none.
TEST(SettingCurve, PredictedPowerChoosesTheHypotheses) {
  const auto slower = [](double watts, double sigma) {
    const BasePrediction base{.time = 0.1, .power = watts, .power_sigma = sigma};
    const auto made = SettingCurve::make(SettingsModel(), board(), kBusy, base, {});
    return std::exp(made.value().at(std::vector<OperatingPoint>{{.limit = 0.65}}).front().log_time) / 0.1;
  };
  EXPECT_GT(slower(160, 0.05), slower(70, 0.05) + 0.1);
  EXPECT_LT(slower(70, 0.05), 1.05);
  EXPECT_GT(slower(70, 0.5), slower(70, 0.05));
}

// Measured at the default, the power says what the demand is; what the operations say of it no longer matters.
TEST(SettingCurve, MeasuredPowerStandsBeforeTheDemandOfTheOperations) {
  const std::vector<MeasuredRun> measured{{.setting = {}, .time = Seconds{0.1}, .power = Watts{120}}};
  const std::vector<OperatingPoint> half{{.clock = 0.5}};
  const double little = curve({.sensitivity = 0.6, .dynamic = 0.2}, measured).at(half)[0].log_power;
  const double much = curve({.sensitivity = 0.6, .dynamic = 1.2}, measured).at(half)[0].log_power;
  EXPECT_DOUBLE_EQ(little, much);
}

TEST(Applied, CarriesTimePowerAndEnergyOver) {
  Prediction base;
  base.setting = {.sm_clock = Hertz{1440e6}, .power_limit = Watts{165}};
  base.time = {Seconds{0.1}, Seconds{0.09}, Seconds{0.11}};
  base.gpu_busy = Seconds{0.08};
  base.memory.value = Bytes{7};
  const SettingPrediction at{.log_time = std::log(0.2),
                             .log_power = std::log(100.0),
                             .time_width = 0.3,
                             .power_width = 0.4,
                             .energy_width = 0.12};
  const Prediction out =
      applied(base, {.time = {0.2, 0.4}, .power = {0.3, 0.3}, .energy = {0.05, 0.16}}, at, clock_of(720));
  EXPECT_DOUBLE_EQ(out.setting.sm_clock->value(), 720e6);
  EXPECT_DOUBLE_EQ(out.setting.power_limit->value(), 165.0);
  EXPECT_NEAR(out.time.hi.value(), 0.2 * std::exp(0.5), 1e-9);
  EXPECT_NEAR(out.energy.value.value(), 20.0, 1e-9);
  EXPECT_NEAR(out.energy.lo.value(), 20.0 / std::exp(0.13), 1e-9);
  EXPECT_NEAR(out.energy.hi.value(), 20.0 * std::exp(0.2), 1e-9);
  EXPECT_NEAR(out.edp.value.value(), 4.0, 1e-9);
  EXPECT_NEAR(out.power.hi.value(), 100.0 * std::exp(0.5), 1e-6);
  EXPECT_EQ(out.memory.value.value(), 7.0);
}

TEST(Applied, AStepIsTheGpusAndTheHostsPart) {
  const double whole = std::pow(std::pow(3.0, 8) + std::pow(2.5, 8), 1.0 / 8);
  EXPECT_NEAR(busy_part(Seconds{whole}, Seconds{2.5}, 8).value(), 3.0, 1e-12);
  EXPECT_EQ(busy_part(Seconds{2.0}, Seconds{2.5}, 8), Seconds{});
}

// Half of its clock and half of its limit lie at one place of the curve.
TEST(SettingCurve, GoesThroughBothOfTwoSettingsThatCountAlike) {
  const std::vector<MeasuredRun> measured{
      {.setting = clock_of(720), .time = Seconds{0.3}, .power = Watts{80}},
      {.setting = {.sm_clock = clock_of(720).sm_clock, .power_limit = Watts{165}}, .time = {}, .power = Watts{90}}};
  const std::vector<OperatingPoint> half{{.clock = 0.5}};
  const SettingPrediction mean = curve(kBusy, measured).at(half)[0];
  EXPECT_NEAR(std::exp(mean.log_power), 84.85, 0.01);  // the same setting, measured twice: their geometric mean
  Gpu gpu = board();
  gpu.min_power_limit = Watts{60};
  const std::vector<MeasuredRun> two{
      {.setting = clock_of(720), .time = Seconds{0.3}, .power = Watts{80}},
      {.setting = {.sm_clock = {}, .power_limit = Watts{82.5}}, .time = Seconds{0.2}, .power = Watts{82}}};
  const auto through = SettingCurve::make(SettingsModel(), gpu, kBusy, kBase, two).value();
  const auto found = through.at(std::vector<OperatingPoint>{{.clock = 0.5}, {.limit = 0.5}});
  EXPECT_NEAR(std::exp(found[0].log_time), 0.3, 1e-9);
  EXPECT_NEAR(std::exp(found[1].log_time), 0.2, 1e-9);
}

// However often it was repeated, to the hypotheses as well.
TEST(SettingCurve, RepeatsOfASettingCountOnce) {
  std::vector<MeasuredRun> measured{{.setting = {}, .time = Seconds{0.1}, .power = Watts{150}},
                                    {.setting = clock_of(720), .time = Seconds{0.13}, .power = Watts{80}}};
  const std::vector<OperatingPoint> other{{.clock = 0.3}, {.limit = 0.7}};
  const auto once = curve(kBusy, measured).at(other);
  for (int i = 0; i < 5; ++i) measured.push_back(measured[1]);
  const auto often = curve(kBusy, measured).at(other);
  for (std::size_t i = 0; i < other.size(); ++i) {
    EXPECT_NEAR(once[i].log_time, often[i].log_time, 1e-12);
    EXPECT_NEAR(once[i].log_power, often[i].log_power, 1e-12);
  }
}

// A sixth of the step is the GPU's: however it follows the clock, the host hides it.
TEST(SettingCurve, AStepThatWaitsForItsHostHardlySlows) {
  const std::array<BusyOperation, 1> operations{{{.busy = 0.017, .power = 60, .compute = 1e-3, .memory = 1e-3}}};
  const HiddenEstimate found = hidden_of({operations, 0.1}, 165.0, SettingLaw(GpuConstants{}));
  EXPECT_LT(found.most_sensitivity, 0.01);
  const std::vector<OperatingPoint> half{{.clock = 0.5}};
  EXPECT_LT(curve(found).at(half)[0].log_time - std::log(0.1), 0.08);
  EXPECT_GT(curve(kBusy).at(half)[0].log_time - std::log(0.1), 0.2);
}

// A power alone says nothing of the time there.
TEST(SettingCurve, BoundsFollowTheDistanceFromWhatWasMeasuredOfTheirQuantity) {
  std::vector<MeasuredRun> measured{{.setting = {}, .time = Seconds{0.1}, .power = Watts{150}}};
  const std::vector<OperatingPoint> half{{.clock = 0.5}};
  const SettingPrediction before = curve(kBusy, measured).at(half)[0];
  measured.push_back({.setting = clock_of(720), .time = {}, .power = Watts{80}});
  const SettingPrediction after = curve(kBusy, measured).at(half)[0];
  EXPECT_GT(after.time_width, 2.0 * after.power_width);
  EXPECT_GT(after.energy_width, 2.0 * after.power_width);
  EXPECT_LT(after.power_width, 0.5 * before.power_width);
}

TEST(SettingCurve, RefusesSettingsThatAreNoNumbers) {
  const double none = std::nan("");
  EXPECT_FALSE(operating_point(board(), clock_of(none)));
  EXPECT_FALSE(operating_point(board(), {.sm_clock = {}, .power_limit = Watts{none}}));
}

TEST(Applied, NoBoundIsAboveTheLimitThatIsSet) {
  Prediction base;
  base.setting = {.sm_clock = Hertz{1440e6}, .power_limit = Watts{300}};
  base.time = {Seconds{0.1}, Seconds{0.09}, Seconds{0.11}};
  const auto most = [&](double limit, double power) {
    const SettingPrediction at{.log_time = std::log(0.1), .log_power = std::log(power), .power_width = 1.0};
    return applied(base, {}, at, {.sm_clock = {}, .power_limit = Watts{limit}}).power.hi.value();
  };
  EXPECT_NEAR(most(200, 150), 200.0, 1e-9);
  EXPECT_NEAR(most(150, 140), 150.0, 1e-9);
  EXPECT_NEAR(most(100, 90), 125.0, 1e-9);  // which boards do not hold
  EXPECT_NEAR(most(125, 100), 125.0 * 1.125, 1e-9);
  EXPECT_NEAR(most(350, 200), 350.0, 1e-9);
  EXPECT_NEAR(most(150, 160), 160.0, 1e-9);  // no less than the prediction
}

TEST(Applied, MeasuredQuantitiesLoseTheErrorOfTheOperations) {
  Prediction base;
  base.time = {Seconds{0.1}, Seconds{0.1 / std::exp(0.3)}, Seconds{0.1 * std::exp(0.5)}};
  base.power = {Watts{100}, Watts{100 / std::exp(0.2)}, Watts{100}};
  base.energy = {Joules{10}, Joules{5}, Joules{20}};
  const BaseWidths predicted = base_widths(base, 0.25, {});
  EXPECT_NEAR(predicted.time.down, 0.3, 1e-12);
  EXPECT_NEAR(predicted.time.up, 0.5, 1e-12);
  EXPECT_NEAR(predicted.power.up, 0.25, 1e-12);  // not cut off by the limit
  const std::vector<MeasuredRun> timed{{.setting = {}, .time = Seconds{0.1}, .power = {}}};
  const BaseWidths measured = base_widths(base, 0.25, timed);
  EXPECT_NEAR(measured.time.up, 1.645 * 0.02, 1e-12);
  EXPECT_NEAR(measured.power.down, 0.2, 1e-12);
  EXPECT_NEAR(measured.energy.down, std::hypot(0.0329, 0.2), 1e-6);
}

}  // namespace
}  // namespace joulecast::settings
