// SPDX-License-Identifier: Apache-2.0
// What a CUDA context takes, as people report it.
#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", false, "CUDA context");
  if (out.at.gpu == "any" || out.at.gpu == "not said") add_caution(out.from.anomaly, "gpu-not-stated");
  out.at.software = row.text("framework");
  add_details(out, row, {"cuda"});
  out.per = "process";
  add_details(out, row, {"what"});
  add_caution(out.from.anomaly, "typed-by-hand");
  out.from.upstream = row.text("source");
  out.readings.memory = row.quantity<Bytes>("value_bytes");
  out.readings.memory_kind = "context";
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout cuda_context_layout() {
  return {"cuda_context",
          {"gpu", "value_bytes", "what", "cuda", "framework", "source"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "issues of several projects: each row's upstream",
           .licence = "figures only",
           .protocol = "as each row says"}};
}

}  // namespace joulecast
