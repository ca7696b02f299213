// SPDX-License-Identifier: Apache-2.0
// A B300 under power limits, precisions and loads, of sinkers/gpu-power-lab.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// In shorter windows the mean of the readings is far from the energy counter: 787 W where it is 1037 W.
constexpr Seconds kReadingsAgree{10.0};

Result<void> read(Row& row, RowSink& sink) {
  if (row.text("result") != "ok") return unsupported(fmt::format("the run ended with {}", row.text("result")));
  MeasuredOther out = other_row(row, "gpu", false, fmt::format("{} {}", row.text("op"), row.text("rung")));
  out.precision = row.text("precision");
  out.per = "window";
  out.at.campaign = row.text("campaign");
  out.at.power_limit = row.quantity<Watts>("power_limit_w");
  out.at.sm_clock = row.quantity<Hertz>("sm_clock_hz");
  out.at.memory_clock = row.quantity<Hertz>("mem_clock_hz");
  out.at.software = fmt::format("driver {}", row.text("driver"));
  add_details(out, row,
              {"size", "streams", "work_unit", "work_done", "flop_per_s", "duty_on_s", "duty_off_s", "throttled_s",
               "throttle_reasons", "workload_json"});
  out.readings.time = row.quantity<Seconds>("steady_s");
  out.readings.energy = row.quantity<Joules>("energy_counter_j");
  if (out.readings.time && *out.readings.time >= kReadingsAgree) {
    out.readings.power = row.quantity<Watts>("mean_power_w");
  } else if (out.readings.time && out.readings.energy) {
    out.readings.power = *out.readings.energy / *out.readings.time;  // the counter's
  }
  JC_RETURN_IF_ERROR(row.status());
  if (row.text("throttle_reasons").find("power_cap") != std::string_view::npos) {
    add_caution(out.from.anomaly, "capped-clock");
  }
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout b300_layout() {
  return {"b300_power_ladder",
          {"campaign", "rung", "gpu", "driver", "power_limit_w", "op", "precision", "steady_s", "mean_power_w",
           "energy_counter_j", "work_done", "result"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "sinkers/gpu-power-lab@249b1c9555",
           .licence = "no licence file",
           .protocol = "NVML at 50 to 100 Hz and the energy counter over a steady window"}};
}

}  // namespace joulecast
