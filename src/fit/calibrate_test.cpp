// SPDX-License-Identifier: Apache-2.0
// Corrections by a few measurements.
#include "fit/calibrate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "predict/pack_names.h"

namespace joulecast {
namespace {

const std::string kShipped = JOULECAST_SOURCE_DIR "/data/packs/joulecast.jcpack";

std::string temporary(const std::string& name) {
  // Tests run side by side.
  return testing::TempDir() + "calibrate_" + std::to_string(::getpid()) + "_" + name;
}

// Everything takes 1.3 times as long as the shipped pack says for a T4 (by its own figures, so that only the
// correction is tested).
class Calibrate : public testing::Test {
 protected:
  static constexpr double kSlower = 1.3;

  static double time_of(const Estimator& estimator, std::int64_t elements) {
    const Gpu& gpu = **Catalogue::shipped().find("l4");
    const Device device = make_device(gpu, {}).value();
    const Work work = PointwiseWork{.kind = PointwiseKind::kRelu,
                                    .elements = elements,
                                    .forward_bytes = 8 * elements,
                                    .backward_bytes = 12 * elements};
    OperationPrediction out;
    EXPECT_TRUE(estimator.predict({&work, 1}, device, {}, estimator.trust(gpu.id), {&out, 1}));
    return out.time;
  }

  void SetUp() override {
    const Pack pack = Pack::open(kShipped).value();
    const Estimator shipped = Estimator::from(pack).value();
    std::ofstream rows(temporary("rows.csv"));
    rows << "name,gpu,mode,precision,runtime,operator,operands,attributes,time_s\n";
    for (const std::int64_t mib : {16, 32, 48, 64, 80, 96, 112, 128}) {
      const std::int64_t elements = mib << 20;
      rows << "relu,l4,inference,fp32,pytorch-eager,activation,\"f32[" << mib << ", 1048576]\",kind = relu,"
           << kSlower * time_of(shipped, elements) << "\n";
    }
  }
  void TearDown() override {
    std::filesystem::remove(temporary("rows.csv"));
    std::filesystem::remove(temporary("out.jcpack"));
  }
};

TEST_F(Calibrate, MovesTheGpuAndNoOther) {
  const auto done =
      calibrate({.tables = {temporary("rows.csv")}, .layouts = {}, .pack = kShipped, .out = temporary("out.jcpack")},
                Catalogue::shipped(), [](const std::string&) {});
  ASSERT_TRUE(done) << done.error().text();
  ASSERT_EQ(done->size(), 1U);
  EXPECT_EQ(done->front().gpu, "l4");
  EXPECT_EQ(done->front().time.rows, 8U);
  EXPECT_NEAR(*done->front().time.before, 1.0 - 1.0 / kSlower, 1e-3);
  EXPECT_LT(*done->front().time.after, *done->front().time.before / 2);
  EXPECT_FALSE(done->front().power.before);

  const Pack old = Pack::open(kShipped).value();
  const Pack made = Pack::open(temporary("out.jcpack")).value();
  const Estimator before = Estimator::from(old).value();
  const Estimator after = Estimator::from(made).value();
  const double ratio = time_of(after, 100 << 20) / time_of(before, 100 << 20);
  EXPECT_GT(ratio, 1.15);
  EXPECT_LT(ratio, kSlower);
  EXPECT_FALSE(after.trust("t4").correction);
  EXPECT_EQ(made.forests(), old.forests());
}

TEST_F(Calibrate, AgainReplacesAndASecondGpuIsAdded) {
  const auto quiet = [](const std::string&) {};
  const std::string out = temporary("out.jcpack");
  ASSERT_TRUE(calibrate({{temporary("rows.csv")}, {}, kShipped, out}, Catalogue::shipped(), quiet));
  const auto numbers = [&] {
    const Pack pack = Pack::open(out).value();
    return corrections_of(pack.table(pack_names::kCorrections).value());
  };
  const Corrections once = numbers();
  ASSERT_TRUE(calibrate({{temporary("rows.csv")}, {}, out, out}, Catalogue::shipped(), quiet));
  EXPECT_EQ(numbers().at("l4").time, once.at("l4").time);
}

// Factors found after the forests were fitted come in without fitting them again; the report says whence.
TEST_F(Calibrate, TakesIntervalFactorsWithoutAnyRow) {
  const std::string factors = temporary("factors.json");
  std::ofstream(factors) << R"({"schema": "joulecast.calibration/1", "evidence": {},
                                "intervals": {"operation/conv/elsewhere/time": 1.75, "network/time/edge": 0.5}})";
  CalibrateOptions options{{}, {}, kShipped, temporary("out.jcpack")};
  options.calibration = factors;
  const auto done = calibrate(options, Catalogue::shipped(), [](const std::string&) {});
  std::filesystem::remove(factors);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_TRUE(done->empty());
  const Pack old = Pack::open(kShipped).value();
  const Pack made = Pack::open(temporary("out.jcpack")).value();
  const auto before = old.table(pack_names::kIntervals).value();
  const auto after = made.table(pack_names::kIntervals).value();
  EXPECT_EQ(after.find("operation/conv/elsewhere/time"), 1.75);
  EXPECT_EQ(after.find("network/time/edge"), 0.5);
  EXPECT_EQ(after.find("network/time/outside"), before.find("network/time/outside"));
  EXPECT_EQ(made.forests(), old.forests());
  EXPECT_EQ(made.table(pack_names::kCorrections)->size(), old.table(pack_names::kCorrections)->size());
  EXPECT_NE(made.json(pack_names::kReport)->find("\"operation/conv/elsewhere/time\": 1.75"), std::string_view::npos);
}

TEST_F(Calibrate, WritesNothingForFactorsThatAreNone) {
  const std::string factors = temporary("factors.json");
  CalibrateOptions options{{}, {}, kShipped, temporary("out.jcpack")};
  options.calibration = factors;
  const auto said = [&](const char* text) {
    std::ofstream(factors) << text;
    return calibrate(options, Catalogue::shipped(), [](const std::string&) {}).error().text();
  };
  EXPECT_EQ(said("{}"), factors + ": no joulecast.calibration/1");
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  EXPECT_EQ(said((R"({"schema": "joulecast.calibration/1", "intervals": {}, "x": )" + deep + "}").c_str()),
            factors + ": no joulecast.calibration/1");
  EXPECT_EQ(said(R"({"schema": "joulecast.calibration/1", "intervals": {"network/time/edge": -1}})"),
            factors + ": 'network/time/edge' is no logarithm of a factor");
  EXPECT_EQ(
      said(R"({"schema": "joulecast.calibration/1", "intervals": {"conv/seen/time": 0.5}})"),
      factors + ": 'conv/seen/time' is no interval; they are called network/time/inside or operation/conv/seen/time");
  std::filesystem::remove(factors);
  EXPECT_FALSE(std::filesystem::exists(options.out));
}

// Twelve rows of one network say nothing of another: without its rows nothing of its own is known.
TEST_F(Calibrate, NetworksAreJudgedByCorrectionsWithoutThem) {
  const std::string graphs = temporary("graphs");
  std::filesystem::create_directories(graphs);
  std::ofstream(graphs + "/net.jcg") << R"(graph "n" {
    input %x : f32[batch, 1048576]
    %y = activation(%x) {kind = relu}
    output %y
  })";
  std::ofstream rows(temporary("rows.csv"));
  rows << "kind,name,gpu,mode,precision,runtime,batch,time_s\n";
  for (int batch = 64; batch < 76; ++batch)
    rows << "network,net,l4,inference,fp32,pytorch-eager," << batch << "," << 1e-4 * batch << "\n";
  rows.close();
  CalibrateOptions options{{temporary("rows.csv")}, {}, kShipped, temporary("out.jcpack")};
  const auto quiet = [](const std::string&) {};
  EXPECT_EQ(calibrate(options, Catalogue::shipped(), quiet).error().text(),
            "no row of the tables says anything of a GPU");
  options.graphs = graphs;
  const auto done = calibrate(options, Catalogue::shipped(), quiet);
  std::filesystem::remove_all(graphs);
  ASSERT_TRUE(done) << done.error().text();
  EXPECT_EQ(done->front().time.rows, 12U);
  EXPECT_NEAR(*done->front().time.after, *done->front().time.before, 1e-12);
  const Pack made = Pack::open(temporary("out.jcpack")).value();
  const Corrections corrections = corrections_of(made.table(pack_names::kCorrections).value());
  EXPECT_NE(corrections.at("l4").time[0], 0.0);
}

TEST_F(Calibrate, RowsThatSayNothingAreAnError) {
  std::ofstream(temporary("rows.csv")) << "name,gpu,mode,precision,time_s\n";
  const auto done = calibrate({{temporary("rows.csv")}, {}, kShipped, temporary("out.jcpack")}, Catalogue::shipped(),
                              [](const std::string&) {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(), "no row of the tables says anything of a GPU");
  EXPECT_FALSE(std::filesystem::exists(temporary("out.jcpack")));
}

}  // namespace
}  // namespace joulecast
