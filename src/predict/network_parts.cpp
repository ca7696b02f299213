// SPDX-License-Identifier: Apache-2.0
#include "predict/network_parts.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "predict/law.h"
#include "predict/lower.h"
#include "predict/optimizer.h"
#include "predict/pack_names.h"
#include "predict/tensorflow.h"

namespace joulecast {
namespace {

Result<std::vector<Work>> works_on(const Workload& workload, const Gpu& gpu, const Device& device) {
  if (workload.options.precision == Precision::kFp8 && !gpu.fp8_peak) return lacks_units(gpu, Arithmetic::kFp8);
  if (workload.options.precision == Precision::kNvfp4 && !gpu.fp4_peak) return lacks_units(gpu, Arithmetic::kFp4);
  // By default what may use TF32 is convolutions and recurrent layers, whose first product is one like any other.
  const Precision precision = workload.options.precision.value_or(default_precision(workload.options.runtime));
  const bool without_tf32 = gpu.vendor == "AMD" && precision == Precision::kTf32;
  std::vector<Work> works;
  works.reserve(workload.operations.size());
  for (const LoweredOperation& operation : workload.operations) {
    works.push_back(operation.work);
    if (auto* gemm = std::get_if<GemmWork>(&works.back()); without_tf32 && gemm != nullptr)
      gemm->arithmetic = gemm->arithmetic == Arithmetic::kTf32 ? Arithmetic::kFp32 : gemm->arithmetic;
    JC_RETURN_IF_ERROR(fit_to_device(works.back(), gpu, device));
  }
  return works;
}

// Bytes the optimizer's step moves.
double optimizer_traffic(const Workload& workload) {
  if (workload.options.mode == Mode::kInference) return 0.0;
  return optimizer_passes(workload.options.optimizer, workload.options.runtime) * workload.total.parameters.value();
}

State state_in(Mode mode) {
  return mode == Mode::kTraining ? State::kTraining : State::kEval;
}

bool is_functional(const Work& work) {
  const auto* pointwise = std::get_if<PointwiseWork>(&work);
  return pointwise != nullptr &&
         (pointwise->kind >= PointwiseKind::kAdd && pointwise->kind != PointwiseKind::kStochasticDepth &&
          pointwise->kind != PointwiseKind::kFused);
}

// A StochasticDepth that drops nothing: the benchmark's kernel only adds up its gradient, which a network does not.
bool has_kernel(const Work& work) {
  const auto* pointwise = std::get_if<PointwiseWork>(&work);
  return pointwise == nullptr || pointwise->kind != PointwiseKind::kStochasticDepth || pointwise->active;
}

std::vector<ComposePart> parts_of(const Workload& workload, std::span<const Work> works,
                                  std::span<const OperationPrediction> found, const Device& device) {
  const Runtime runtime = workload.options.runtime;
  const bool own_calls = runtime == Runtime::kPytorchCompiled || runtime == Runtime::kTensorflow;
  const State state = state_in(workload.options.mode);
  std::vector<ComposePart> parts;
  parts.reserve(found.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    const LoweredOperation& operation = workload.operations[i];
    const OperationPrediction& p = found[i];
    // The share of the bound that the GPU makes up is the share of the time it is busy.
    const double by_bound = p.time / p.physics.bound;
    const bool kernel = has_kernel(works[i]);
    parts.push_back({.time = kernel ? p.time : std::min(p.time, p.physics.host),
                     .gpu = kernel ? p.physics.gpu * by_bound : 0.0,
                     .host = p.physics.host,
                     .call = own_calls ? network_call(runtime, works[i], state) : std::nullopt,
                     .power = kernel ? p.power : std::min(p.power, device.awake),
                     .accumulation = p.physics.accumulation * by_bound,
                     .count = static_cast<double>(operation.count),
                     .calls = static_cast<double>(operation.calls),
                     .functional = is_functional(works[i]),
                     .left_out = operation.no_input_gradient ? p.physics.input_gradient : 0.0});
  }
  return parts;
}

// Seconds of a step in which the GPU has nothing to do: its input is on its way, or Keras loops.
double beside(const Workload& workload, const NetworkPlace& place) {
  if (workload.options.runtime == Runtime::kTensorflow) return tensorflow_beside(workload, place.host);
  return place.input_copy ? (workload.input / *place.input_copy).value() : 0.0;
}

}  // namespace

Result<NetworkParts> network_parts(const Workload& workload, const Gpu& gpu, const NetworkPlace& place,
                                   const NetworkKnowledge& known) {
  NetworkParts out;
  out.captured = workload.options.runtime == Runtime::kCudaGraph;
  JC_ASSIGN_OR_RETURN(out.device, make_device(gpu, place.setting));
  JC_ASSIGN_OR_RETURN(out.works, works_on(workload, gpu, out.device));
  const HostMachine& host = place.host;
  const Situation situation{.state = state_in(workload.options.mode),
                            .host = out.captured                          ? Host::kCaptured
                                    : host.profile == HostProfile::kOlder ? Host::kOlder
                                                                          : Host::kModern,
                            .engine = Engine::kPytorch,
                            .weights = (workload.memory.parameters - workload.memory.tables).value()};
  out.found.assign(out.works.size(), {});  // copies; resize() takes more instructions
  JC_RETURN_IF_ERROR(known.estimator.predict(out.works, out.device, situation, known.trust, out.found));
  out.parts = parts_of(workload, out.works, out.found, out.device);
  out.whole = compose({.parts = out.parts,
                       .mode = workload.options.mode,
                       .parameter_tensors = static_cast<double>(workload.parameter_tensors),
                       .optimizer_bytes = optimizer_traffic(workload),
                       .beside = beside(workload, place),
                       .captured = out.captured,
                       .host = host},
                      out.device, known.compose);
  return out;
}

namespace {

// By how much the time in a network moves for a relative change of that alone: not in proportion, for a network does
// less than the benchmark.
double slope_in_network(const ComposePart& part, const NetworkParts& network, Mode mode) {
  constexpr double kStep = 1e-4;
  ComposePart longer = part;
  longer.time *= 1.0 + kStep;
  longer.gpu *= 1.0 + kStep;
  longer.accumulation *= 1.0 + kStep;
  const auto in_network = network.captured ? captured_in_network : busy_in_network;
  return (in_network(longer, network.device, mode) - in_network(part, network.device, mode)) / kStep;
}

}  // namespace

CorrectionTerms correction_terms(const NetworkParts& network, Mode mode, double sharpness) {
  CorrectionTerms out{};
  const Composition& whole = network.whole;
  if (whole.gpu <= 0.0 || whole.time <= 0.0) return out;
  // Of T = (G^s + H^s)^(1/s) + what is beside: dT / dG * G / T.
  const double paced = (whole.time - whole.beside) / whole.time / (1.0 + std::pow(whole.host / whole.gpu, sharpness));
  for (std::size_t i = 0; i < network.parts.size(); ++i) {
    const ComposePart& part = network.parts[i];
    const double share = paced * part.count * slope_in_network(part, network, mode) / whole.gpu;
    const CorrectionTerms terms = correction_terms(network.works[i], state_in(mode), network.found[i].physics);
    for (std::size_t k = 0; k < kCorrectionTerms; ++k) out[k] += share * terms[k];
  }
  return out;
}

Result<ComposeConstants> read_compose(const Pack& pack) {
  JC_ASSIGN_OR_RETURN(const TableView table, pack.table(pack_names::kCompose));
  ComposeConstants out;
  const std::pair<std::string_view, double*> constants[] = {{"host_inference", &out.host_inference},
                                                            {"host_training", &out.host_training},
                                                            {"functional_inference_s", &out.functional_inference},
                                                            {"functional_training_s", &out.functional_training},
                                                            {"benchmark_call_s", &out.benchmark_call},
                                                            {"parameter_call_s", &out.parameter_call},
                                                            {"sharpness", &out.sharpness},
                                                            {"power_ceiling", &out.power_ceiling}};
  for (const auto& [key, value] : constants) {
    *value = table.find(key).value_or(*value);
    const double least = value == &out.sharpness ? 1.0 : 0.0;
    if (!(*value >= least && *value < 1e3)) return invalid(fmt::format("compose: '{}' is {}", key, *value));
  }
  return out;
}

}  // namespace joulecast
