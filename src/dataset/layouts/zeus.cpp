// SPDX-License-Identifier: Apache-2.0
// Power-limit sweeps of ml-energy/zeus: time and mean power of an epoch, and energy of short windows.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

MeasuredOther network(Row& row) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("network")));
  out.mode = "training";
  out.at.power_limit = row.quantity<Watts>("power_limit_w");
  return out;
}

Result<void> read_sweep(Row& row, RowSink& sink) {
  MeasuredOther out = network(row);
  out.per = "epoch";
  out.batch = row.extent("batch_size");
  out.optimizer = row.text("optimizer");
  add_details(out, row, {"dataset"});
  out.readings.time = row.quantity<Seconds>("time_per_epoch_s");
  out.readings.power = row.quantity<Watts>("average_power_w");
  out.readings.energy = row.quantity<Joules>("energy_per_epoch_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_window(Row& row, RowSink& sink) {
  MeasuredOther out = network(row);
  out.per = "window of the optimiser";
  const std::int64_t gpus = row.extent("n_gpus");
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(gpus, 1'000'000));
  out.readings.time = row.quantity<Seconds>("window_time_s");
  out.readings.energy = row.quantity<Joules>("energy_j");  // of all GPUs
  if (const auto power = row.quantity<Watts>("mean_power_per_gpu_w")) {
    out.readings.power = *power * static_cast<double>(gpus);
  }
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Origin origin() {
  return {.source = "ml-energy/zeus@75a8b93980",
          .licence = "Apache-2.0",
          .protocol = "one run a setting; sampled NVML power of an epoch, or the energy counter over a window"};
}

}  // namespace

TableLayout zeus_sweep_layout() {
  return {"zeus_power_limit_sweep",
          {"gpu", "dataset", "network", "batch_size", "optimizer", "power_limit_w", "time_per_epoch_s",
           "average_power_w", "energy_per_epoch_j"},
          [](const TableContext&) { return Result<RowReader>(read_sweep); },
          nullptr,
          origin()};
}

TableLayout zeus_windows_layout() {
  return {"zeus_power_limit_windows",
          {"gpu", "n_gpus", "network", "power_limit_w", "start_time_s", "window_time_s", "energy_j",
           "mean_power_per_gpu_w"},
          [](const TableContext&) { return Result<RowReader>(read_window); },
          nullptr,
          origin()};
}

}  // namespace joulecast
