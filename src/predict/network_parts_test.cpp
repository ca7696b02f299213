// SPDX-License-Identifier: Apache-2.0
#include "predict/network_parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <string_view>

namespace joulecast {
namespace {

constexpr std::string_view kNet = R"(graph "n" {
  input %x : f32[batch, 64, 56, 56]
  parameter %s : f32[64]
  parameter %w : f32[64, 64, 3, 3]
  %n = batch_norm(%x, %s, %s, %s, %s)
  %r = activation(%n) {kind = relu}
  %y = conv(%r, %w)
  output %y
})";

class NetworkPartsTest : public testing::TestWithParam<std::tuple<Mode, std::int64_t>> {
 protected:
  static Mode mode() { return std::get<Mode>(GetParam()); }

  NetworkParts parts(const GpuCorrection& correction) const {
    Estimator::Trust trust = estimator_.trust("rtx-4090");
    trust.correction = correction;
    const Binding binding{.symbols = {}, .shapes = {}, .batch = std::get<std::int64_t>(GetParam())};
    const Workload load = prepare(parse_graph(kNet).value(), binding, {.mode = mode(), .precision = {}}).value();
    return network_parts(load, **Catalogue::shipped().find("rtx-4090"), {}, {estimator_, trust, compose_}).value();
  }

  Pack pack_ = Pack::open(JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack").value();
  Estimator estimator_ = Estimator::from(pack_).value();
  ComposeConstants compose_ = read_compose(pack_).value();
};

// A small step of each term moves the time by what is said of it: of a network that the GPU sets the pace of, and of
// one in which the host takes part.
TEST_P(NetworkPartsTest, TermsAreTheDerivativesOfTheTime) {
  constexpr double kStep = 1e-4;
  const NetworkParts as_is = parts({});
  const CorrectionTerms terms = correction_terms(as_is, mode(), compose_.sharpness);
  double largest = 0;
  for (std::size_t k = 0; k < kCorrectionTerms; ++k) {
    GpuCorrection moved;
    moved.time[k] = kStep;
    const double slope = std::log(parts(moved).whole.time / as_is.whole.time) / kStep;
    EXPECT_NEAR(terms[k], slope, 0.02) << term_name(k);
    largest = std::max(largest, terms[k]);
  }
  EXPECT_GT(largest, 0.05);
}

INSTANTIATE_TEST_SUITE_P(ModesAndBatches, NetworkPartsTest,
                         testing::Combine(testing::Values(Mode::kInference, Mode::kTraining),
                                          testing::Values(7, 8, 9, 256)));

// The step's bytes at nine tenths of the bandwidth: 64 x 64 x 9 weights and a vector of 64.
TEST(NetworkParts, OptimizersMoveTheirPasses) {
  const Pack pack = Pack::open(JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack").value();
  const Estimator estimator = Estimator::from(pack).value();
  const ComposeConstants compose = read_compose(pack).value();
  const Gpu& gpu = **Catalogue::shipped().find("rtx-4090");
  const auto busy = [&](Optimizer optimizer, Runtime runtime) {
    const Workload load =
        prepare(parse_graph(kNet).value(), {.symbols = {}, .shapes = {}, .batch = 8},
                {.mode = Mode::kTraining, .precision = {}, .runtime = runtime, .optimizer = optimizer})
            .value();
    return network_parts(load, gpu, {}, {estimator, estimator.trust(gpu.id), compose}).value().whole.gpu;
  };
  const auto more = [&](Optimizer optimizer, Runtime runtime) {
    return busy(optimizer, runtime) - busy(Optimizer::kSgd, runtime);
  };
  const double pass = 4.0 * (64 * 64 * 9 + 64) / (0.9 * make_device(gpu, {}).value().bandwidth);
  EXPECT_NEAR(more(Optimizer::kAdam, Runtime::kPytorchEager) / pass, 15, 1e-6);
  EXPECT_NEAR(more(Optimizer::kSgdMomentum, Runtime::kPytorchEager) / pass, 5, 1e-6);
  EXPECT_NEAR(more(Optimizer::kAdam, Runtime::kTensorflow) / pass, 4, 1e-6);
}

// The benchmark adds its gradient up, which is a kernel; a network's is only handed on.
TEST(NetworkParts, AStochasticDepthThatNeverDropsHasNoKernel) {
  const Pack pack = Pack::open(JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack").value();
  const Estimator estimator = Estimator::from(pack).value();
  const ComposeConstants compose = read_compose(pack).value();
  const Gpu& gpu = **Catalogue::shipped().find("a30");
  const auto whole = [&](std::string_view depth) {
    const std::string text = fmt::format(R"(graph "n" {{
      input %x : f32[batch, 64, 56, 56]
      {}
      %z = activation({}) {{kind = relu}}
      output %z
    }})",
                                         depth.empty() ? "" : fmt::format("%y = stochastic_depth(%x) {}", depth),
                                         depth.empty() ? "%x" : "%y");
    const Workload load = prepare(parse_graph(text).value(), {.symbols = {}, .shapes = {}, .batch = 32},
                                  {.mode = Mode::kTraining, .precision = {}})
                              .value();
    return network_parts(load, gpu, {}, {estimator, estimator.trust(gpu.id), compose}).value().whole;
  };
  const Composition plain = whole("");
  EXPECT_GT(whole("{probability = 0.1}").gpu, plain.gpu + 50e-6);
  const Composition waiting = whole("{probability = 0}");
  EXPECT_EQ(waiting.gpu, plain.gpu);
  // Its call waits, awake.
  EXPECT_LT(waiting.energy - plain.energy, 200e-6 * make_device(gpu, {})->awake);
}

}  // namespace
}  // namespace joulecast
