// SPDX-License-Identifier: Apache-2.0
#include "fit/spread.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

// Matrix products of which the short ones are foreseen to 20 % and the long ones to 2 %, to either side in turn.
struct Foreseen {
  std::vector<Sample> samples;
  HeldOut held;
};

Foreseen foreseen(std::size_t count, bool with_power) {
  const Gpu& gpu = **Catalogue::shipped().find("h100-sxm5-80gb");
  const Device device = make_device(gpu, {}).value();
  Foreseen out;
  for (std::size_t i = 0; i < count; ++i) {
    const bool small = i % 2 == 0;
    const auto side = static_cast<std::int64_t>((small ? 64 : 4096) + 8 * (i / 2));
    Sample s;
    s.work = GemmWork{.rows = side,
                      .columns = side,
                      .depth = side,
                      .element_bytes = 2,
                      .output_bytes = 2,
                      .arithmetic = Arithmetic::kBf16};
    s.gpu = &gpu;
    s.device = device;
    s.key = fmt::format("product {}", i);
    s.time = small ? 1e-5 : 1e-3;
    const double error = (i / 2) % 2 == 0 ? (small ? 0.2 : 0.02) : (small ? -0.2 : -0.02);
    out.held.time.push_back(s.time * std::exp(error));
    if (with_power) {
      s.power = 300.0;
      out.held.power.push_back(300.0);
    }
    out.samples.push_back(std::move(s));
  }
  return out;
}

double spread_of(const Forest& forest, const Sample& sample, double time) {
  std::vector<float> row(spread_row_names(Group::kGemmTensor).size());
  write_spread_row(sample.work, sample.device, sample.situation, time, row);
  return std::exp(static_cast<double>(predict(forest, row)));
}

TEST(Spread, IsAsLargeAsErrorsOfSuchOperationsWere) {
  const Foreseen f = foreseen(800, false);
  const SpreadFit fit = fit_spread(Group::kGemmTensor, f.samples, f.held).value();
  for (const std::size_t i : {200U, 400U, 600U}) {
    EXPECT_NEAR(spread_of(fit.time, f.samples[i], f.held.time[i]), 0.2, 0.03) << i;
    EXPECT_NEAR(spread_of(fit.time, f.samples[i + 1], f.held.time[i + 1]), 0.02, 0.006) << i;
    EXPECT_NEAR(fit.held_out.time[i], 0.2, 0.03) << i;
    EXPECT_NEAR(fit.held_out.time[i + 1], 0.02, 0.006) << i;
  }
}

// A fifth of the errors are 0.2, the rest 0.02: their mean lies between, what nine in ten are below does not.
TEST(Spread, OfVeryManyRowsIsWhatMostErrorsAreBelow) {
  Foreseen few = foreseen(kQuantileRows - 2, false);
  Foreseen many = foreseen(kQuantileRows + 2, false);
  for (Foreseen* f : {&few, &many}) {  // what is measured tells no model of the spread how far off it is
    f->held.time.clear();
    for (std::size_t i = 0; i < f->samples.size(); ++i) {
      f->held.time.push_back(f->samples[i].time);
      f->samples[i].time *= std::exp(i / 2 % 5 == 0 ? 0.2 : 0.02);
    }
  }
  const auto spread = [](const Foreseen& f) {
    return fit_spread(Group::kGemmTensor, f.samples, f.held).value().held_out.time[5000];
  };
  EXPECT_NEAR(spread(few), std::pow(0.203, 0.2) * std::pow(0.023, 0.8), 0.012);
  EXPECT_NEAR(spread(many), 0.203, 0.04);
}

TEST(Spread, IsOneWhereTooFewRowsTell) {
  const Foreseen f = foreseen(kSpreadRows - 2, true);
  const SpreadFit fit = fit_spread(Group::kGemmTensor, f.samples, f.held).value();
  for (const Forest* forest : {&fit.time, &fit.power, &fit.energy})
    EXPECT_EQ(spread_of(*forest, f.samples[0], f.held.time[0]), 1.0);
  EXPECT_EQ(fit.held_out.energy, std::vector<double>(f.samples.size(), 1.0));
}

// Errors of energy are those of time here: power is foreseen exactly.
TEST(Spread, OfEnergyHasErrorsOfItsOwn) {
  const Foreseen f = foreseen(800, true);
  const SpreadFit fit = fit_spread(Group::kGemmTensor, f.samples, f.held).value();
  EXPECT_NEAR(spread_of(fit.energy, f.samples[400], f.held.time[400]), 0.2, 0.03);
  EXPECT_LT(spread_of(fit.power, f.samples[400], f.held.time[400]), 0.01);
}

TEST(Spread, DoesNotLearnFromOlderGenerationsNorFromWhatIsForModelsOfLoopsAlone) {
  for (bool Sample::*flag : {&Sample::primary, &Sample::for_modules}) {
    Foreseen f = foreseen(800, false);
    for (std::size_t i = 0; i < f.samples.size(); i += 6) {  // a third of the short ones, which no feature tells
      f.samples[i].*flag = false;
      f.samples[i].time *= 10.0;  // what is measured tells no model of the spread how far off it is
    }
    const SpreadFit fit = fit_spread(Group::kGemmTensor, f.samples, f.held).value();
    EXPECT_NEAR(spread_of(fit.time, f.samples[400], f.held.time[400]), 0.2, 0.03);
  }
}

}  // namespace
}  // namespace joulecast
