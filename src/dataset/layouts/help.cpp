// SPDX-License-Identifier: Apache-2.0
// Networks of NAS-Bench-201 and FBNet on five GPUs, of HayeonLee/HELP: a column "<gpu>_b<batch>_s" for each GPU and
// batch. None of these GPUs has TF32, which frameworks would take by themselves.
#include <fmt/format.h>

#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// Two boards have that name. This one moves 380 GB/s, more than the Maxwell has: what NAS-Bench-201's edges of zeros
// cost.
constexpr const char* kTitanX = "titan-x-pascal";

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
    const std::string gpu = column.gpu.substr(0, at);
    out.push_back({column.column, gpu == "titanx" ? kTitanX : gpu, *batch});
  }
  if (out.empty()) return invalid("the table has no column of times");
  return out;
}

// What both tables say of a cell.
void fill(const TimeColumn& column, Row& row, MeasuredNetwork& out) {
  out.at.gpu = column.gpu;
  out.at.software = "pytorch";
  out.batch = column.batch;
  out.readings.time = row.quantity<Seconds>(column.column);
}

Result<void> read_nasbench201(const std::vector<TimeColumn>& columns, Row& row, RowSink& sink) {
  for (const TimeColumn& column : columns) {
    MeasuredNetwork out;
    fill(column, row, out);
    out.at.mode = Mode::kInference;
    out.at.precision = Precision::kFp32;
    out.at.runtime = Runtime::kPytorchEager;
    out.model = fmt::format("nasbench201-{}", row.text("arch_index"));
    out.image_size = 32;
    out.channels = 3;
    add_detail(out.details, "arch", row.text("arch"));
    JC_RETURN_IF_ERROR(row.status());
    if (out.readings.time) sink.add(std::move(out));
  }
  return {};
}

// Which skeleton the blocks stand in is not told, nor the size of the images: at a batch of 64 these networks take 10
// to 20 ms, too little for images of 224 pixels.
Result<void> read_fbnet(const std::vector<TimeColumn>& columns, Row& row, RowSink& sink) {
  for (const TimeColumn& column : columns) {
    MeasuredOther out;
    out.network = true;
    out.reason = "a network of a search space";
    fill(column, row, out);
    out.model = fmt::format("fbnet {}", row.text("arch_index"));
    out.mode = "inference";
    add_detail(out.details, "op_choice_per_layer", row.text("op_choice_per_layer"));
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
            return RowReader([columns](Row& row, RowSink& sink) { return read_nasbench201(columns, row, sink); });
          },
          nullptr,
          origin()};
}

TableLayout help_fbnet_layout() {
  return {"help_fbnet",
          {"arch_index", "op_choice_per_layer", "1080ti_b1_s"},
          [](const TableContext& context) -> Result<RowReader> {
            JC_ASSIGN_OR_RETURN(auto columns, time_columns(context.header));
            return RowReader([columns](Row& row, RowSink& sink) { return read_fbnet(columns, row, sink); });
          },
          nullptr,
          origin()};
}

}  // namespace joulecast
