// SPDX-License-Identifier: Apache-2.0
// Training steps of ddps-lab/profet: TensorFlow 2.5, fp32, SGD.
#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  out.at.mode = Mode::kTraining;
  out.at.runtime = Runtime::kTensorflow;
  out.at.precision = Precision::kFp32;
  out.at.software = "tensorflow 2.5";
  out.model = row.text("model");
  out.image_size = row.extent("img_size");
  out.batch = row.extent("batch");
  out.optimizer = row.text("optimizer") == "SGD" ? "sgd" : row.text("optimizer");
  out.readings.time = row.quantity<Seconds>("step_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// The same runs as profet_train's, with the device's and the host's time of each class of operations.
Result<RowReader> open_classes(const TableContext& context) {
  std::vector<std::string> classes;
  for (const auto& [name, at] : context.header) {
    if (name.ends_with("_us")) classes.push_back(name);
  }
  return RowReader([classes](Row& row, RowSink& sink) -> Result<void> {
    MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("model")));
    out.mode = "training";
    out.precision = "fp32";
    out.per = "profiled step";
    out.image_size = row.extent("img_size");
    out.batch = row.extent("batch");
    out.optimizer = row.text("optimizer") == "SGD" ? "sgd" : row.text("optimizer");
    out.at.software = "tensorflow 2.5";
    out.from.primary = false;
    out.readings.time = row.quantity<Seconds>("step_latency_s");
    JC_RETURN_IF_ERROR(row.status());
    for (const std::string& name : classes) add_detail(out.details, name, row.text(name));
    sink.add(std::move(out));
    return {};
  });
}

Origin origin() {
  return {.source = "ddps-lab/profet@e69477fe6e",
          .licence = "MIT",
          .protocol = "mean step of an epoch on AWS, up to 9 repeats as rows of their own"};
}

}  // namespace

TableLayout profet_opclass_layout() {
  return {"profet_opclass",
          {"gpu", "aws_instance", "experiment", "model", "img_size", "batch", "optimizer", "step_latency_s",
           "Device_AddN_us", "Device_Conv2D_us"},
          open_classes,
          nullptr,
          origin()};
}

TableLayout profet_train_layout() {
  return {"profet_train",
          {"gpu", "aws_instance", "experiment", "model", "img_size", "batch", "optimizer", "step_latency_s",
           "epoch_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          origin()};
}

}  // namespace joulecast
