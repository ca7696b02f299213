// SPDX-License-Identifier: Apache-2.0
// 131 timm networks trained on 8 data sets, of saintslab/PePR.
#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// The peak of the training. Names of the data sets' files say 256 pixels, and those that say nothing have the same
// peaks.
MeasuredNetwork peak(Row& row) {
  MeasuredNetwork out;
  out.at.gpu = "RTX 3090";
  out.at.mode = Mode::kTraining;
  out.at.precision = Precision::kTf32;
  out.at.runtime = Runtime::kPytorchEager;
  out.at.software = "pytorch, timm";
  out.at.campaign = row.text("dataset");
  out.model = row.text("model");
  out.batch = 32;
  out.image_size = 256;
  out.optimizer = "adam";
  out.readings.memory = row.quantity<Bytes>("max_mem_allocated_bytes");
  out.readings.memory_kind = "max-allocated";
  add_caution(out.from.anomaly, "gpu-guessed");
  return out;
}

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
  MeasuredNetwork trained = peak(row);
  JC_RETURN_IF_ERROR(row.status());
  if (trained.readings.memory) sink.add(std::move(trained));
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
