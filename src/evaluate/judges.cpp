// SPDX-License-Identifier: Apache-2.0
#include "evaluate/judges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "predict/board_power.h"
#include "predict/compose.h"
#include "predict/lower.h"
#include "predict/measured_work.h"
#include "predict/memory.h"
#include "predict/pack_names.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

// The benchmark that was learnt from adds to its gradients; this one overwrote them, as networks do.
double without_accumulation(const OperationPrediction& p, const Device& device) {
  const ComposePart part{.gpu = p.time, .accumulation = p.physics.accumulation * p.time / p.physics.bound};
  return std::max(busy_in_network(part, device, Mode::kTraining), std::min(p.time, p.physics.host));
}

constexpr std::string_view kUnknownArchitecture = "outside";
constexpr std::string_view kElsewhere = "elsewhere";
constexpr std::string_view kRecurrent = "recurrent";  // layers, whose law is that of no group

// Layouts of the tables that a pack's report names; of a pack without a report none.
std::set<std::string, std::less<>> fitted_layouts(const Pack& pack) {
  std::set<std::string, std::less<>> out;
  const auto text = pack.json(pack_names::kReport);
  if (!text) return out;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth < 16; };
  const Json report = Json::parse(*text, shallow, false);
  const auto fitted = report.is_object() ? report.find("fitted_on") : report.end();
  if (fitted == report.end() || !fitted->is_object() || !fitted->contains("tables")) return out;
  const Json& tables = fitted->at("tables");
  for (auto table = tables.begin(); tables.is_object() && table != tables.end(); ++table) out.insert(table.key());
  return out;
}

FoundValue with_factor(double value, double log_factor, double spread) {
  const double factor = std::exp(log_factor * spread);
  return {value, value / factor, value * factor, spread};
}

}  // namespace

Result<OperationJudge> OperationJudge::open(const std::string& pack, PackOptions use, const Catalogue& catalogue) {
  JC_ASSIGN_OR_RETURN(Pack opened, Pack::open(pack));
  // What a row needs of it is read when the row comes, and a damaged pack is no row's fault.
  if (auto sound = opened.verify(); !sound) return tl::unexpected(std::move(sound).error().in(pack));
  OperationJudge out(std::move(opened), catalogue);
  const auto read = [&]() -> Result<void> {
    JC_ASSIGN_OR_RETURN(out.estimator_, Estimator::from(*out.pack_));
    JC_ASSIGN_OR_RETURN(out.spreads_, SpreadModels::from(*out.pack_));
    JC_ASSIGN_OR_RETURN(out.intervals_, out.pack_->table(pack_names::kIntervals));
    JC_ASSIGN_OR_RETURN(out.gpus_, out.pack_->table(pack_names::kGpus));
    return {};
  };
  if (auto ok = read(); !ok) return tl::unexpected(std::move(ok).error().in(pack));
  if (!use.corrections) out.estimator_.forget_corrections();
  out.layouts_ = fitted_layouts(*out.pack_);
  return out;
}

bool OperationJudge::fitted_on(std::string_view layout) const {
  return layouts_.contains(layout);
}

std::string_view OperationJudge::support(const MeasuredWork& work, bool elsewhere, const Gpu& gpu, const Device& device,
                                         const Estimator::Trust& trust) const {
  const Group group = group_of(work.work);
  if (is_erratic(work.work, device)) return kUnknownArchitecture;
  if (trust.seen(group, arithmetic_of(work.work)))
    return elsewhere ? kElsewhere : is_recurrent(work.work) ? "unseen-gpu" : "seen";
  if (!gpus_.find(fmt::format("architecture/{}", gpu.architecture))) return kUnknownArchitecture;
  const bool measured = device.capability > 0.0 && gpus_.find(pack_names::generation(name(group), device.capability));
  const bool told = intervals_.find(fmt::format("operation/{}/relative/time", name(group))).has_value();
  return measured && told ? "relative" : "unseen-gpu";
}

// What another benchmark makes of a measured GPU is as unknown as a GPU that was left out. No operation of an
// architecture that nobody measured was ever held out: bounds widen as those of networks do.
double OperationJudge::factor(Group group, std::string_view support, std::string_view what) const {
  const auto of = [&](std::string_view level) {
    return intervals_.find(fmt::format("operation/{}/{}/{}", name(group), level, what)).value_or(1.0);
  };
  if (support == kElsewhere) return of("unseen-gpu");
  if (support != kUnknownArchitecture) return of(support);
  const std::optional<double> edge = intervals_.find(fmt::format("network/{}/edge", what));
  const std::optional<double> outside = intervals_.find(fmt::format("network/{}/outside", what));
  return of("unseen-gpu") * (edge && outside && *edge > 0.0 ? std::max(1.0, *outside / *edge) : 1.0);
}

double OperationJudge::elsewhere_factor(Group group, std::string_view what) const {
  return intervals_.find(fmt::format("operation/{}/elsewhere/{}", name(group), what)).value_or(1.0);
}

namespace {

// Slices of a GPU and other clocks of its memory are foretold by nothing here.
Result<void> check_foretold(const Circumstances& at) {
  if (!at.mig_profile.empty()) return unsupported("on a slice of the GPU");
  if (at.memory_clock) return unsupported("at a locked memory clock");
  return {};
}

// Of the board alone.
Result<void> check_power(const Circumstances& at, const Readings& readings, const Gpu& gpu) {
  if (at.scope != PowerScope::kGpu) return {};
  if (readings.power) return check_mean_power(gpu, *readings.power);
  return readings.energy && readings.time ? check_mean_power(gpu, *readings.energy / *readings.time) : Result<void>();
}

}  // namespace

Result<Estimate> OperationJudge::predict(const MeasuredOperation& row) const {
  if (row.at.sm_clock) return unsupported("a single operation at a locked clock");
  JC_RETURN_IF_ERROR(check_foretold(row.at));
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue_->find(row.at.gpu));
  JC_RETURN_IF_ERROR(check_power(row.at, row.readings, *gpu));
  JC_ASSIGN_OR_RETURN(const Device device, make_device(*gpu, {.sm_clock = {}, .power_limit = row.at.power_limit}));
  JC_ASSIGN_OR_RETURN(MeasuredWork work, measured_work(row));
  const auto asked = arithmetic_of(work.work);
  JC_RETURN_IF_ERROR(fit_to_device(work.work, *gpu, device));
  const bool halves = asked != arithmetic_of(work.work) && multiplies_halves_in_fp32(*gpu);
  const Estimator::Trust& trust = estimator_.trust(gpu->id);
  OperationPrediction p;
  JC_RETURN_IF_ERROR(estimator_.predict({&work.work, 1}, device, work.situation, trust, {&p, 1}));
  const double as_learnt = p.time;
  if (row.at.mode == Mode::kTraining && !row.gradients_accumulated) p.time = without_accumulation(p, device);
  const Group group = group_of(work.work);
  const std::string_view layout = row.from.table;
  // Our own runner times modules as the pack's rows were.
  const bool elsewhere = !layout.empty() && layout != "measurements" && !fitted_on(layout);
  const std::string_view known = halves ? "unseen-gpu" : support(work, elsewhere, *gpu, device, trust);
  const SpreadFactors spread =
      known == "seen" ? spreads_.of(work.work, device, work.situation, as_learnt) : SpreadFactors{};
  const auto bounded = [&](double value, std::string_view what, double own_spread) {
    const double own = factor(group, known, what);
    return elsewhere ? with_factor(value, elsewhere_factor(group, what), own) : with_factor(value, own, own_spread);
  };
  return Estimate{.time = bounded(p.time, "time", spread.time),
                  .power = bounded(p.power, "power", spread.power),
                  .energy = bounded(p.time * p.power, "energy", spread.energy),
                  .baseline = p.physics.bound,
                  .group = is_recurrent(work.work) ? kRecurrent : name(group),
                  .support = known};
}

Result<NetworkJudge> NetworkJudge::open(const std::string& pack, PackOptions use, const Catalogue& catalogue,
                                        std::string graphs) {
  JC_ASSIGN_OR_RETURN(Predictor predictor, Predictor::open(pack, use));
  return NetworkJudge(std::move(predictor), catalogue, NetworkGraphs(std::move(graphs)));
}

namespace {

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

// The default setting needs no law of settings, which a pack may lack.
Result<Prediction> predicted_at(const Predictor& predictor, const Workload& load, const Gpu& gpu,
                                const PredictOptions& options, const Setting& setting) {
  if (!setting.sm_clock && setting.power_limit.value_or(gpu.power_limit) == gpu.power_limit)
    return predictor.predict(load, gpu, options);
  JC_ASSIGN_OR_RETURN(const std::vector<Prediction> found,
                      predictor.predict(load, gpu, options, {.settings = {setting}, .measured = {}}));
  return found.front();
}

FoundValue scaled(const FoundValue& value, double by) {
  return {value.value * by, value.lo * by, value.hi * by, value.spread};
}

}  // namespace

Result<Estimate> NetworkJudge::predict(const MeasuredNetwork& row, bool operations) {
  JC_RETURN_IF_ERROR(check_foretold(row.at));
  JC_ASSIGN_OR_RETURN(const Workload load, graphs_.workload(row));
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, catalogue_->find(row.at.gpu));
  JC_RETURN_IF_ERROR(check_power(row.at, row.readings, *gpu));
  const Setting setting{.sm_clock = row.at.sm_clock, .power_limit = row.at.power_limit};
  const MeasuredHost host = measured_host(row, *gpu);
  const PredictOptions as_it_was{
      .setting = {}, .host = host.machine, .input_copy = host.input_copy, .breakdown = operations};
  JC_ASSIGN_OR_RETURN(Prediction p, predicted_at(predictor_, load, *gpu, as_it_was, setting));
  JC_ASSIGN_OR_RETURN(const Device device, make_device(*gpu, setting));
  const auto found = [](const auto& interval) {
    return FoundValue{interval.value.value(), interval.lo.value(), interval.hi.value()};
  };
  FoundValue time = found(p.time);
  if (row.kernels_alone) time = scaled(time, p.gpu_busy.value() / time.value);
  return Estimate{.time = time,
                  .power = found(p.power),
                  .energy = found(p.energy),
                  .memory = found(allocated_memory(load.memory)),
                  .gpu_busy = p.gpu_busy.value(),
                  .host_busy = p.host_busy.value(),
                  .baseline = roofline(load, device),
                  .support = name(p.support),
                  .operations = std::move(p.operations)};
}

}  // namespace joulecast
