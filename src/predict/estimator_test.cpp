// SPDX-License-Identifier: Apache-2.0
// Which of a pack's models answer for a GPU.
#include "predict/estimator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "predict/pack/writer.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

const GemmWork kProduct{.rows = 512, .columns = 512, .depth = 512, .arithmetic = Arithmetic::kFp32};

// A forest without trees: it says `base` of everything.
Forest constant(Group group, float base, bool power) {
  const std::vector<std::string_view> names = row_names(group);
  const std::size_t columns = names.size() - (power ? 0 : kPowerFeatures.size());
  return {.features = {names.begin(), names.begin() + static_cast<std::ptrdiff_t>(columns)}, .base = base, .trees = {}};
}

// The bound times 2 on GPUs that nobody measured, 4 where modules were measured, 8 in loops.
Pack made(const std::map<std::string, double>& gpus, const std::map<std::string, double>& laws = {}) {
  const Group group = Group::kGemmSimt;
  PackWriter writer;
  const std::pair<const char*, double> times[] = {{"time", 2}, {"time-seen", 4}, {"time-loops", 8}};
  for (const auto& [section, factor] : times)
    EXPECT_TRUE(writer.add_forest(std::string(section) + "/gemm-simt",
                                  constant(group, static_cast<float>(std::log(factor)), false)));
  for (const char* section : {"power", "power-seen"})
    EXPECT_TRUE(writer.add_forest(std::string(section) + "/gemm-simt", constant(group, 0.5F, true)));
  EXPECT_TRUE(writer.add_table(std::string(pack_names::kTrust), {{"gemm-simt", 1.0}}));
  EXPECT_TRUE(writer.add_table(std::string(pack_names::kGpus), gpus));
  if (!laws.empty()) {
    EXPECT_TRUE(writer.add_table(std::string(pack_names::kPowerLaws), laws));
  }
  const std::string path = testing::TempDir() + "estimator_test" + std::to_string(::getpid()) + ".jcpack";
  EXPECT_TRUE(writer.write(path));
  Pack pack = Pack::open(path).value();
  std::filesystem::remove(path);
  return pack;
}

// How many times its bound a product takes on the T4.
double factor(const std::map<std::string, double>& gpus) {
  const Pack pack = made(gpus);
  const Estimator estimator = Estimator::from(pack).value();
  const Device device = make_device(**Catalogue::shipped().find("t4"), {}).value();
  const Work work = kProduct;
  OperationPrediction found;
  EXPECT_TRUE(estimator.predict({&work, 1}, device, {}, estimator.trust("t4"), {&found, 1}));
  EXPECT_NEAR(found.power, device.awake + 0.5 * (device.limit - device.awake), 1e-3);
  return found.time / found.physics.bound;
}

TEST(Estimator, ModelsOfTheBenchThatTheGpuWasMeasuredOnAnswer) {
  EXPECT_NEAR(factor({}), 2.0, 1e-6);
  EXPECT_NEAR(factor({{"arithmetic/gemm-simt/fp32/t4", 1.0}}), 4.0, 1e-6);
  EXPECT_NEAR(factor({{"arithmetic-loops/gemm-simt/fp32/t4", 1.0}}), 8.0, 1e-6);
}

TEST(Estimator, WhatWasMeasuredElsewhereOrOfAnotherKindIsNoReason) {
  EXPECT_NEAR(factor({{"arithmetic-loops/gemm-simt/fp32/a30", 1.0}}), 2.0, 1e-6);
  EXPECT_NEAR(factor({{"arithmetic-loops/gemm-simt/tf32/t4", 1.0}}), 2.0, 1e-6);
  EXPECT_NEAR(factor({{"arithmetic-loops/conv/fp32/t4", 1.0}}), 2.0, 1e-6);
  EXPECT_NEAR(factor({{"arithmetic-elsewhere/gemm-simt/fp32/t4", 1.0}}), 2.0, 1e-6);
}

// A bit for each, and the eighth for work without one.
TEST(Estimator, EveryArithmeticMayHaveBeenMeasured) {
  for (std::size_t a = 0; a < kArithmetics; ++a) {
    const auto math = static_cast<Arithmetic>(a);
    const Pack pack = made({{fmt::format("arithmetic/gemm-simt/{}/t4", name(math)), 1.0}});
    const Estimator estimator = Estimator::from(pack).value();
    EXPECT_TRUE(estimator.trust("t4").seen(Group::kGemmSimt, math)) << name(math);
    EXPECT_FALSE(estimator.trust("t4").seen(Group::kGemmSimt, std::nullopt)) << name(math);
  }
}

// So many times the bound of one group, on every GPU.
Pack of_all(Group group, double factor) {
  PackWriter writer;
  const std::string called(name(group));
  EXPECT_TRUE(writer.add_forest("time/" + called, constant(group, static_cast<float>(std::log(factor)), false)));
  EXPECT_TRUE(writer.add_forest("power/" + called, constant(group, 0.5F, true)));
  EXPECT_TRUE(writer.add_table(std::string(pack_names::kTrust), {{called, 1.0}}));
  EXPECT_TRUE(writer.add_table(std::string(pack_names::kGpus), {}));
  const std::string path = testing::TempDir() + "estimator_test_" + called + std::to_string(::getpid()) + ".jcpack";
  EXPECT_TRUE(writer.write(path));
  Pack pack = Pack::open(path).value();
  std::filesystem::remove(path);
  return pack;
}

// Whatever trees say, here a hundredth of the bound: in a network a cache far larger than the L2 comes from memory.
TEST(Estimator, NoCacheIsReadFasterThanTheBandwidth) {
  const Pack pack = of_all(Group::kDecode, 0.01);
  const Estimator estimator = Estimator::from(pack).value();
  const Device device = make_device(**Catalogue::shipped().find("a30"), {}).value();
  const Work work = AttentionWork{.batch = 32, .heads = 32, .kv_heads = 8, .queries = 1, .past = 8191, .head = 128};
  const auto time = [&](double weights) {
    OperationPrediction found;
    EXPECT_TRUE(estimator.predict({&work, 1}, device, {.weights = weights}, estimator.trust("a30"), {&found, 1}));
    return found.time;
  };
  const double cache = 2.0 * 32 * 8 * 8192 * 128 * 2;
  EXPECT_NEAR(time(1e9), (cache - device.l2) / device.bandwidth, 1e-3 * time(1e9));
  EXPECT_LT(time(0.0), 0.1 * time(1e9)) << "pages that a benchmark shares";
}

// What trees say of PyTorch's norms, here twice the bound, is not said of an engine's.
TEST(Estimator, AnEnginesNormFollowsItsLawAlone) {
  const Pack pack = of_all(Group::kReduction, 2.0);
  const Estimator estimator = Estimator::from(pack).value();
  const Device device = make_device(**Catalogue::shipped().find("t4"), {}).value();
  ReductionWork norm{
      .kind = ReductionKind::kLayerNorm, .in_elements = 4096, .out_elements = 4096, .rows = 64, .columns = 64};
  const auto factor = [&] {
    const Work work = norm;
    OperationPrediction found;
    EXPECT_TRUE(estimator.predict({&work, 1}, device, {}, estimator.trust("t4"), {&found, 1}));
    return found.time / found.physics.bound;
  };
  EXPECT_NEAR(factor(), 2.0, 1e-6);
  norm.by_engine = true;
  EXPECT_NEAR(factor(), 1.0, 1e-6);
}

// The share of the power between waiting and limit of a product on the T4, by a pack whose trees say a half.
double share(const std::map<std::string, double>& gpus, const std::map<std::string, double>& laws) {
  const Pack pack = made(gpus, laws);
  const Estimator estimator = Estimator::from(pack).value();
  const Device device = make_device(**Catalogue::shipped().find("t4"), {}).value();
  const Work work = kProduct;
  OperationPrediction found;
  EXPECT_TRUE(estimator.predict({&work, 1}, device, {}, estimator.trust("t4"), {&found, 1}));
  return (found.power - device.awake) / (device.limit - device.awake);
}

// Busy for a quarter of its time where it takes four times its bound, which is that of the GPU alone here.
TEST(Estimator, ThePowerLawIsAddedWhereTheGroupWasMeasured) {
  const std::map<std::string, double> laws{{"gemm-simt/gpu", 0.8}, {"conv/gpu", 0.4}};
  EXPECT_NEAR(share({{"arithmetic/gemm-simt/fp32/t4", 1.0}}, laws), 0.5 + 0.8 * 0.25, 0.02);
  EXPECT_NEAR(share({}, laws), 0.5, 1e-6);
  EXPECT_NEAR(share({{"arithmetic/gemm-simt/fp32/t4", 1.0}}, {{"conv/gpu", 0.4}}), 0.5, 1e-6);
}

TEST(Estimator, PowerMayBeALittleBelowThatOfAGpuThatWaits) {
  Device d;
  d.limit = 100;
  d.awake = 20;
  d.least = 18;
  EXPECT_DOUBLE_EQ(power_from_share(-0.0125, d), 19.0);
  EXPECT_DOUBLE_EQ(power_from_share(-1.0, d), 18.0);
  EXPECT_DOUBLE_EQ(power_share(power_from_share(0.5, d), d), 0.5);
}

TEST(Estimator, NoPowerIsAboveTheLimit) {
  EXPECT_NEAR(share({{"arithmetic/gemm-simt/fp32/t4", 1.0}}, {{"gemm-simt/gpu", 9.0}}), 1.0, 1e-6);
}

// FP32 on all lanes of a P100 keeps 0.07 TFLOP/s a watt at the limit at which it slows down, and draws 1.43 times that:
// the board's limit of 250 W is more than it needs, 150 W is not. The trees say a half, of chips that come to theirs.
TEST(Estimator, AChipWithAGenerousLimitDoesNotComeToIt) {
  const Pack pack =
      made({{"arithmetic/gemm-simt/fp32/t4", 1.0}, {"arithmetic-loops/gemm-simt/fp32/p100-pcie-16gb", 1.0}});
  const Estimator estimator = Estimator::from(pack).value();
  const auto share = [&](const char* id, Setting setting) {
    const Device device = make_device(**Catalogue::shipped().find(id), setting).value();
    const Work work = kProduct;
    OperationPrediction found;
    EXPECT_TRUE(estimator.predict({&work, 1}, device, {}, estimator.trust(id), {&found, 1}));
    return (found.power - device.awake) / (device.limit - device.awake);
  };
  EXPECT_NEAR(share("p100-pcie-16gb", {}), 0.5 * 1.43 * 9.5 / 250 / 0.07, 0.005);
  EXPECT_NEAR(share("p100-pcie-16gb", {.sm_clock = {}, .power_limit = Watts{150}}), 0.5, 1e-6);
  EXPECT_NEAR(share("v100-sxm2-16gb", {}), 0.5, 1e-6);
  EXPECT_NEAR(share("gtx-titan-x", {}), 0.5, 1e-6) << "of Maxwell nothing is known";
  EXPECT_NEAR(share("t4", {.sm_clock = {}, .power_limit = Watts{700}}), 0.5, 1e-6) << "measured: the trees know it";
}

// A level of an eighth: what fits into the L2 cache may be so fast, a weight of 1 GiB has to come from memory.
TEST(Estimator, NoLevelMovesMoreThanTheMemoryCan) {
  const Pack pack = made({});
  const Estimator estimator = Estimator::from(pack).value();
  const Device device = make_device(**Catalogue::shipped().find("t4"), {}).value();
  Estimator::Trust trust = estimator.trust("t4");
  trust.correction = GpuCorrection{};
  trust.correction->time[0] = std::log(1.0 / 8.0);
  const Work works[] = {kProduct, GemmWork{.rows = 1, .columns = 1 << 14, .depth = 1 << 14}};
  OperationPrediction found[2];
  EXPECT_TRUE(estimator.predict(works, device, {}, trust, found));
  EXPECT_NEAR(found[0].time, 2.0 / 8.0 * found[0].physics.bound, 1e-6 * found[0].time);
  EXPECT_NEAR(found[1].time, (found[1].physics.bytes - device.l2) / device.bandwidth, 1e-9 * found[1].time);
}

// MIOpen has no TF32; hipBLASLt has it for who asks.
TEST(FitToDevice, AmdConvolvesInFp32) {
  const Gpu& amd = **Catalogue::shipped().find("mi300x");
  const auto arithmetic = [&](Work work, const Gpu& gpu) {
    EXPECT_TRUE(fit_to_device(work, gpu, make_device(gpu, {}).value()));
    return arithmetic_of(work);
  };
  const ConvWork conv{.arithmetic = Arithmetic::kTf32};
  GemmWork product = kProduct;
  product.arithmetic = Arithmetic::kTf32;
  EXPECT_EQ(arithmetic(conv, amd), Arithmetic::kFp32);
  EXPECT_EQ(arithmetic(product, amd), Arithmetic::kTf32);
  product.steps = 4;
  EXPECT_EQ(arithmetic(product, amd), Arithmetic::kFp32);
  EXPECT_EQ(arithmetic(conv, **Catalogue::shipped().find("h100-sxm5-80gb")), Arithmetic::kTf32);
}

TEST(FitToDevice, HalvesAreMultipliedInFp32BeforeTensorCores) {
  const auto arithmetic = [](std::string_view id, Arithmetic wanted) {
    const Gpu& gpu = **Catalogue::shipped().find(id);
    GemmWork product = kProduct;
    product.arithmetic = wanted;
    product.element_bytes = 2;
    Work work = product;
    EXPECT_TRUE(fit_to_device(work, gpu, make_device(gpu, {}).value())) << id;
    EXPECT_EQ(std::get<GemmWork>(work).element_bytes, 2) << id;
    return std::get<GemmWork>(work).arithmetic;
  };
  for (const char* pascal : {"p100-pcie-16gb", "gtx-1080-ti", "tesla-p4"})
    EXPECT_EQ(arithmetic(pascal, Arithmetic::kFp16), Arithmetic::kFp32) << pascal;
  EXPECT_EQ(arithmetic("v100-pcie-32gb", Arithmetic::kFp16), Arithmetic::kFp16);
  EXPECT_EQ(arithmetic("t4", Arithmetic::kTf32), Arithmetic::kFp32);
  const Gpu& kepler = **Catalogue::shipped().find("k80");
  Work work = GemmWork{.arithmetic = Arithmetic::kFp16};
  EXPECT_FALSE(fit_to_device(work, kepler, make_device(kepler, {}).value()));
}

}  // namespace
}  // namespace joulecast
