// SPDX-License-Identifier: Apache-2.0
// The longest sequence or largest batch that fits into a GPU: memory known from one side.
#include <fmt/format.h>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("network")));
  out.mode = "training";
  out.per = "run";
  add_details(out, row, {"setting", "unit", "note"});
  add_caution(out.from.anomaly, "typed-by-hand");
  add_caution(out.from.anomaly, "censored-memory");
  out.from.upstream = row.text("source");
  const std::int64_t largest = row.integer("largest_that_fits");
  const auto capacity = row.quantity<Bytes>("gpu_memory_gb");
  JC_RETURN_IF_ERROR(row.status());
  if (largest < 0 || largest > kMaxElements || !capacity) return invalid("no boundary");
  out.readings.memory = *capacity * 1e9;
  out.readings.memory_kind = "device";
  out.readings.memory_relation = largest > 0 ? MemoryRelation::kAtMost : MemoryRelation::kAbove;
  if (largest == 0) add_caution(out.from.anomaly, "out-of-memory");
  // Where nothing fits, the smallest did not.
  const std::int64_t tried = std::max<std::int64_t>(largest, 1);
  if (row.text("unit") == "tokens") {
    out.sequence_length = tried;
  } else {
    out.batch = tried;
  }
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout fits_boundaries_layout() {
  return {"fits_boundaries",
          {"source", "network", "gpu", "gpu_memory_gb", "setting", "largest_that_fits", "unit"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "documents of several projects: each row's upstream",
           .licence = "figures only",
           .protocol = "the largest that ran; some lie on straight lines and are computed in part"}};
}

}  // namespace joulecast
