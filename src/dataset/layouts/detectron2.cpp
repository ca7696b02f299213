// SPDX-License-Identifier: Apache-2.0
// Detectors of facebookresearch/detectron2's model zoo: training steps, inference and peak memory on V100.
#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

MeasuredOther network(Row& row) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("name")));
  const std::size_t bracket = out.at.gpu.find(" (");
  if (bracket != std::string::npos) out.at.gpu.resize(bracket);
  out.precision = "fp32";
  out.at.software = "pytorch, detectron2";
  add_details(out, row, {"config"});
  return out;
}

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther training = network(row);
  training.mode = "training";
  training.per = "step of all GPUs";
  training.gpu_count = 8;
  training.batch = row.extent("images_per_gpu") * 8;
  training.readings.time = row.quantity<Seconds>("train_iter_latency_s");
  if (const auto gigabytes = row.quantity<Bytes>("train_peak_memory_gb")) {
    training.readings.memory = *gigabytes * 1e9;
    training.readings.memory_kind = "max-allocated";
    add_caution(training.from.anomaly, "coarse-print");
    add_caution(training.from.anomaly, "replicas");
  }
  MeasuredOther inference = network(row);
  inference.mode = "inference";
  inference.per = "image";
  inference.batch = 1;
  inference.readings.time = row.quantity<Seconds>("infer_latency_s_per_image");
  JC_RETURN_IF_ERROR(row.status());
  if (training.readings.time || training.readings.memory) sink.add(std::move(training));
  if (inference.readings.time) sink.add(std::move(inference));
  return {};
}

}  // namespace

TableLayout detectron2_layout() {
  return {"detectron2_zoo",
          {"gpu", "config", "name", "train_iter_latency_s", "images_per_gpu", "infer_latency_s_per_image",
           "train_peak_memory_gb"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "facebookresearch/detectron2@02b5c4e29 MODEL_ZOO.md",
           .licence = "CC BY-SA 3.0",
           .protocol = "8 V100 with 2 images each; memory is the maximum over them"}};
}

}  // namespace joulecast
