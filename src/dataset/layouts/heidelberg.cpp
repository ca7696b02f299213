// SPDX-License-Identifier: Apache-2.0
// Operations and networks of ConstantinNicolai/ml-operator-profiling: PyTorch eager, batch 32, logs of 2024 and 2025.
#include <fmt/format.h>

#include <cmath>

#include "dataset/cautions.h"
#include "dataset/layouts/layouts.h"
#include "dataset/module_repr.h"

namespace joulecast {
namespace {

constexpr std::string_view kNoTensorCores = "-no-tensor-cores";

// The 2080 Ti drew half its usual power in these runs, at nearly the same time; the logs do not say why.
bool low_power(std::string_view generation) {
  return generation == "2024-11-finalbench" || generation == "2024-11-methodology-trial" ||
         generation.starts_with("2024-12") || generation.ends_with("-low-power");
}

// "a30" ran with PyTorch's defaults: TF32 in convolutions, true FP32 in linear layers. The 2080 Ti has no TF32.
Result<Circumstances> circumstances(Row& row) {
  Circumstances at;
  const std::string_view gpu = row.text("gpu");
  const bool without = gpu.ends_with(kNoTensorCores);
  at.gpu = gpu.substr(0, gpu.size() - (without ? kNoTensorCores.size() : 0));
  if (without) at.gpu_label = gpu;
  at.precision = !without && gpu == "a30" ? Precision::kTf32 : Precision::kFp32;
  const auto mode = parse_mode(row.text("mode"));
  if (!mode) return invalid(fmt::format("mode '{}'", row.text("mode")));
  at.mode = *mode;
  at.runtime = Runtime::kPytorchEager;
  at.software = "pytorch";
  at.campaign = row.text("generation");
  at.low_power = gpu == "rtx2080ti" && low_power(row.text("generation"));
  return at;
}

Readings readings(Row& row) {
  Readings out;
  out.time = row.quantity<Seconds>("time_s");
  out.time_std = row.deviation<Seconds>("time_std_s");
  out.power = row.quantity<Watts>("power_w");
  out.power_std = row.deviation<Watts>("power_std_w");
  out.energy = row.quantity<Joules>("energy_j");
  out.energy_std = row.deviation<Joules>("energy_std_j");
  // The deviation is over the blocks of the timer; how many power readings there were no log tells.
  out.repeats = row.optional_integer("blocks");
  if (out.time_std && out.repeats && *out.repeats > 1) {
    out.time_error = *out.time_std / std::sqrt(static_cast<double>(*out.repeats));
  }
  return out;
}

// The table's words, all of them ours but one.
std::string anomaly(std::string_view words) {
  constexpr std::string_view kTheirs = "energy-over-different-window";
  std::string out(words);
  if (const std::size_t at = out.find(kTheirs); at != std::string::npos) {
    out.replace(at, kTheirs.size(), "energy-over-other-window");
  }
  return out;
}

Provenance provenance(Row& row) {
  Provenance from;
  from.primary = row.flag("primary");
  from.anomaly = anomaly(row.text("anomaly"));
  if (const std::string_view file = row.text("source_file"); !file.empty()) {
    from.upstream = fmt::format("{}:{}", file, row.text("source_line"));
  }
  return from;
}

// Of 165 W: at 163 the A30's clock is throttled and its power nearly constant.
constexpr Watts kA30Capped{163.0};
// Runs of 2024 took the energy over the sensor's log, which is up to 60 % longer than the timed blocks.
constexpr double kEnergyAgrees = 0.02;

void add_cautions(const Circumstances& at, const Readings& readings, std::string& anomaly) {
  if (at.gpu == "a30" && readings.power && *readings.power > kA30Capped) add_caution(anomaly, "capped-clock");
  if (!readings.time || !readings.power || !readings.energy) return;
  const double ratio = *readings.energy / (*readings.time * *readings.power);
  if (std::abs(ratio - 1.0) > kEnergyAgrees) add_caution(anomaly, "energy-over-other-window");
}

// Python, autograd and zeroing gradients take this long at least; a training row within 20 % of it is the host's time.
bool host_bound(const MeasuredOperation& row, std::string_view type) {
  constexpr std::pair<std::string_view, Seconds> kFloors[] = {{"StochasticDepth", Seconds{145e-6}},
                                                              {"ReLU", Seconds{156e-6}},
                                                              {"Conv2d", Seconds{215e-6}},
                                                              {"BatchNorm2d", Seconds{293e-6}}};
  if (row.at.mode != Mode::kTraining || !row.readings.time) return false;
  for (const auto& [name, floor] : kFloors) {
    if (type == name) return *row.readings.time < 1.2 * floor;
  }
  return false;
}

}  // namespace

Origin heidelberg_origin() {
  return {
      .source = "ConstantinNicolai/ml-operator-profiling@bd3aace",
      .licence = "not stated",
      .protocol = "torch.utils.benchmark blocks of many calls, nvidia-smi power averaged over them, default clocks"};
}

namespace {

Result<void> read_operation(Row& row, RowSink& sink) {
  MeasuredOperation out;
  JC_ASSIGN_OR_RETURN(out.at, circumstances(row));
  out.readings = readings(row);
  out.from = provenance(row);
  JC_RETURN_IF_ERROR(row.status());
  add_cautions(out.at, out.readings, out.from.anomaly);
  if (host_bound(out, row.text("op_type"))) add_caution(out.from.anomaly, "host-bound");
  JC_ASSIGN_OR_RETURN(const ModuleRepr module, parse_module_repr(row.text("op_repr")));
  JC_ASSIGN_OR_RETURN(const Shape shape, parse_shape(row.text("input_shape")));
  const ReprArgument* inplace = module.find("inplace");
  out.inplace = inplace != nullptr && inplace->numbers == std::vector<double>{1.0};
  const std::string_view state = row.text("module_state");
  out.train_state_module = out.at.mode == Mode::kInference && state.starts_with("train-mode-module");
  out.gradients_accumulated = out.at.mode == Mode::kTraining;
  out.label = row.text("op_repr");
  out.group = fmt::format("{} {}", module.text(), text(shape));
  JC_ASSIGN_OR_RETURN(
      out.graph, sink.pool().get(out.group, [&] { return module_operation(module, shape, ElementType::kFloat32); }));
  sink.add(std::move(out));
  return {};
}

Result<void> read_network(Row& row, RowSink& sink) {
  MeasuredNetwork out;
  JC_ASSIGN_OR_RETURN(out.at, circumstances(row));
  out.readings = readings(row);
  out.from = provenance(row);
  JC_RETURN_IF_ERROR(row.status());
  add_cautions(out.at, out.readings, out.from.anomaly);
  JC_ASSIGN_OR_RETURN(const Shape shape, parse_shape(row.text("input_shape")));
  if (shape.size() != 4) return invalid(fmt::format("input shape '{}' is no batch of images", text(shape)));
  out.model = row.text("model_name");
  out.batch = shape[0];
  out.channels = shape[1];
  out.image_size = shape[3];
  if (out.at.mode == Mode::kTraining) out.optimizer = "sgd";
  sink.add(std::move(out));
  return {};
}

}  // namespace

TableLayout heidelberg_operations_layout() {
  return {"heidelberg_operations",
          {"gpu", "mode", "op_repr", "input_shape", "time_s", "energy_j", "power_w", "module_state", "primary",
           "anomaly", "generation"},
          [](const TableContext&) { return Result<RowReader>(read_operation); },
          nullptr,
          heidelberg_origin()};
}

TableLayout heidelberg_networks_layout() {
  return {"heidelberg_networks",
          {"gpu", "mode", "model_name", "class_name", "input_shape", "time_s", "energy_j", "power_w", "primary",
           "anomaly", "generation"},
          [](const TableContext&) { return Result<RowReader>(read_network); },
          nullptr,
          heidelberg_origin()};
}

}  // namespace joulecast
