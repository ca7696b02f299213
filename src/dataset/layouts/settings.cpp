// SPDX-License-Identifier: Apache-2.0
// Sweeps of power limits and clocks: Zeus (ml-energy/zeus, NSDI'23), Perseus (its branch kronos, SOSP'24), the boards
// of Guerreiro et al. (hpc-ulisboa/gpupowermodel, TPDS 2019), NVIDIA's H200 in MLPerf Inference 4.1.
#include <fmt/format.h>

#include <algorithm>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The boards behind the short names: 250 W, 250 W and 260 W are the default limits of these.
std::string_view zeus_board(std::string_view name) {
  if (name == "V100") return "v100-pcie-16gb";
  if (name == "P100") return "p100-pcie-16gb";
  if (name == "RTX6000" || name == "RTX 6000") return "quadro-rtx-6000";
  return name;
}

// One measurement a cell. The optimizer hardly changes the work of a step, so its column tells repeats apart.
Result<void> read_zeus(Row& row, RowSink& sink) {
  MeasuredSetting out;
  out.at.gpu = zeus_board(row.text("gpu"));
  out.at.gpu_label = row.text("gpu");
  out.at.mode = Mode::kTraining;
  out.at.power_limit = row.quantity<Watts>("power_limit_w");
  out.workload = row.text("network");
  out.variant = fmt::format("{} batch {}", row.text("dataset"), row.extent("batch_size"));
  out.repeat = row.text("optimizer");
  out.readings.time = row.quantity<Seconds>("time_per_epoch_s");
  out.readings.power = row.quantity<Watts>("average_power_w");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// Stages 0 to 6 of a model are copies of each other up to a factor in time: only the first and the last count.
Result<void> read_perseus_clocks(Row& row, RowSink& sink) {
  MeasuredSetting out;
  out.at.gpu = row.text("gpu");
  out.at.mode = Mode::kTraining;
  out.workload = fmt::format("{} {}", row.text("model"), row.text("instruction"));
  const std::int64_t stage = row.integer("stage");
  out.variant = fmt::format("stage {}", stage);
  out.from.primary = stage == 0 || stage == 7;
  out.sm_clock = row.quantity<Hertz>("sm_clock_hz");
  out.readings.time = row.quantity<Seconds>("time_s");
  out.readings.power = row.quantity<Watts>("mean_power_w");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// Several GPUs; those with a limit per stage mix settings.
Result<void> read_perseus_limits(Row& row, RowSink& sink) {
  if (row.text("policy") != "global") return unsupported("limits that differ between the GPUs");
  MeasuredSetting out;
  out.at.gpu = row.text("gpu");
  out.at.mode = Mode::kTraining;
  out.at.power_limit = row.quantity<Watts>("power_limit_mean_w");
  out.workload = row.text("model");
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent("n_gpus"), 1 << 20));
  out.variant = fmt::format("batch {} on {} GPUs, {}x{}x{}", row.text("global_batch"), row.text("n_gpus"),
                            row.text("dp"), row.text("tp"), row.text("pp"));
  out.readings.time = row.quantity<Seconds>("iteration_time_s");
  out.readings.power = row.quantity<Watts>("mean_power_per_gpu_w");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// The boards' names without what stands in parentheses.
std::string_view bare(std::string_view name) {
  return name.substr(0, name.find(" ("));
}

// Power alone, without times. Only the default memory clocks of the two boards that were swept finely are of use: the
// Titan V's powers do not follow its clock, the others have three or four clocks.
Result<void> read_guerreiro(Row& row, RowSink& sink) {
  MeasuredSetting out;
  out.at.gpu = bare(row.text("gpu"));
  out.sm_clock = row.quantity<Hertz>("core_clock_hz");
  const double memory_clock = row.number("memory_clock_hz") / 1e6;
  out.from.primary =
      (out.at.gpu == "GTX Titan X" && memory_clock == 3505.0) || (out.at.gpu == "Titan Xp" && memory_clock == 5705.0);
  out.workload = fmt::format("{} {}", row.text("suite"), row.text("benchmark"));
  out.variant = fmt::format("memory at {:.0f} MHz", memory_clock);
  out.readings.power = row.quantity<Watts>("power_w");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

const std::vector<TableLayout>& sweep_layouts() {
  static const std::vector<TableLayout> all = {
      {"zeus_power_limit_sweep",
       {"gpu", "dataset", "network", "batch_size", "optimizer", "power_limit_w", "time_per_epoch_s", "average_power_w"},
       [](const TableContext&) { return Result<RowReader>(read_zeus); }},

      {"perseus_stage_clock_sweep",
       {"gpu", "model", "stage", "instruction", "sm_clock_hz", "time_s", "mean_power_w"},
       [](const TableContext&) { return Result<RowReader>(read_perseus_clocks); }},

      {"perseus_powerlimit_pipeline",
       {"gpu", "n_gpus", "policy", "model", "global_batch", "dp", "tp", "pp", "power_limit_mean_w", "iteration_time_s",
        "mean_power_per_gpu_w"},
       [](const TableContext&) { return Result<RowReader>(read_perseus_limits); }},

      {"guerreiro_dvfs_microbench",
       {"gpu", "suite", "benchmark", "core_clock_hz", "memory_clock_hz", "power_w", "util_dram"},
       [](const TableContext&) { return Result<RowReader>(read_guerreiro); }},
  };
  return all;
}

}  // namespace joulecast
