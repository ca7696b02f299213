// SPDX-License-Identifier: Apache-2.0
// 30,000 GPT-like networks on 8 GPUs, of automl/HW-GPT-Bench: a time of the device, and in another run power.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// Sequences of 1024 tokens a forward of the latency run had, found from its FLOPs; the power run always had 8.
constexpr std::int64_t kPowerBatch = 8;
std::int64_t latency_batch(std::string_view scale) {
  return scale == "s" ? 8 : scale == "m" ? 4 : 1;
}

// The power was read during one forward. Below this the sensor still shows what was before; on A100 and H100 it does so
// in every run (their windows are all shorter than what they average over).
constexpr Seconds kSensorWindow{0.2};
bool power_is_stale(std::string_view gpu, const std::optional<Seconds>& window) {
  return gpu == "A100" || gpu == "H100" || !window || *window < kSensorWindow;
}

// Under autocast, to what the chip has.
Precision precision_on(std::string_view gpu) {
  const bool bf16 = gpu == "RTX A6000" || gpu == "A40" || gpu == "A100" || gpu == "H100";
  return bf16 ? Precision::kAmpBf16 : Precision::kAmp;
}

void fill(Row& row, std::string_view gpu, MeasuredNetwork& out) {
  out.at.gpu = gpu;
  out.at.precision = precision_on(gpu);
  out.at.runtime = Runtime::kPytorchEager;
  out.at.software = "pytorch 2";
  out.model = fmt::format("hwgpt-{}_{}", row.text("scale"), row.text("arch_id"));
  out.sequence_length = 1024;
}

// A forward beside which a thread polled the sensor without a pause. Where that is long enough for the sensor, the GPU
// sets the pace; shorter ones wait for the thread, by up to twice their time.
void add_power(std::string_view gpu, MeasuredNetwork out, RowSink& sink) {
  if (!out.readings.time) return;
  if (!power_is_stale(gpu, out.readings.time)) {
    if (out.readings.power) out.readings.energy = *out.readings.time * *out.readings.power;
    return sink.add(std::move(out));
  }
  MeasuredOther other;
  static_cast<MeasuredNetwork&>(other) = std::move(out);
  other.network = true;
  other.reason = "a forward too short for the sensor that was polled beside it";
  other.per = "forward";
  other.mode = "inference";
  other.precision = name(precision_on(gpu));
  other.readings.power.reset();
  add_caution(other.from.anomaly, "power-refused");
  sink.add(std::move(other));
}

Result<void> read_network(Row& row, RowSink& sink) {
  const std::string_view gpu = row.text("gpu");
  MeasuredNetwork latency;
  fill(row, gpu, latency);
  latency.batch = latency_batch(row.text("scale"));
  latency.kernels_alone = true;
  latency.readings.time = row.quantity<Seconds>("latency_s");
  MeasuredNetwork power;
  fill(row, gpu, power);
  power.batch = kPowerBatch;
  power.at.campaign = "power";
  power.readings.time = row.quantity<Seconds>("power_window_s");
  power.readings.power = row.quantity<Watts>("mean_power_w");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(latency));
  add_power(gpu, std::move(power), sink);
  return {};
}

// Memory after a forward: weights and their cached copy.
Result<void> read_architecture(Row& row, RowSink& sink) {
  constexpr std::pair<const char*, const char*> kColumns[] = {{"A100", "mem_allocated_bytes_a100"},
                                                              {"RTX 2080 Ti", "mem_allocated_bytes_rtx2080"}};
  bool any = false;
  for (const auto& [gpu, column] : kColumns) {
    MeasuredOther out;
    fill(row, gpu, out);
    out.network = true;
    out.reason = "memory after a forward, not at most";
    out.mode = "inference";
    out.precision = name(precision_on(gpu));
    out.per = "after a forward";
    add_details(out, row, {"n_layer", "embed_dim", "n_head_per_layer", "mlp_ratio_per_layer", "bias", "params"});
    out.readings.memory = row.quantity<Bytes>(column);
    out.readings.memory_kind = "allocated-after";
    add_caution(out.from.anomaly, "not-a-peak");
    JC_RETURN_IF_ERROR(row.status());
    if (!out.readings.memory) continue;
    any = true;
    sink.add(std::move(out));
  }
  return any ? Result<void>() : unsupported("an architecture without a measurement");
}

Origin origin() {
  return {.source = "automl/HW-GPT-Bench@cfddd10217",
          .licence = "Apache-2.0",
          .protocol = "time: median of 10 sums of the profiler's device times; power: NVML polled during one forward"};
}

}  // namespace

TableLayout hwgpt_layout() {
  return {"hwgpt",
          {"gpu", "scale", "arch_id", "latency_s", "mean_power_w", "power_window_s", "energy_reported_j"},
          [](const TableContext&) { return Result<RowReader>(read_network); },
          nullptr,
          origin()};
}

TableLayout hwgpt_architectures_layout() {
  return {"hwgpt_architectures",
          {"scale", "arch_id", "n_layer", "embed_dim", "params", "mem_allocated_bytes_a100"},
          [](const TableContext&) { return Result<RowReader>(read_architecture); },
          nullptr,
          origin()};
}

}  // namespace joulecast
