// SPDX-License-Identifier: Apache-2.0
// Inference of OpenMMLab's detectors and segmenters at batch 1 on a V100.
#include <fmt/format.h>

#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("config")));
  if (out.model.empty()) out.model = fmt::format("{} {}", row.text("method"), row.text("backbone"));
  const std::size_t bracket = out.at.gpu.find(" (");
  if (bracket != std::string::npos) out.at.gpu.resize(bracket);
  out.mode = "inference";
  out.per = "image";  // segmenters: a full image, whatever the crop
  out.batch = 1;
  out.at.campaign = row.text("suite");
  out.at.software = row.text("suite");
  add_details(out, row, {"family", "section", "method", "backbone", "style_or_crop"});
  out.readings.time = row.quantity<Seconds>("infer_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout mm_zoo_fps_layout() {
  return {"mm_zoo_inference_fps",
          {"gpu", "suite", "family", "method", "backbone", "config", "infer_fps", "infer_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "Swin-Transformer-Object-Detection@c7b20110ad, Swin-Transformer-Semantic-Segmentation@87e6f90577",
           .licence = "Apache-2.0",
           .protocol = "frames per second printed in the zoo"}};
}

}  // namespace joulecast
