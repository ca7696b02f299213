// SPDX-License-Identifier: Apache-2.0
// Operations and networks of ConstantinNicolai/ml-operator-profiling: PyTorch eager, batch 32, logs of 2024 and 2025.
#include <fmt/format.h>

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
  at.low_power = gpu == "rtx2080ti" && low_power(row.text("generation"));
  return at;
}

Readings readings(Row& row) {
  return {.time = row.quantity<Seconds>("time_s"),
          .time_std = row.deviation<Seconds>("time_std_s"),
          .power = row.quantity<Watts>("power_w"),
          .power_std = row.deviation<Watts>("power_std_w"),
          .energy = row.quantity<Joules>("energy_j"),
          .energy_std = row.deviation<Joules>("energy_std_j"),
          .memory = {}};
}

Provenance provenance(Row& row) {
  Provenance from;
  from.primary = row.flag("primary");
  from.anomaly = row.text("anomaly");
  return from;
}

Result<void> read_operation(Row& row, RowSink& sink) {
  MeasuredOperation out;
  JC_ASSIGN_OR_RETURN(out.at, circumstances(row));
  out.readings = readings(row);
  out.from = provenance(row);
  JC_RETURN_IF_ERROR(row.status());
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
          [](const TableContext&) { return Result<RowReader>(read_operation); }};
}

TableLayout heidelberg_networks_layout() {
  return {"heidelberg_networks",
          {"gpu", "mode", "model_name", "class_name", "input_shape", "time_s", "energy_j", "power_w", "primary",
           "anomaly", "generation"},
          [](const TableContext&) { return Result<RowReader>(read_network); }};
}

}  // namespace joulecast
