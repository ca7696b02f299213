// SPDX-License-Identifier: Apache-2.0
// Stages of large language models at locked clocks, and pipelines under power limits, of the Perseus artifact.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The A40 runs into its limit of 300 W at about this power; its clock is then not the one that was locked.
constexpr Watts kA40Capped{290.0};

Result<void> read_stage(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, fmt::format("{} stage {}", row.text("model"), row.text("stage")));
  out.mode = "training";
  out.precision = row.text("precision");
  out.per = fmt::format("{} of a stage", row.text("instruction"));
  out.at.sm_clock = row.quantity<Hertz>("sm_clock_hz");
  out.readings.time = row.quantity<Seconds>("time_s");
  out.readings.energy = row.quantity<Joules>("energy_j");
  out.readings.power = row.quantity<Watts>("mean_power_w");
  JC_RETURN_IF_ERROR(row.status());
  if (out.at.gpu == "A40" && out.readings.power && *out.readings.power > kA40Capped) {
    add_caution(out.from.anomaly, "capped-clock");
  }
  sink.add(std::move(out));
  return {};
}

Result<void> read_pipeline(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("model")));
  out.mode = "training";
  out.per = "iteration of all GPUs";
  const std::int64_t gpus = row.extent("n_gpus");
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(gpus, 1'000'000));
  out.batch = row.extent("global_batch");
  // Where stages differ, no single limit holds: the details have them.
  if (row.text("policy") == "global") out.at.power_limit = row.quantity<Watts>("power_limit_mean_w");
  add_details(out, row, {"policy", "dp", "tp", "pp", "microbatch_size", "num_microbatches", "power_limits_w"});
  out.readings.time = row.quantity<Seconds>("iteration_time_s");
  out.readings.energy = row.quantity<Joules>("iteration_energy_j");
  if (const auto power = row.quantity<Watts>("mean_power_per_gpu_w")) {
    out.readings.power = *power * static_cast<double>(gpus);
  }
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Origin origin() {
  return {.source = "ml-energy/zeus@1b1c4a9d7f (kronos, sosp24_data)",
          .licence = "Apache-2.0",
          .protocol = "NVML energy counter around repeated instructions at a locked clock, or around iterations"};
}

}  // namespace

TableLayout perseus_stage_layout() {
  return {"perseus_stage_clock_sweep",
          {"gpu", "model", "precision", "stage", "instruction", "sm_clock_hz", "time_s", "energy_j", "mean_power_w"},
          [](const TableContext&) { return Result<RowReader>(read_stage); },
          nullptr,
          origin()};
}

TableLayout perseus_pipeline_layout() {
  return {"perseus_powerlimit_pipeline",
          {"gpu", "n_gpus", "policy", "model", "global_batch", "power_limits_w", "power_limit_mean_w",
           "iteration_time_s", "iteration_energy_j"},
          [](const TableContext&) { return Result<RowReader>(read_pipeline); },
          nullptr,
          origin()};
}

}  // namespace joulecast
