// SPDX-License-Identifier: Apache-2.0
// 131 timm networks trained on 8 data sets, of saintslab/PePR.
#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The energies imply the same 535 W for every network: they measure the machine and are not read.
Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "model", true, std::string(row.text("model")));
  out.at.gpu = "RTX 3090";  // by the paper; the rows tell 24 GB
  add_caution(out.from.anomaly, "gpu-guessed");
  add_caution(out.from.anomaly, "power-refused");
  out.mode = "training";
  out.precision = "fp32";
  out.optimizer = "adam";
  out.at.software = "pytorch, timm";
  out.per = "epoch";
  out.batch = 32;
  out.at.campaign = row.text("dataset");
  add_details(out, row, {"dataset", "type", "params", "mem_reserved_bytes", "epoch_infer_time_s"});
  out.readings.time = row.quantity<Seconds>("epoch_train_time_s");
  out.readings.memory = row.quantity<Bytes>("max_mem_allocated_bytes");
  out.readings.memory_kind = "max-allocated";
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout pepr_layout() {
  return {"pepr_train",
          {"model", "dataset", "type", "params", "max_mem_allocated_bytes", "mem_reserved_bytes",
           "gpu_total_memory_bytes", "epoch_train_time_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "saintslab/PePR@ce087aafcd",
           .licence = "MIT",
           .protocol = "torch.cuda.max_memory_allocated over training; image size not stated, 224 to 256"}};
}

}  // namespace joulecast
