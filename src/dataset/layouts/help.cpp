// SPDX-License-Identifier: Apache-2.0
// NAS-Bench-201 and FBNet cells on five GPUs, of HayeonLee/HELP: a column "<gpu>_b<batch>_s" for each GPU and batch.
#include <fmt/format.h>

#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

struct TimeColumn {
  std::string column, gpu;
  std::int64_t batch = 0;
};

Result<std::vector<TimeColumn>> time_columns(const CsvHeader& header) {
  std::vector<TimeColumn> out;
  for (const GpuColumn& column : gpu_columns(header)) {
    const std::size_t at = column.gpu.rfind("_b");
    const auto batch = at == std::string::npos ? std::nullopt : parse_integer(column.gpu.substr(at + 2));
    if (!batch || *batch < 1) return invalid(fmt::format("column '{}' names no GPU and batch", column.column));
    out.push_back({column.column, column.gpu.substr(0, at), *batch});
  }
  if (out.empty()) return invalid("the table has no column of times");
  return out;
}

Result<void> read(const std::vector<TimeColumn>& columns, std::string_view space, std::string_view described_by,
                  std::int64_t image_size, Row& row, RowSink& sink) {
  for (const TimeColumn& column : columns) {
    MeasuredOther out;
    out.network = true;
    out.reason = "a network of a search space";
    out.model = fmt::format("{} {}", space, row.text("arch_index"));
    out.at.gpu = column.gpu;
    out.mode = "inference";
    out.at.software = "pytorch";
    out.batch = column.batch;
    out.image_size = image_size;
    add_detail(out.details, described_by, row.text(described_by));
    out.readings.time = row.quantity<Seconds>(column.column);
    JC_RETURN_IF_ERROR(row.status());
    if (out.readings.time) sink.add(std::move(out));
  }
  return {};
}

Origin origin() {
  return {.source = "HayeonLee/HELP@45f70eb92d", .licence = "MIT", .protocol = "PyTorch; precision not stated"};
}

}  // namespace

TableLayout help_nasbench201_layout() {
  return {"help_nasbench201",
          {"arch_index", "arch", "1080ti_b1_s"},
          [](const TableContext& context) -> Result<RowReader> {
            JC_ASSIGN_OR_RETURN(auto columns, time_columns(context.header));
            return RowReader(
                [columns](Row& row, RowSink& sink) { return read(columns, "nasbench201", "arch", 32, row, sink); });
          },
          nullptr,
          origin()};
}

TableLayout help_fbnet_layout() {
  return {"help_fbnet",
          {"arch_index", "op_choice_per_layer", "1080ti_b1_s"},
          [](const TableContext& context) -> Result<RowReader> {
            JC_ASSIGN_OR_RETURN(auto columns, time_columns(context.header));
            return RowReader([columns](Row& row, RowSink& sink) {
              return read(columns, "fbnet", "op_choice_per_layer", 224, row, sink);
            });
          },
          nullptr,
          origin()};
}

}  // namespace joulecast
