// SPDX-License-Identifier: Apache-2.0
// Peak memory of the kernels of linkedin/Liger-Kernel and of what they replace.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", false, std::string(row.text("kernel")));
  const std::string_view mode = row.text("mode");
  out.mode = mode == "forward" ? "inference" : "training";  // "full" is forward and backward
  out.per = mode;
  out.at.software = fmt::format("{}, liger {}", row.text("provider"), row.text("liger_version"));
  add_details(out, row,
              {"provider", "x_name", "x_label", "x_value", "config_json", "value_p20_bytes", "value_p80_bytes"});
  out.from.upstream = row.text("source");
  out.readings.memory = row.quantity<Bytes>("value_bytes");
  out.readings.memory_kind = row.text("memory_kind") == "max_allocated" ? "max-allocated" : row.text("memory_kind");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout liger_layout() {
  return {
      "liger_operator_memory",
      {"source", "kernel", "provider", "mode", "gpu", "x_name", "x_value", "config_json", "memory_kind", "value_bytes"},
      [](const TableContext&) { return Result<RowReader>(read); },
      nullptr,
      {.source = "linkedin/Liger-Kernel@ead96b618e",
       .licence = "BSD-2-Clause",
       .protocol = "torch.cuda.max_memory_allocated; inputs, weights and their gradients are in it"}};
}

}  // namespace joulecast
