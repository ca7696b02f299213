// SPDX-License-Identifier: Apache-2.0
#include "evaluate/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "joulecast/import.h"
#include "joulecast/passes.h"
#include "predict/compose.h"
#include "predict/lower.h"
#include "predict/measured_work.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

// The benchmark that was learnt from adds to its gradients; this one overwrote them, as networks do.
double without_accumulation(const OperationPrediction& p, const Device& device) {
  const ComposePart part{.gpu = p.time, .accumulation_bytes = p.physics.accumulation_bytes};
  return std::max(busy_in_network(part, device, Mode::kTraining), std::min(p.time, p.physics.host));
}

FoundValue with_factor(double value, double log_factor, double spread) {
  const double factor = std::exp(log_factor * spread);
  return {value, value / factor, value * factor, spread};
}

}  // namespace

Result<OperationJudge> OperationJudge::open(const std::string& pack, const Catalogue& catalogue) {
  JC_ASSIGN_OR_RETURN(Pack opened, Pack::open(pack));
  OperationJudge out(std::move(opened), catalogue);
  JC_ASSIGN_OR_RETURN(out.estimator_, Estimator::from(*out.pack_));
  JC_ASSIGN_OR_RETURN(out.spreads_, SpreadModels::from(*out.pack_));
  JC_ASSIGN_OR_RETURN(out.intervals_, out.pack_->table(pack_names::kIntervals));
  JC_ASSIGN_OR_RETURN(out.gpus_, out.pack_->table(pack_names::kGpus));
  return out;
}

bool OperationJudge::fitted_on(std::string_view layout) const {
  const auto report = pack_->json(pack_names::kReport);
  return report && report->find(fmt::format("\"{}\": {{", layout)) != std::string_view::npos;
}

std::string_view OperationJudge::support(const MeasuredWork& work, const Device& device,
                                         const Estimator::Trust& trust) const {
  const Group group = group_of(work.work);
  if (trust.seen(group, arithmetic_of(work.work))) return "seen";
  const bool measured = device.capability > 0.0 && gpus_.find(pack_names::generation(name(group), device.capability));
  const bool told = intervals_.find(fmt::format("operation/{}/relative/time", name(group))).has_value();
  return measured && told ? "relative" : "unseen-gpu";
}

Result<Estimate> OperationJudge::predict(const MeasuredOperation& row) const {
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue_->find(row.at.gpu));
  JC_ASSIGN_OR_RETURN(const Device device, make_device(*gpu, {.sm_clock = {}, .power_limit = row.at.power_limit}));
  JC_ASSIGN_OR_RETURN(MeasuredWork work, measured_work(row));
  JC_RETURN_IF_ERROR(fit_to_device(work.work, *gpu, device));
  const Estimator::Trust& trust = estimator_.trust(gpu->id);
  OperationPrediction p;
  JC_RETURN_IF_ERROR(estimator_.predict({&work.work, 1}, device, work.situation, trust, {&p, 1}));
  if (row.at.mode == Mode::kTraining && !row.gradients_accumulated) p.time = without_accumulation(p, device);
  const Group group = group_of(work.work);
  const std::string_view known = support(work, device, trust);
  const auto factor = [&](std::string_view what) {
    return intervals_.find(fmt::format("operation/{}/{}/{}", name(group), known, what)).value_or(1.0);
  };
  const SpreadFactors spread =
      known == "seen" ? spreads_.of(work.work, device, work.situation, p.time) : SpreadFactors{};
  return Estimate{.time = with_factor(p.time, factor("time"), spread.time),
                  .power = with_factor(p.power, factor("power"), spread.power),
                  .energy = with_factor(p.time * p.power, factor("energy"), spread.energy),
                  .baseline = p.physics.bound,
                  .group = name(group),
                  .support = known};
}

Result<NetworkJudge> NetworkJudge::open(const std::string& pack, const Catalogue& catalogue, std::string graphs) {
  JC_ASSIGN_OR_RETURN(Predictor predictor, Predictor::open(pack));
  return NetworkJudge(std::move(predictor), catalogue, std::move(graphs));
}

const Result<Graph>& NetworkJudge::read(const std::string& model) {
  const auto known = read_.find(model);
  if (known != read_.end()) return known->second;
  Result<Graph> found = not_found(fmt::format("no graph of '{}' in the folder", model));
  // Model names come from the table: none may lead out of the folder.
  const bool plain = model.find('/') == std::string::npos && model.find("..") == std::string::npos && !model.empty();
  for (const char* extension : {".onnx", ".jcg"}) {
    const std::string path = graphs_ + "/" + model + extension;
    if (!plain || !std::filesystem::is_regular_file(path)) continue;
    found = import_model(path).map([](Graph graph) { return simplify(std::move(graph)); });
    break;
  }
  return read_.emplace(model, std::move(found)).first->second;
}

namespace {

// The row's batch, image size and sequence length for the axes they belong to: images are [batch, channels, height,
// width], token ids [batch, sequence].
Binding binding_of(const Graph& graph, const MeasuredNetwork& row) {
  Binding out;
  out.batch = row.batch.value_or(1);
  for (const GraphInput& input : graph.inputs) {
    for (std::size_t axis = 0; axis < input.dimensions.size(); ++axis) {
      const Dimension& d = input.dimensions[axis];
      if (d.extent) continue;
      const bool image = input.dimensions.size() == 4 && axis >= 2;
      const bool tokens = input.dimensions.size() <= 3 && axis == 1;
      if (axis == 0) out.symbols.try_emplace(d.symbol, row.batch.value_or(1));
      if (image && row.image_size) out.symbols.try_emplace(d.symbol, *row.image_size);
      if (tokens && row.sequence_length) out.symbols.try_emplace(d.symbol, *row.sequence_length);
    }
  }
  return out;
}

// A graph with a fixed image size says nothing about another one.
bool fits(const Graph& graph, const MeasuredNetwork& row) {
  if (graph.inputs.empty() || !row.image_size) return true;
  const auto& dimensions = graph.inputs[0].dimensions;
  return dimensions.size() != 4 || !dimensions[3].extent || *dimensions[3].extent == *row.image_size;
}

// The oldest estimate there is: all flops at the peak or all bytes at the bandwidth, whichever takes longer.
double roofline(const Workload& load, const Device& device) {
  Arithmetic arithmetic = Arithmetic::kFp32;
  for (const LoweredOperation& operation : load.operations) {
    if (const auto* conv = std::get_if<ConvWork>(&operation.work)) arithmetic = conv->arithmetic;
    if (const auto* gemm = std::get_if<GemmWork>(&operation.work)) arithmetic = gemm->arithmetic;
    if (arithmetic != Arithmetic::kFp32) break;
  }
  const Cost& c = load.total;
  const double peak = device.peak(arithmetic) > 0.0 ? device.peak(arithmetic) : device.fp32;
  double flops = c.forward_flops.value();
  double bytes = (c.forward_read + c.forward_written).value();
  if (load.options.mode == Mode::kTraining) {
    flops += c.backward_flops.value();
    bytes += (c.backward_read + c.backward_written).value();
  }
  return std::max(flops / peak, bytes / device.bandwidth);
}

}  // namespace

const Result<Graph>& NetworkJudge::graph(const MeasuredNetwork& row) {
  if (row.at.mode == Mode::kTraining) {  // other heads, or the dropout that files of inference do not have
    const Result<Graph>& trained = read(row.model + "_training");
    if (trained) return trained;
  }
  const Result<Graph>& plain = read(row.model);
  if (!row.image_size || (plain && fits(*plain, row))) return plain;
  const Result<Graph>& sized = read(fmt::format("{}_{}", row.model, *row.image_size));
  return sized ? sized : plain;
}

Result<Estimate> NetworkJudge::predict(const MeasuredNetwork& row) {
  if (row.gpu_count != 1) return unsupported("several GPUs");
  if (!row.at.runtime) return unsupported(fmt::format("no host model for '{}'", row.at.software));
  const Result<Graph>& network = graph(row);
  if (!network) return tl::unexpected(network.error());
  if (!fits(*network, row))
    return unsupported(
        fmt::format("the graph of '{}' is fixed to another image size than {}", row.model, row.image_size.value_or(0)));
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue_->find(row.at.gpu));
  JC_ASSIGN_OR_RETURN(const Workload load,
                      prepare(*network, binding_of(*network, row),
                              {.mode = row.at.mode,
                               .precision = row.at.precision,
                               .runtime = *row.at.runtime,
                               .layout = row.channels_last ? Layout::kChannelsLast : Layout::kChannelsFirst}));
  const Setting setting{.sm_clock = {}, .power_limit = row.at.power_limit};
  JC_ASSIGN_OR_RETURN(
      const Prediction p,
      predictor_.predict(load, *gpu,
                         {.setting = setting, .host = measured_host(row.from.table, gpu->id, row.at.mode)}));
  JC_ASSIGN_OR_RETURN(const Device device, make_device(*gpu, setting));
  const auto found = [](const auto& interval) {
    return FoundValue{interval.value.value(), interval.lo.value(), interval.hi.value()};
  };
  return Estimate{.time = found(p.time),
                  .power = found(p.power),
                  .energy = found(p.energy),
                  .gpu_busy = p.gpu_busy.value(),
                  .host_busy = p.host_busy.value(),
                  .baseline = roofline(load, device),
                  .support = name(p.support)};
}

}  // namespace joulecast
