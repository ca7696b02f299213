// SPDX-License-Identifier: Apache-2.0
// Language and diffusion models of the ML.ENERGY leaderboard, versions 2 and 3. Power is that of all GPUs together.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

MeasuredOther network(Row& row, std::string_view gpus_column) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("model")));
  out.mode = "inference";
  out.precision = row.text("precision");
  if (!gpus_column.empty()) {
    out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent(gpus_column), 1'000'000));
  }
  return out;
}

// A time of one token is the reciprocal of the throughput: what one token costs when many requests share the GPU.
std::optional<Seconds> per_item(Row& row, std::string_view throughput) {
  const auto rate = row.quantity<Hertz>(throughput);
  return rate ? std::optional(1.0 / *rate) : std::nullopt;
}

Result<void> read_v3_llm(Row& row, RowSink& sink) {
  MeasuredOther out = network(row, "n_gpus");
  out.per = "output token";
  add_details(out, row,
              {"task", "total_params", "activated_params", "architecture", "tensor_parallel", "expert_parallel",
               "data_parallel", "max_num_seqs", "avg_batch_size", "avg_output_tokens", "median_itl_s", "p95_itl_s"});
  out.readings.time = per_item(row, "output_throughput_tokens_per_s");
  out.readings.power = row.quantity<Watts>("avg_power_w");
  out.readings.energy = row.quantity<Joules>("energy_per_token_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_v2_llm(Row& row, RowSink& sink) {
  MeasuredOther out = network(row, "n_gpus");
  out.per = "output token";
  add_details(out, row,
              {"domain", "task", "tensor_parallel", "pipeline_parallel", "max_batch_size", "avg_batch_size",
               "avg_output_tokens", "avg_tpot_s"});
  out.readings.time = per_item(row, "token_throughput_per_s");
  out.readings.power = row.quantity<Watts>("implied_power_all_gpus_w");
  out.readings.energy = row.quantity<Joules>("energy_per_token_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_v3_diffusion(Row& row, RowSink& sink) {
  MeasuredOther out = network(row, "n_gpus");
  out.per = "item";
  out.batch = row.extent("batch_size");
  add_details(out, row,
              {"task", "total_params", "activated_params", "architecture", "ring_degree", "ulysses_degree",
               "inference_steps", "height_px", "width_px", "frames", "fps", "batch_latency_s"});
  out.readings.time = per_item(row, "throughput_items_per_s");
  out.readings.power = row.quantity<Watts>("avg_power_w");
  out.readings.energy = row.quantity<Joules>("energy_per_item_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_v2_diffusion(Row& row, RowSink& sink) {
  MeasuredOther out = network(row, "");
  out.per = "batch of items";
  out.batch = row.extent("batch_size");
  add_details(out, row, {"task", "inference_steps", "frames"});
  out.readings.time = row.quantity<Seconds>("batch_latency_s");
  out.readings.power = row.quantity<Watts>("mean_power_w");
  out.readings.energy = row.quantity<Joules>("batch_energy_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Origin version3() {
  return {.source = "ml-energy/leaderboard@0cd52dab89",
          .licence = "no licence file",
          .protocol = "steady state of vLLM or xDiT under default limits; all GPUs added up"};
}
Origin version2() {
  return {.source = "ml-energy/leaderboard-v2@c3af7f31e2",
          .licence = "Apache-2.0",
          .protocol = "steady state of vLLM or diffusers under default limits; all GPUs added up"};
}

}  // namespace

TableLayout mlenergy_v3_llm_layout() {
  return {"mlenergy_v3_llm",
          {"model", "task", "gpu", "n_gpus", "max_num_seqs", "output_throughput_tokens_per_s", "avg_power_w",
           "energy_per_token_j", "energy_per_request_j", "median_itl_s"},
          [](const TableContext&) { return Result<RowReader>(read_v3_llm); },
          nullptr,
          version3()};
}
TableLayout mlenergy_v2_llm_layout() {
  return {"mlenergy_v2_llm",
          {"domain", "task", "model", "gpu", "n_gpus", "max_batch_size", "token_throughput_per_s",
           "energy_per_request_j", "energy_per_token_j", "implied_power_all_gpus_w"},
          [](const TableContext&) { return Result<RowReader>(read_v2_llm); },
          nullptr,
          version2()};
}
TableLayout mlenergy_v3_diffusion_layout() {
  return {"mlenergy_v3_diffusion",
          {"model", "task", "gpu", "n_gpus", "ulysses_degree", "batch_size", "inference_steps", "batch_latency_s",
           "throughput_items_per_s", "avg_power_w", "energy_per_item_j"},
          [](const TableContext&) { return Result<RowReader>(read_v3_diffusion); },
          nullptr,
          version3()};
}
TableLayout mlenergy_v2_diffusion_layout() {
  return {"mlenergy_v2_diffusion",
          {"task", "model", "gpu", "batch_size", "inference_steps", "frames", "batch_latency_s", "batch_energy_j",
           "energy_per_item_j", "mean_power_w"},
          [](const TableContext&) { return Result<RowReader>(read_v2_diffusion); },
          nullptr,
          version2()};
}

}  // namespace joulecast
