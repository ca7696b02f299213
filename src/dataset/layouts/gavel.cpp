// SPDX-License-Identifier: Apache-2.0
// Training throughput of stanford-futuredata/gavel on old GPUs, alone and in groups.
#include <fmt/format.h>

#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

constexpr std::string_view kSpread = "_unconsolidated";  // the GPUs are in different servers

Result<void> read(Row& row, RowSink& sink) {
  const std::string_view job = row.text("job_type");  // "ResNet-18 (batch size 16)"
  const std::size_t bracket = job.find(" (batch size ");
  MeasuredOther out = other_row(row, "gpu", true, std::string(job.substr(0, bracket)));
  out.mode = "training";
  out.per = "step of all GPUs";
  if (bracket != std::string_view::npos) {
    const std::string_view number = job.substr(bracket + 13);
    out.batch = parse_integer(number.substr(0, number.find(')')));
  }
  if (out.at.gpu.ends_with(kSpread)) {
    out.at.gpu_label = out.at.gpu;
    out.at.gpu.resize(out.at.gpu.size() - kSpread.size());
    add_detail(out.details, "placement", "servers of their own");
  }
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent("n_gpus"), 1'000'000));
  out.readings.time = row.quantity<Seconds>("step_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout gavel_layout() {
  return {"gavel_train_throughput",
          {"gpu", "job_type", "n_gpus", "steps_per_s", "step_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "stanford-futuredata/gavel@c4fa400973",
           .licence = "MIT",
           .protocol = "reciprocal of the measured training throughput; batch is that of one GPU"}};
}

}  // namespace joulecast
