// SPDX-License-Identifier: Apache-2.0
// The published tables themselves, where they are: in $JOULECAST_SHARED_DATA or ../shared/data beside the sources.
// They are not part of the project; what must be read from each is stated here.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <set>

#include "dataset/table.h"

namespace joulecast {
namespace {

struct Published {
  const char* file;
  const char* layout;
  std::size_t operations, networks, unmapped;
  std::size_t others = 0;  // rows of sweeps
};

constexpr Published kPublished[] = {
    {"operations/heidelberg_operations.csv", "heidelberg_operations", 11418, 0, 0},
    {"operations/aic_gemm_bf16.csv", "aic_gemm", 214452, 0, 0},
    {"operations/aic_gemm_fp8.csv", "aic_gemm", 178709, 0, 0},
    {"operations/aic_prefill_attention.csv", "aic_attention", 50643, 0, 0},
    {"operations/aic_decode_attention.csv", "aic_attention", 56023, 0, 0},
    {"operations/aic_power_gemm_h200_sxm.csv", "aic_power_gemm", 65268, 0, 0},
    {"operations/aic_power_gemm_b200_sxm.csv", "aic_power_gemm", 134491, 0, 0},
    {"operations/aic_power_attention_h200_sxm.csv", "aic_power_attention", 121509, 0, 0},
    {"operations/aic_power_attention_b200_sxm.csv", "aic_power_attention", 192592, 0, 0},
    {"operations/neusight_gemm.csv", "neusight_gemm", 138189, 0, 0},
    {"operations/neusight_conv.csv", "neusight_conv", 22959, 0, 1703},
    {"operations/neusight_vec.csv", "neusight_vec", 139193, 0, 0},
    {"operations/cde_conv.csv", "cde_conv", 0, 125000, 0},
    {"operations/cde_dense.csv", "cde_dense", 0, 150000, 0},
    {"operations/deepbench_ops.csv", "deepbench_ops", 3276, 0, 3935},
    {"operations/vidur_llm_ops.csv", "vidur_llm_ops", 139872, 0, 34968},
    {"networks/heidelberg_networks.csv", "heidelberg_networks", 0, 177, 0},
    {"networks/timm_benchmark.csv", "timm_benchmark", 0, 19107, 0},
    {"networks/torchvision_gpu_benchmark.csv", "torchvision_gpu_benchmark", 0, 2612, 0},
    {"networks/profet_train.csv", "profet_train", 0, 7983, 0},
    {"networks/neusight_e2e.csv", "neusight_e2e", 0, 55, 3},
    {"networks/neusight_e2e_ops.csv", "neusight_e2e_ops", 1035, 0, 2052},
    {"power/zeus_power_limit_sweep.csv", "zeus_power_limit_sweep", 0, 0, 0, 1048},
    {"power/perseus_stage_clock_sweep.csv", "perseus_stage_clock_sweep", 0, 0, 0, 2176},
    {"power/perseus_powerlimit_pipeline.csv", "perseus_powerlimit_pipeline", 0, 0, 0, 65},
    {"power/guerreiro_dvfs_microbench.csv", "guerreiro_dvfs", 0, 0, 0, 13301},
};

// What a failure calls the case.
void PrintTo(const Published& table, std::ostream* out) {
  *out << table.file;
}

std::filesystem::path data_folder() {
  const char* set = std::getenv("JOULECAST_SHARED_DATA");
  return set != nullptr ? std::filesystem::path(set) : std::filesystem::path(JOULECAST_SOURCE_DIR) / "../shared/data";
}

class PublishedTable : public testing::TestWithParam<Published> {};
INSTANTIATE_TEST_SUITE_P(, PublishedTable, testing::ValuesIn(kPublished),
                         [](const auto& table) { return std::filesystem::path(table.param.file).stem().string(); });

// Every row counted, every operation a graph whose types can be inferred, with a time and a GPU.
TEST_P(PublishedTable, IsReadWhole) {
  const auto path = data_folder() / GetParam().file;
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is not there (set JOULECAST_SHARED_DATA)";
  std::size_t operations = 0;
  std::size_t networks = 0;
  std::size_t others = 0;
  std::set<const Graph*> seen;
  TableSink sink;
  sink.operation = [&](const MeasuredOperation& row) {
    ++operations;
    ASSERT_TRUE(row.readings.time && !row.at.gpu.empty() && !row.group.empty()) << "line " << row.from.line;
    if (!seen.insert(row.graph.get()).second) return;
    ASSERT_TRUE(validate(*row.graph)) << row.label;
    ASSERT_EQ(row.graph->nodes.size(), 1U);
    const auto types = infer_types(*row.graph, {});
    ASSERT_TRUE(types) << row.label << ": " << types.error().text();
  };
  sink.network = [&](const MeasuredNetwork& row) {
    ++networks;
    ASSERT_TRUE(row.readings.time && !row.at.gpu.empty() && !row.model.empty()) << "line " << row.from.line;
  };
  if (GetParam().others > 0) {
    sink.other = [&](const MeasuredOther& row) {
      ++others;
      ASSERT_TRUE(row.readings.power && !row.at.gpu.empty() && !row.model.empty()) << "line " << row.from.line;
    };
  }
  const auto table = read_table(path, sink);
  ASSERT_TRUE(table) << table.error().text();
  EXPECT_EQ(table->layout, GetParam().layout);
  EXPECT_EQ(operations, GetParam().operations);
  EXPECT_EQ(networks, GetParam().networks);
  EXPECT_EQ(table->unmapped.rows(), GetParam().unmapped);
  EXPECT_EQ(others, GetParam().others);
}

}  // namespace
}  // namespace joulecast
