// SPDX-License-Identifier: Apache-2.0
// Power at core and memory clocks beside the use of the units, of hpc-ulisboa/gpupowermodel. No times; not deep
// learning.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", false, fmt::format("{} {}", row.text("suite"), row.text("benchmark")));
  out.at.software = "cuda";
  out.per = "steady state";
  out.at.sm_clock = row.quantity<Hertz>("core_clock_hz");
  out.at.memory_clock = row.quantity<Hertz>("memory_clock_hz");
  out.readings.power = row.quantity<Watts>("power_w");
  add_details(out, row,
              {"util_sp", "util_sp_add", "util_sp_mul", "util_sp_fma", "util_int", "util_dp", "util_dp_add",
               "util_dp_mul", "util_dp_fma", "util_sfu", "util_cf", "util_l2", "util_shared", "util_dram"});
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout guerreiro_layout() {
  return {"guerreiro_dvfs",
          {"gpu", "suite", "benchmark", "core_clock_hz", "memory_clock_hz", "power_w", "util_sp", "util_dram"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "hpc-ulisboa/gpupowermodel@babdfe88f3",
           .licence = "BSD-like, asks to be cited",
           .protocol = "some of the files hold peak, some average power"}};
}

}  // namespace joulecast
