// SPDX-License-Identifier: Apache-2.0
// Whole networks of huggingface/pytorch-image-models (results/benchmark-*.csv).
#include <fmt/format.h>

#include "dataset/details.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

Result<void> read(Row& row, RowSink& sink) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  const std::string_view mode = row.text("mode");
  const std::string_view dtype = row.text("dtype");
  out.compiled = row.flag("compiled");
  out.channels_last = row.text("layout") == "nhwc";
  out.model = row.text("model");
  out.image_size = row.extent("img_size");
  out.batch = row.extent("batch");
  out.channels = 3;
  out.readings.time = row.quantity<Seconds>("step_latency_s");
  JC_RETURN_IF_ERROR(row.status());
  if (mode != "infer" && mode != "train") return unsupported(fmt::format("mode '{}'", mode));
  out.at.mode = mode == "train" ? Mode::kTraining : Mode::kInference;
  if (dtype != "amp" && dtype != "amp_bf16" && dtype != "bf16") return unsupported(fmt::format("dtype '{}'", dtype));
  out.at.precision = dtype == "bf16" ? Precision::kBf16 : Precision::kAmp;
  out.at.runtime = out.compiled ? Runtime::kPytorchCompiled : Runtime::kPytorchEager;
  out.at.software = fmt::format("pytorch {}{}{}", row.text("torch"), out.compiled ? ", compiled" : "",
                                dtype == "amp_bf16" ? ", autocast to bf16" : "");
  add_detail(out.details, "params_million", row.text("params_million"));
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout timm_benchmark_layout() {
  return {"timm_benchmark",
          {"gpu", "mode", "dtype", "layout", "torch", "compiled", "model", "img_size", "batch", "step_latency_s"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "huggingface/pytorch-image-models@aa4b5850c1",
           .licence = "Apache-2.0",
           .protocol = "timm's benchmark.py: mean of some 40 steps after warm-up, the largest batch that fits"}};
}

}  // namespace joulecast
