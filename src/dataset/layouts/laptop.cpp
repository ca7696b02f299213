// SPDX-License-Identifier: Apache-2.0
// 52 kernels at 43 locked clocks on a laptop's GPU, of DarshEllisd/GPU-Power-Capping-.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The clock that was asked for is not always reached; the one that was is the setting.
Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "family", false, std::string(row.text("workload")));
  out.at.gpu = "laptop GPU with 6 GB (Ada)";
  add_caution(out.from.anomaly, "gpu-guessed");
  add_caution(out.from.anomaly, "start-up-included");
  out.per = "process";
  out.at.campaign = row.text("family");
  out.at.sm_clock = row.quantity<Hertz>("mean_sm_clock_hz");
  add_details(out, row, {"requested_sm_clock_hz", "baseline", "runtime_min_s", "runtime_max_s"});
  out.readings.repeats = row.optional_integer("repeats");
  out.readings.time = row.quantity<Seconds>("runtime_s");
  out.readings.power = row.quantity<Watts>("mean_power_w");
  out.readings.energy = row.quantity<Joules>("energy_j");
  out.readings.memory = row.quantity<Bytes>("mem_used_bytes");
  out.readings.memory_kind = out.readings.memory ? "smi" : "";
  const auto asked = row.quantity<Hertz>("requested_sm_clock_hz");
  JC_RETURN_IF_ERROR(row.status());
  if (asked && out.at.sm_clock && *out.at.sm_clock < 0.97 * *asked) add_caution(out.from.anomaly, "capped-clock");
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout laptop_layout() {
  return {"laptop_clock_sweep",
          {"family", "workload", "baseline", "requested_sm_clock_hz", "mean_sm_clock_hz", "runtime_s", "mean_power_w",
           "energy_j"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "DarshEllisd/GPU-Power-Capping-@3913ea4dd9",
           .licence = "no licence file",
           .protocol = "whole processes timed under Windows, mean of 2 or 3; nvidia-smi about every 0.1 s"}};
}

}  // namespace joulecast
