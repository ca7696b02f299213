// SPDX-License-Identifier: Apache-2.0
// MLPerf results with power at the plug of the whole system: inference of all rounds, H200 at lower limits, training.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

int count_of(std::optional<std::int64_t> value) {
  return static_cast<int>(std::clamp<std::int64_t>(value.value_or(1), 1, 1'000'000));
}

std::optional<Seconds> per_item(Row& row, std::string_view throughput) {
  const auto rate = row.quantity<Hertz>(throughput);
  return rate ? std::optional(1.0 / *rate) : std::nullopt;
}

// The time of an item is the reciprocal of the throughput, but in single stream its latency.
Result<void> read_inference(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "accelerator", true, std::string(row.text("model")));
  if (out.model.empty()) out.model = "not stated";
  out.mode = "inference";
  out.per = "item";
  out.at.scope = PowerScope::kMachine;
  out.at.software = row.text("software");
  out.at.power_limit = row.quantity<Watts>("power_limit_w_in_notes");
  const auto accelerators = row.optional_integer("accelerators");
  const auto nodes = row.optional_integer("nodes");
  out.gpu_count = count_of(accelerators.value_or(1) * std::clamp<std::int64_t>(nodes.value_or(1), 1, 100'000));
  add_details(
      out, row,
      {"category", "version", "public_id", "organization", "system", "nodes", "host_cpu", "scenario", "notes", "maxq"});
  out.readings.time = per_item(row, "samples_per_s");
  if (!out.readings.time) out.readings.time = per_item(row, "queries_per_s");
  if (!out.readings.time) out.readings.time = per_item(row, "tokens_per_s");
  if (!out.readings.time) {
    out.readings.time = row.quantity<Seconds>("latency_s");
    out.per = "query";
  }
  out.readings.power = row.quantity<Watts>("system_power_w");
  out.readings.energy = row.quantity<Joules>(out.per == "query" ? "energy_j_per_stream" : "system_energy_j_per_item");
  JC_RETURN_IF_ERROR(row.status());
  if (row.text("ambiguous") == "1") return unsupported("several different results under the same name");
  if (!out.readings.time && !out.readings.power && !out.readings.energy) return unsupported("no result");
  sink.add(std::move(out));
  return {};
}

// Of one round and one GPU, at the limits of its MaxQ submissions; the default ones have no power.
Result<void> read_h200(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("benchmark")));
  out.mode = "inference";
  out.at.scope = PowerScope::kMachine;
  out.at.power_limit = row.quantity<Watts>("gpu_power_limit_w");
  out.gpu_count = count_of(row.optional_integer("n_gpus"));
  add_details(out, row, {"system", "scenario", "valid", "power_window_s"});
  const bool tokens = !row.text("tokens_per_s").empty();
  out.per = tokens ? "output token" : "item";
  for (const char* column : {"tokens_per_s", "completed_tokens_per_s", "samples_per_s", "completed_samples_per_s"}) {
    if (!out.readings.time) out.readings.time = per_item(row, column);
  }
  out.readings.power = row.quantity<Watts>("wall_power_mean_w");
  out.readings.power_std = row.deviation<Watts>("wall_power_stdev_w");
  out.readings.repeats = row.optional_integer("power_samples");
  out.readings.energy = row.quantity<Joules>(tokens ? "wall_energy_per_token_j" : "wall_energy_per_sample_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_training(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "accelerator", true, std::string(row.text("benchmark")));
  out.mode = "training";
  out.per = "training run";
  out.at.scope = PowerScope::kMachine;
  out.gpu_count = count_of(row.optional_integer("accelerators"));
  add_details(out, row, {"public_id", "organization", "system", "nodes"});
  out.readings.time = row.quantity<Seconds>("time_to_train_s");
  out.readings.energy = row.quantity<Joules>("energy_j");
  // Of up to 64 machines: more than any single reading can be.
  const auto power = row.optional_number("mean_power_w");
  JC_RETURN_IF_ERROR(row.status());
  if (power && *power > 0.0) out.readings.power = Watts{*power};
  sink.add(std::move(out));
  return {};
}

constexpr const char* kLicence = "MLCommons' rules on using results apply";

}  // namespace

TableLayout mlperf_inference_layout() {
  return {"mlperf_power_inference",
          {"category", "version", "public_id", "system", "accelerator", "accelerators", "model", "scenario",
           "system_power_w", "energy_j_per_stream", "system_energy_j_per_item", "ambiguous"},
          [](const TableContext&) { return Result<RowReader>(read_inference); },
          nullptr,
          {.source = "aryatschand/MLPerf-Power-HPCA-2025@49b63de688",
           .licence = kLicence,
           .protocol = "power meter at the system's plug over the whole run"}};
}
TableLayout mlperf_h200_layout() {
  return {"mlperf_inference_h200",
          {"system", "gpu", "n_gpus", "gpu_power_limit_w", "benchmark", "scenario", "valid", "wall_power_mean_w",
           "wall_energy_per_sample_j", "wall_energy_per_token_j"},
          [](const TableContext&) { return Result<RowReader>(read_h200); },
          nullptr,
          {.source = "mlcommons/inference_results_v4.1@198fc46799",
           .licence = "Apache-2.0; MLCommons' rules on using results apply",
           .protocol = "1 Hz meter at the plug of a server with 8 GPUs"}};
}
TableLayout mlperf_training_layout() {
  return {"mlperf_power_training",
          {"public_id", "organization", "system", "accelerator", "accelerators", "benchmark", "time_to_train_s",
           "energy_j", "mean_power_w"},
          [](const TableContext&) { return Result<RowReader>(read_training); },
          nullptr,
          {.source = "aryatschand/MLPerf-Power-HPCA-2025@49b63de688",
           .licence = kLicence,
           .protocol = "power of all systems, wall or DC, over the run"}};
}

}  // namespace joulecast
