// SPDX-License-Identifier: Apache-2.0
// NAS-Bench-101 cells trained for a few epochs of CIFAR-10, of PedramBakh/EC-NAS-Bench.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

constexpr std::int64_t kBatch = 256;  // 625 steps of 40,000 images in 4 epochs
constexpr std::int64_t kImage = 32;

// A step of the training alone.
MeasuredNetwork step(Row& row) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  out.at.mode = Mode::kTraining;
  out.at.precision = Precision::kFp32;
  out.at.runtime = Runtime::kTensorflow;
  out.at.software = "tensorflow";
  out.model = fmt::format("nasbench101-{}", row.text("arch_hash"));
  out.batch = kBatch;
  out.image_size = kImage;
  out.channels = 3;
  const auto time = row.quantity<Seconds>("training_time_s");
  const std::int64_t steps = row.extent("steps");
  if (time && steps > 0) out.readings.time = *time / static_cast<double>(steps);
  return out;
}

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, fmt::format("nasbench101-{}", row.text("arch_hash")));
  out.mode = "training";
  out.precision = "fp32";
  out.per = "training run";
  out.at.software = "tensorflow";
  out.batch = kBatch;
  out.image_size = kImage;
  out.channels = 3;
  add_details(out, row, {"space", "adjacency", "node_ops", "params", "epochs", "steps", "gpu_energy_window_s"});
  out.readings.time = row.quantity<Seconds>("training_time_s");
  out.readings.power = row.quantity<Watts>("gpu_mean_power_w");
  out.readings.energy = row.quantity<Joules>("gpu_energy_j");
  // The energy covers evaluation and set-up as well, the time does not. (The column with PUE is not read.)
  add_caution(out.from.anomaly, "energy-over-other-window");
  MeasuredNetwork training = step(row);
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(training));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout ecnas_layout() {
  return {"ecnas_nasbench101",
          {"space", "arch_hash", "gpu", "adjacency", "node_ops", "training_time_s", "gpu_mean_power_w", "gpu_energy_j",
           "total_energy_with_pue_j"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "PedramBakh/EC-NAS-Bench@1a82fdde59",
           .licence = "MIT",
           .protocol = "CarbonTracker, NVML about every 10 s over the whole run"}};
}

}  // namespace joulecast
