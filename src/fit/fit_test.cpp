// SPDX-License-Identifier: Apache-2.0
#include "fit/fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "predict/estimator.h"

namespace joulecast {
namespace {

constexpr Group kGroup = Group::kGemmSimt;
constexpr int kRows = 200;

// The same products on two GPUs that no figure tells apart. Modules take four times their bound on the one, loops of
// the same calls twice theirs on the other, and neither counts anything in the other's model.
std::vector<Sample> two_benches(Arithmetic arithmetic = Arithmetic::kFp32) {
  const Device device = make_device(**Catalogue::shipped().find("a30"), {}).value();
  std::vector<Sample> out;
  for (int i = 0; i < 2 * kRows; ++i) {
    const bool loops = i >= kRows;
    Sample s;
    s.work = GemmWork{.rows = 64 + 8 * (i % kRows), .columns = 512, .depth = 512, .arithmetic = arithmetic};
    s.situation.host = loops ? Host::kBare : Host::kModern;
    s.gpu = *Catalogue::shipped().find(loops ? "t4" : "a30");
    s.device = device;
    s.key = fmt::format("product {}", i % kRows);
    std::vector<float> features(feature_names(group_of(s.work)).size());
    s.time = (loops ? 2.0 : 4.0) * physics_of(s.work, device, s.situation, features).bound;
    s.seen_weight = loops ? std::array{1e-3, 1.0} : std::array{1.0, 1e-3};
    out.push_back(std::move(s));
  }
  return out;
}

// What a model of time says of a sample, as a factor on its bound. As of a module: what tells benches apart is hidden.
double factor(const Forest& time, const Sample& sample, Situation situation = {}) {
  const Group group = group_of(sample.work);
  std::vector<float> row(row_names(group).size() - kPowerFeatures.size());
  const Physics physics = physics_of(sample.work, sample.device, situation, row);
  write_gpu_features(physics, sample.device, std::span(row).subspan(feature_names(group).size()));
  return std::exp(static_cast<double>(predict(time, row)));
}

TEST(FitGroup, EachBenchHasAModelThatItsOwnRowsMake) {
  const std::vector<Sample> samples = two_benches();
  const auto none = [](const std::string&) {};
  const GroupFit fit = fit_group(kGroup, samples, Method::kOurs, Judging::kQuick, none, {}).value();
  ASSERT_TRUE(fit.loops_time);
  EXPECT_NEAR(factor(fit.seen.time, samples[100]), 4.0, 0.4);
  // Which of them a sample is held out by is told by its GPU.
  std::array<float, kMaxFeatures> features{};
  for (const std::size_t i : {100U, 300U}) {
    const Sample& s = samples[i];
    const double bound = physics_of(s.work, s.device, s.situation, features).bound;
    EXPECT_NEAR(fit.random.time[i] / bound, i < kRows ? 4.0 : 2.0, 0.3) << i;
  }
}

// Loops that count as much as modules are told by their call, of which a model knows nothing that they are not for.
TEST(FitGroup, EachModelLearnsFromRowsThatAreForIt) {
  constexpr Group kTrusted = Group::kGemmTensor;
  ASSERT_GT(trust_unseen(kTrusted), 0.0);
  std::vector<Sample> samples = two_benches(Arithmetic::kFp16);
  for (Sample& s : samples) s.seen_weight = {1.0, 1.0};
  const auto of_a_loop = [&] {
    const auto none = [](const std::string&) {};
    const GroupFit fit = fit_group(kTrusted, samples, Method::kOurs, Judging::kQuick, none, {}).value();
    const Sample& loop = samples[kRows + 100];
    return std::pair{factor(fit.seen.time, loop, loop.situation), factor(fit.any.time, loop, loop.situation)};
  };
  const auto [both, both_any] = of_a_loop();
  EXPECT_NEAR(both, 2.0, 0.2);
  EXPECT_NEAR(both_any, 2.0, 0.2);
  for (std::size_t i = kRows; i < samples.size(); ++i) samples[i].for_modules = false;
  const auto [modules, still_both] = of_a_loop();
  EXPECT_NEAR(modules, 4.0, 0.4);
  EXPECT_NEAR(still_both, 2.0, 0.2);
  for (std::size_t i = kRows; i < samples.size(); ++i) samples[i].for_any_gpu = false;
  EXPECT_NEAR(of_a_loop().second, 4.0, 0.4);
}

TEST(FitGroup, TreesThatCountForNothingOnOtherGpusAreNotFitted) {
  ASSERT_EQ(trust_unseen(kGroup), 0.0);
  std::vector<Sample> samples = two_benches();
  for (Sample& s : samples) s.power = s.device.limit;
  const auto none = [](const std::string&) {};
  const GroupFit fit = fit_group(kGroup, samples, Method::kOurs, Judging::kFull, none, {}).value();
  EXPECT_TRUE(fit.any.time.trees.empty());
  EXPECT_EQ(factor(fit.any.time, samples[100]), 1.0);
  EXPECT_FALSE(fit.any.power.trees.empty());
  std::array<float, kMaxFeatures> features{};
  const Sample& s = samples[100];
  EXPECT_EQ(fit.unseen_gpu.time[100], physics_of(s.work, s.device, s.situation, features).bound);
  EXPECT_NEAR(fit.random.time[100] / fit.unseen_gpu.time[100], 4.0, 0.3);
}

// Of each five rows of a convolution four took three times the bound and one the bound: what is so far off is doubted,
// and counts for less than the one. Other estimators take rows as they are.
TEST(FitGroup, ConvolutionsFarOffTheirLawCountLittle) {
  constexpr int kEach = 5;
  std::vector<Sample> samples = two_benches();
  samples.resize(kRows);
  std::array<float, kMaxFeatures> features{};
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& s = samples[i];
    const auto channels = static_cast<std::int64_t>(64 + 8 * (i / kEach));
    s.work = ConvWork{.batch = 32,
                      .in_channels = channels,
                      .out_channels = 256,
                      .in_height = 56,
                      .in_width = 56,
                      .out_height = 56,
                      .out_width = 56};
    s.time = (i % kEach < 4 ? 3.0 : 1.0) * physics_of(s.work, s.device, s.situation, features).bound;
  }
  const auto found = [&](Method method) {
    const auto none = [](const std::string&) {};
    return factor(fit_group(Group::kConv, samples, method, Judging::kQuick, none, {}).value().seen.time, samples[100]);
  };
  EXPECT_NEAR(found(Method::kOurs), 1.0, 0.1);
  EXPECT_GT(found(Method::kBoosting), 1.3);
}

TEST(FitGroup, WithoutLoopsThereIsNoModelOfThem) {
  std::vector<Sample> samples = two_benches();
  samples.resize(kRows);
  const auto none = [](const std::string&) {};
  EXPECT_FALSE(fit_group(kGroup, samples, Method::kOurs, Judging::kQuick, none, {}).value().loops_time);
}

// Watts that follow one. What tells GPUs apart is hidden from the models of all GPUs, which have none.
TEST(FitGroup, ALawOfPowerIsFoundForMeasuredGpusAlone) {
  constexpr double kCompute = 0.9;
  std::vector<Sample> samples = two_benches();
  samples.resize(kRows);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample& s = samples[i];
    std::vector<float> features(feature_names(kGroup).size());
    const Physics physics = physics_of(s.work, s.device, s.situation, features);
    s.time = (i % 2 == 0 ? 2.0 : 20.0) * physics.bound;
    s.power = power_from_share(kCompute * physics.compute / s.time, s.device);
  }
  const auto none = [](const std::string&) {};
  const GroupFit fit = fit_group(kGroup, samples, Method::kOurs, Judging::kQuick, none, {}).value();
  const Physics busy{.gpu = 1.0, .compute = 1.0, .memory = 0.0};
  EXPECT_NEAR(fit.seen.law.share(busy, 1.0), kCompute, 0.15);
  EXPECT_EQ(fit.any.law.share(busy, 1.0), 0.0);
  const GroupFit physics = fit_group(kGroup, samples, Method::kPhysics, Judging::kQuick, none, {}).value();
  EXPECT_EQ(physics.seen.law.share(busy, 1.0), 0.0) << "it is a law already";
}

}  // namespace
}  // namespace joulecast
