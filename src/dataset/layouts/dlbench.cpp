// SPDX-License-Identifier: Apache-2.0
// Caffe networks and convolutions at core and memory clocks, of blackjack2015/dlbench_dvfs.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

void read_values(Row& row, std::string_view time_column, MeasuredOther& out) {
  out.at.sm_clock = row.quantity<Hertz>("core_clock_hz");
  out.at.memory_clock = row.quantity<Hertz>("mem_clock_hz");
  out.readings.time = row.quantity<Seconds>(time_column);
  out.readings.power = row.quantity<Watts>("mean_power_w");
  out.readings.energy = row.quantity<Joules>("energy_j");
}

Result<void> read_network(Row& row, RowSink& sink) {
  // 36 to 42 W for ResNet-50, of a card of 165 W.
  if (row.text("gpu") == "GTX 980") return unsupported("the table of the GTX 980: its power is not plausible");
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("network")));
  out.mode = "training";
  out.precision = "fp32";
  out.per = row.text("mode").starts_with("train") ? "step" : "forward and backward";
  out.at.software = "caffe";
  out.at.campaign = row.text("source_table");
  out.batch = row.optional_integer("batch");
  // Some tables give offsets to clocks that they do not name.
  add_details(out, row, {"core_offset_hz", "mem_offset_hz", "command"});
  read_values(row, "iteration_time_s", out);
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Result<void> read_conv(Row& row, RowSink& sink) {
  MeasuredOther out;
  out.model = row.text("algorithm");
  out.at.gpu = "not stated";
  add_caution(out.from.anomaly, "gpu-not-stated");
  out.at.software = "cudnn";
  out.reason = "an operation whose shapes are not stated";
  add_details(out, row, {"input"});
  read_values(row, "time_s", out);
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

Origin origin() {
  return {.source = "blackjack2015/dlbench_dvfs@18fe93d0c0",
          .licence = "no licence file",
          .protocol = "nvidia-smi power; memory clocks in the units of nvidia-settings"};
}

}  // namespace

TableLayout dlbench_layout() {
  return {"dlbench_clocks",
          {"source_table", "gpu", "network", "batch", "mode", "core_clock_hz", "mem_clock_hz", "core_offset_hz",
           "iteration_time_s", "mean_power_w", "energy_j"},
          [](const TableContext&) { return Result<RowReader>(read_network); },
          nullptr,
          origin()};
}
TableLayout dlbench_conv_layout() {
  return {"dlbench_conv_clocks",
          {"algorithm", "input", "core_clock_hz", "mem_clock_hz", "time_s", "mean_power_w", "energy_j", "flop_per_s"},
          [](const TableContext&) { return Result<RowReader>(read_conv); },
          nullptr,
          origin()};
}

}  // namespace joulecast
