// SPDX-License-Identifier: Apache-2.0
// ImageNet networks by Fischer et al.: NVML while they ran, CodeCarbon, and a meter at the plug beside CodeCarbon.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

constexpr double kBusyPercent = 85.0;  // below, the loader of the images decides

// As our graphs are called: torchvision's, or those of Keras' applications as the table itself has them.
std::string graph_name(std::string_view model, bool tensorflow) {
  if (tensorflow) return std::string(model);
  constexpr std::pair<std::string_view, std::string_view> kNames[] = {
      {"MobileNetV2", "mobilenet_v2"},
      {"MobileNetV3Large", "mobilenet_v3_large"},
      {"MobileNetV3Small", "mobilenet_v3_small"},
      {"EfficientNetB0", "efficientnet_b0"},
  };
  for (const auto& [theirs, ours] : kNames) {
    if (model == theirs) return std::string(ours);
  }
  std::string out(model);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// The larger EfficientNets take larger images, of which the table does not say whether theirs were.
bool image_is_known(std::string_view model) {
  return !model.starts_with("EfficientNet") || model == "EfficientNetB0";
}

// A step of a run on one GPU that hardly waited for its images.
std::optional<MeasuredNetwork> step(Row& row, const MeasuredOther& run) {
  const double images = static_cast<double>(row.extent("samples_per_pass")) * static_cast<double>(row.extent("passes"));
  if (run.gpu_count != 1 || !run.batch || !run.readings.time || !(images > 0.0)) return std::nullopt;
  const bool tensorflow = row.text("backend") == "tensorflow";
  if (!tensorflow && row.text("backend") != "pytorch") return std::nullopt;
  if (!image_is_known(row.text("model"))) return std::nullopt;
  MeasuredNetwork out;
  out.at = run.at;
  out.at.mode = run.mode == "training" ? Mode::kTraining : Mode::kInference;
  out.at.precision = tensorflow ? Precision::kFp32 : Precision::kTf32;
  out.at.runtime = tensorflow ? Runtime::kTensorflow : Runtime::kPytorchEager;
  out.at.software = tensorflow ? "tensorflow 2.8" : "pytorch 1.10";
  out.model = graph_name(row.text("model"), tensorflow);
  out.batch = run.batch;
  out.image_size = 224;
  out.channels = 3;
  out.readings.time = *run.readings.time * (static_cast<double>(*run.batch) / images);
  out.readings.power = run.readings.power;
  return out;
}

Result<void> read_imagenet(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "gpu", true, std::string(row.text("model")));
  out.mode = row.text("task") == "train" ? "training" : "inference";
  out.per = "run";
  out.at.software = row.text("backend");
  out.gpu_count = static_cast<int>(std::min<std::int64_t>(row.extent("gpus"), 1'000'000));
  out.batch = row.extent("batch");
  add_details(
      out, row,
      {"run", "framework", "samples_per_pass", "passes", "mean_gpu_util_pct", "active_gpus", "params", "flops"});
  out.readings.time = row.quantity<Seconds>("duration_s");
  out.readings.energy = row.quantity<Joules>("gpu_energy_all_j");
  out.readings.power = row.quantity<Watts>("mean_power_all_w");
  // TensorFlow takes all memory there is, whatever it needs.
  if (row.text("backend") != "tensorflow") {
    out.readings.memory = row.quantity<Bytes>("max_mem_used_all_bytes");
    out.readings.memory_kind = out.readings.memory ? "smi" : "";
  }
  const auto busy = row.optional_number("mean_gpu_util_pct");
  std::optional<MeasuredNetwork> network = step(row, out);
  JC_RETURN_IF_ERROR(row.status());
  if (busy.value_or(0.0) < kBusyPercent) {
    add_caution(out.from.anomaly, "input-bound");
  } else if (network) {
    sink.add(*std::move(network));
  }
  sink.add(std::move(out));
  return {};
}

Result<void> read_keras(Row& row, RowSink& sink) {
  if (row.text("status") != "FINISHED") return unsupported(fmt::format("the run is {}", row.text("status")));
  MeasuredOther out = other_row(row, "device", true, std::string(row.text("model")));
  out.mode = "inference";
  out.per = "item";
  out.at.software = row.text("software");
  out.at.scope = PowerScope::kHost;
  out.batch = row.extent("batch");
  add_details(out, row, {"params", "n_samples"});
  out.readings.time = row.quantity<Seconds>("time_per_sample_s");
  out.readings.energy = row.quantity<Joules>("codecarbon_energy_per_sample_j");
  JC_RETURN_IF_ERROR(row.status());
  sink.add(std::move(out));
  return {};
}

// The meter counts in steps of 0.001 kWh below 10 kWh and of 0.01 above; an energy has two of its ends.
constexpr double kMeterStep = 3600.0;
constexpr double kCoarse = 0.05;

Result<void> read_meter(Row& row, RowSink& sink) {
  MeasuredOther out = other_row(row, "device", true, std::string(row.text("model")));
  if (out.at.gpu.find("GeForce") == std::string::npos) return unsupported("a run on the processor");
  out.mode = "inference";
  out.per = "run";
  out.at.scope = PowerScope::kMachine;
  out.at.campaign = row.text("campaign");
  out.at.software = row.text("task") == "ollama" ? "ollama" : "tensorflow";
  if (!row.text("batch").empty()) out.batch = row.extent("batch");
  add_details(out, row, {"task", "n_samples", "params", "tokens_in", "tokens_out", "codecarbon_energy_j"});
  out.readings.time = row.quantity<Seconds>("duration_s");
  out.readings.energy = row.quantity<Joules>("wall_meter_energy_j");
  out.readings.power = row.quantity<Watts>("wall_mean_power_w");
  JC_RETURN_IF_ERROR(row.status());
  if (out.readings.energy && out.readings.energy->value() * kCoarse < kMeterStep) {
    add_caution(out.from.anomaly, "coarse-meter");
  }
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout imagenet_energy_layout() {
  return {"imagenet_energy",
          {"run", "task", "split", "model", "backend", "batch", "gpu", "gpus", "duration_s", "gpu_energy_all_j",
           "mean_power_all_w", "mean_gpu_util_pct"},
          [](const TableContext&) { return Result<RowReader>(read_imagenet); },
          nullptr,
          {.source = "raphischer/imagenet-energy-efficiency@65eb68c4a1",
           .licence = "MIT",
           .protocol = "NVML every 0.2 s (inference) or 1 s (training), all GPUs added up"}};
}
TableLayout keras_testbed_layout() {
  return {"keras_testbed",
          {"model", "device", "software", "batch", "n_samples", "time_per_sample_s", "codecarbon_energy_per_sample_j",
           "status"},
          [](const TableContext&) { return Result<RowReader>(read_keras); },
          nullptr,
          {.source = "raphischer/strep@a8c6024e8c",
           .licence = "no licence file",
           .protocol = "CodeCarbon: GPU, processor and an estimate of the memory"}};
}
TableLayout plug_meter_layout() {
  return {"plug_meter",
          {"task", "campaign", "model", "device", "duration_s", "codecarbon_energy_j", "wall_meter_energy_j",
           "wall_mean_power_w", "status"},
          [](const TableContext&) { return Result<RowReader>(read_meter); },
          nullptr,
          {.source = "raphischer/ai-energy-validation@d71d339c82",
           .licence = "no licence file",
           .protocol = "a meter at the plug, read from photographs"}};
}

}  // namespace joulecast
