// SPDX-License-Identifier: Apache-2.0
// Video diffusion models on an H100, of JulienDelavande/benchlab.
#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

constexpr Seconds kShortestWindow{1.0};  // below, the sensor averages over more than the run
constexpr Watts kCapped{680.0};          // of 700

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("model")));
  out.mode = "inference";
  out.per = "video";
  out.at.software = "diffusers";
  add_details(out, row, {"height", "width", "frames", "steps", "runs", "cpu_energy_j"});
  out.readings.time = row.quantity<Seconds>("duration_s");
  out.readings.energy = row.quantity<Joules>("gpu_energy_j");
  out.readings.power = row.quantity<Watts>("gpu_mean_power_w");
  JC_RETURN_IF_ERROR(row.status());
  if (out.readings.time && *out.readings.time < kShortestWindow) add_caution(out.from.anomaly, "power-window-short");
  if (out.readings.power && *out.readings.power > kCapped) add_caution(out.from.anomaly, "capped-clock");
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout text2video_layout() {
  return {
      "text2video",
      {"model", "gpu", "gpus", "height", "width", "frames", "steps", "duration_s", "gpu_energy_j", "gpu_mean_power_w"},
      [](const TableContext&) { return Result<RowReader>(read); },
      nullptr,
      {.source = "JulienDelavande/benchlab@95ad3b4",
       .licence = "no licence file",
       .protocol = "CodeCarbon, the GPU's part"}};
}

}  // namespace joulecast
