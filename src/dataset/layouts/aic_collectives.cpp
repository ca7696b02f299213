// SPDX-License-Identifier: Apache-2.0
// Collectives of ai-dynamo/aiconfigurator: NCCL's and the frameworks' own.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "system", false, std::string(row.text("op")));
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent("n_gpus"), 1'000'000));
  out.at.software = fmt::format("{} {}", row.text("library"), row.text("version"));
  out.mode = "inference";
  out.precision = row.text("dtype");
  add_details(out, row, {"message_elements", "table"});
  out.readings.time = row.quantity<Seconds>("latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout aic_collectives_layout() {
  return {"aic_collectives",
          {"system", "library", "version", "table", "op", "dtype", "n_gpus", "message_elements", "latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          aic_origin()};
}

}  // namespace joulecast
