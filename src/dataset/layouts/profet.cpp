// SPDX-License-Identifier: Apache-2.0
// Training steps of ddps-lab/profet: TensorFlow 2.5, fp32, SGD.
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  out.at.mode = Mode::kTraining;
  out.at.software = "tensorflow 2.5";
  out.model = row.text("model");
  out.image_size = row.extent("img_size");
  out.batch = row.extent("batch");
  out.channels_last = true;
  out.optimizer = row.text("optimizer") == "SGD" ? "sgd" : row.text("optimizer");
  out.readings.time = row.quantity<Seconds>("step_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout profet_train_layout() {
  return {"profet_train",
          {"gpu", "aws_instance", "experiment", "model", "img_size", "batch", "optimizer", "step_latency_s",
           "epoch_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); }};
}

}  // namespace joulecast
