// SPDX-License-Identifier: Apache-2.0
// torchvision's networks on 1 to 4 GPUs, of ryujaehun/pytorch-gpu-benchmark.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// Its A100 runs are of PyTorch 1.7 to 1.11, where TF32 was the default of matrix products as well.
Result<Precision> precision(std::string_view dtype, std::string_view gpu) {
  if (dtype == "fp64") return Precision::kFp64;
  if (dtype == "fp16") return Precision::kFp16;
  if (dtype == "fp32") return gpu.starts_with("A100") ? Precision::kTf32All : Precision::kFp32;
  return unsupported(fmt::format("dtype '{}'", dtype));
}

// "2080TI" of "results/2080TI/GeForce RTX 2080 Ti_1_gpus__float_model_train_benchmark.csv": two machines have the same
// GPU.
std::string machine(std::string_view path) {
  const std::size_t file = path.rfind('/');
  const std::string_view folder = file == std::string_view::npos ? std::string_view() : path.substr(0, file);
  return std::string(folder.substr(folder.rfind('/') + 1));
}

Result<void> read(Row& row, RowSink& sink) {
  MeasuredNetwork out;
  out.at.gpu = row.text("gpu");
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent("n_gpus"), 1'000'000));
  out.model = row.text("model");
  out.batch = row.extent("batch");
  out.image_size = row.extent("img_size");
  out.channels = 3;
  out.readings.time = row.quantity<Seconds>("median_s");
  JC_RETURN_IF_ERROR(row.status());
  JC_ASSIGN_OR_RETURN(out.at.precision, precision(row.text("dtype"), out.at.gpu));
  const std::string_view mode = row.text("mode");
  if (mode != "inference" && mode != "train") return unsupported(fmt::format("mode '{}'", mode));
  out.at.mode = mode == "train" ? Mode::kTraining : Mode::kInference;
  out.at.runtime = Runtime::kPytorchEager;
  out.at.software = "pytorch";
  out.at.campaign = machine(row.text("path"));
  out.from.primary = out.gpu_count == 1;
  out.readings.repeats = row.optional_integer("n_iter");
  JC_RETURN_IF_ERROR(row.status());
  // 12 images leave an A100 waiting for its host.
  if (out.at.gpu.starts_with("A100")) add_caution(out.from.anomaly, "host-bound");
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout torchvision_layout() {
  return {"torchvision_gpu_benchmark",
          {"gpu", "n_gpus", "mode", "dtype", "model", "batch", "img_size", "median_s", "n_iter"},
          [](const TableContext&) { return Result<RowReader>(read); },
          nullptr,
          {.source = "ryujaehun/pytorch-gpu-benchmark@3f47a9e2a4",
           .licence = "MIT",
           .protocol = "median over the iterations of one process, 12 images a GPU, their copy to it included"}};
}

}  // namespace joulecast
