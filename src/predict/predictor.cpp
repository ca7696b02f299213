// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/check.h"
#include "joulecast/predict.h"
#include "predict/compose.h"
#include "predict/describe.h"
#include "predict/estimator.h"
#include "predict/law.h"
#include "predict/lower.h"
#include "predict/memory.h"
#include "predict/network_parts.h"
#include "predict/pack_names.h"
#include "predict/settings/apply.h"

namespace joulecast {

// Half-widths of the intervals as factors, by support.
struct IntervalFactors {
  double time = 0, power = 0, energy = 0;  // logarithms
};

struct Predictor::Impl {
  Impl(std::string place, Pack opened) : path(std::move(place)), pack(std::move(opened)) {}

  std::string path;
  Pack pack;
  Estimator estimator;
  ComposeConstants compose_constants;
  TableView gpus;                         // "measured/<id>", "architecture/<name>"
  std::array<double, kGroups> largest{};  // by group, the largest work that was measured
  std::array<IntervalFactors, 3> intervals;

  static Result<std::unique_ptr<Impl>> load(const std::string& path);
  [[nodiscard]] IntervalFactors widths(const Workload& workload, const Estimator::Trust& trust, Support support) const;
  // What carrying a prediction over to other settings needs.
  struct Busy {
    std::vector<settings::BusyOperation> operations;
    double beside = 0;  // seconds of a step
    double idle = 0;    // watts
  };
  // Fills `busy` if it is asked for.
  Result<Prediction> predicted(const Workload& workload, const Gpu& gpu, const PredictOptions& options, Support support,
                               Busy* busy) const;
  // Predictions at settings, and the curve that they lie on.
  struct Carried {
    settings::SettingCurve curve;
    settings::SettingCurve::Outlook outlook;
    std::vector<Prediction> predictions;
  };
  [[nodiscard]] Result<Carried> carried(const Workload& workload, const Gpu& gpu, const PredictOptions& options,
                                        const SettingRequest& request, Support support) const;
  // Read when the first setting is asked for.
  const Result<settings::SettingsModel>& settings_model() const;
  const Result<void>& verified() const;

 private:
  mutable std::once_flag verified_once_;
  mutable Result<void> verified_;
  mutable std::once_flag settings_read_;
  mutable Result<settings::SettingsModel> settings_;
};

namespace {

Result<std::array<IntervalFactors, 3>> read_intervals(const Pack& pack) {
  std::array<IntervalFactors, 3> out;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::string_view support = name(static_cast<Support>(i));
    JC_ASSIGN_OR_RETURN(out[i].time, pack.number(pack_names::kIntervals, fmt::format("network/time/{}", support)));
    JC_ASSIGN_OR_RETURN(out[i].power, pack.number(pack_names::kIntervals, fmt::format("network/power/{}", support)));
    JC_ASSIGN_OR_RETURN(out[i].energy, pack.number(pack_names::kIntervals, fmt::format("network/energy/{}", support)));
  }
  return out;
}

Result<std::array<double, kGroups>> read_ranges(const Pack& pack) {
  std::array<double, kGroups> out{};
  for (std::size_t g = 0; g < kGroups; ++g) {
    JC_ASSIGN_OR_RETURN(out[g], pack.number(pack_names::kRanges, name(static_cast<Group>(g))));
  }
  return out;
}

template <typename Unit>
Interval<Unit> widen(double value, double log_factor) {
  const double factor = std::exp(log_factor);
  return {Unit{value}, Unit{value / factor}, Unit{value * factor}};
}

// TF32 needs Ampere; older chips run the same network in FP32, and AMD's its convolutions.
Precision precision_on(const Workload& workload, const Gpu& gpu, const Device& device) {
  const Precision wanted = workload.options.precision.value_or(default_precision(workload.options.runtime));
  if (wanted == Precision::kTf32 && gpu.vendor == "AMD") return Precision::kFp32;
  const bool tf32 = wanted == Precision::kTf32 || wanted == Precision::kTf32All;
  return tf32 && device.tf32 <= 0.0 ? Precision::kFp32 : wanted;
}

// The same operation may stand twice: the first layer needs no gradient of its input, and takes less.
std::vector<OperationEstimate> breakdown(const Workload& workload, std::span<const Work> works,
                                         std::span<const OperationPrediction> found, std::span<const ComposePart> parts,
                                         const Device& device) {
  std::vector<Work> sorted(works.begin(), works.end());
  std::sort(sorted.begin(), sorted.end());
  const auto times = [&](const Work& work) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), work);
    return last - first;
  };
  std::vector<OperationEstimate> out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const double busy = busy_in_network(parts[i], device, workload.options.mode) * parts[i].count;
    const bool again = workload.operations[i].no_input_gradient && times(works[i]) > 1;
    out.push_back({.label = describe(works[i]) + (again ? ", first" : ""),
                   .count = workload.operations[i].count,
                   .time = Seconds{busy},
                   .energy = Joules{busy * parts[i].power},
                   .bound = Seconds{found[i].physics.gpu * parts[i].count}});
  }
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
  return out;
}

std::vector<settings::BusyOperation> busy_operations(std::span<const Work> works,
                                                     std::span<const OperationPrediction> found,
                                                     std::span<const ComposePart> parts, const Device& device,
                                                     Mode mode) {
  std::vector<settings::BusyOperation> out;
  out.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const ComposePart& part = parts[i];
    if (part.gpu <= 0.0) continue;
    const auto math = arithmetic_of(works[i]);
    const double power = device.awake + std::max(0.0, part.power - device.awake) * part.time / part.gpu;
    out.push_back({.busy = part.count * busy_in_network(part, device, mode),
                   .power = std::min(power, device.limit),
                   .compute = found[i].physics.compute,
                   .memory = found[i].physics.memory,
                   .held = math ? device.held_at(*math) : 1.0});
  }
  return out;
}

double unknown_share(const Workload& workload) {
  double share = 0.0;
  for (const UnknownOperator& u : workload.unknown_operators) share += u.byte_share;
  return share;
}

}  // namespace

Result<std::unique_ptr<Predictor::Impl>> Predictor::Impl::load(const std::string& path) {
  JC_ASSIGN_OR_RETURN(Pack pack, Pack::open(path));
  auto impl = std::make_unique<Impl>(path, std::move(pack));
  const auto read = [&]() -> Result<void> {
    JC_ASSIGN_OR_RETURN(impl->estimator, Estimator::from(impl->pack));
    JC_ASSIGN_OR_RETURN(impl->compose_constants, read_compose(impl->pack));
    JC_ASSIGN_OR_RETURN(impl->gpus, impl->pack.table(pack_names::kGpus));
    JC_ASSIGN_OR_RETURN(impl->largest, read_ranges(impl->pack));
    JC_ASSIGN_OR_RETURN(impl->intervals, read_intervals(impl->pack));
    return {};
  };
  if (auto ok = read(); !ok) return tl::unexpected(std::move(ok).error().in(path));
  return impl;
}

Predictor::Predictor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Predictor::Predictor(Predictor&&) noexcept = default;
Predictor& Predictor::operator=(Predictor&&) noexcept = default;
Predictor::~Predictor() = default;

Result<Predictor> Predictor::open(const std::string& path) {
  return open(path, {});
}

Result<Predictor> Predictor::open(const std::string& path, PackOptions options) {
  JC_ASSIGN_OR_RETURN(auto impl, Impl::load(path));
  if (!options.corrections) impl->estimator.forget_corrections();
  return Predictor(std::move(impl));
}

Result<void> Predictor::verify() const {
  return impl_->verified();
}

Result<std::string_view> Predictor::report() const {
  return impl_->pack.json(pack_names::kReport);
}

namespace {

// Whether matrix work ran in these arithmetics when the GPU was measured: FP16 is not known from FP32.
bool arithmetics_measured(const Estimator::Trust& trust, const Workload& workload, const Gpu& gpu) {
  return std::all_of(workload.operations.begin(), workload.operations.end(), [&](const LoweredOperation& operation) {
    auto math = arithmetic_of(operation.work);
    Group group = group_of(operation.work);
    if (math == Arithmetic::kTf32 && (!gpu.tf32_peak || runs_in_fp32_on(gpu, operation.work))) {  // as fit_to_device()
      math = Arithmetic::kFp32;
      if (group == Group::kGemmTensor) group = Group::kGemmSimt;
    }
    return !math || trust.seen(group, math);
  });
}

bool has_recurrent_layers(const Workload& workload) {
  return std::any_of(workload.operations.begin(), workload.operations.end(),
                     [](const LoweredOperation& operation) { return is_recurrent(operation.work); });
}

// Requires recurrent layers: others never are, and a device takes its time.
bool is_erratic(const Workload& workload, const Gpu& gpu) {
  const auto device = make_device(gpu, {});
  return device && std::any_of(workload.operations.begin(), workload.operations.end(),
                               [&](const LoweredOperation& one) { return joulecast::is_erratic(one.work, *device); });
}

// What calls cost on the machines of published tables, relative to the reference machine (measured_work.cpp): but for
// TensorFlow 1's sessions none is faster by more than a hundredth, one in training alone is above 2.2. A fifth less is
// left to those nobody measured.
constexpr double kFastHost = 0.8;
constexpr double kSlowHost = 2.2;

// Widens the bounds by what the host may be. The GPU idles while it waits, so power falls as time grows.
void widen_for_hosts(const Composition& whole, const Device& device, double sharpness, Prediction& out) {
  const Seconds fast{joined(whole.gpu, kFastHost * whole.host, sharpness) + whole.beside};
  const Seconds slow{joined(whole.gpu, kSlowHost * whole.host, sharpness) + whole.beside};
  const Watts idle{device.idle};
  out.time.lo = std::min(out.time.lo, fast);
  out.time.hi = std::max(out.time.hi, slow);
  out.energy.lo = std::min(out.energy.lo, out.energy.value - (out.time.value - fast) * idle);
  out.energy.hi = std::max(out.energy.hi, out.energy.value + (slow - out.time.value) * idle);
  out.power.lo = std::min(out.power.lo, (out.energy.value + (slow - out.time.value) * idle) / slow);
  out.edp.lo = std::min(out.edp.lo, out.energy.lo * out.time.lo);
  out.edp.hi = std::max(out.edp.hi, out.energy.hi * out.time.hi);
}

// What is costed by its bytes alone may take longer by what it computes and by its kernels, never less.
void widen_for_unknown(const Workload& workload, const Device& device, Prediction& out) {
  constexpr double kCallsAtMost = 16, kCallSeconds = 5e-6, kTrainingSteps = 3;
  double longer = 0.0;
  for (const UnknownOperator& u : workload.unknown_operators) {
    longer += u.flops_at_most / device.peak(Arithmetic::kFp32);
    longer += kCallsAtMost * kCallSeconds * static_cast<double>(u.count);
  }
  if (longer <= 0.0) return;
  if (workload.options.mode == Mode::kTraining) longer *= kTrainingSteps;
  const double spread = out.time.hi / out.time.value;
  out.time.hi = out.time.hi + Seconds{longer * spread};
  out.power.hi = std::max(out.power.hi, Watts{device.limit});
  out.energy.hi = out.energy.hi + Seconds{longer * spread} * Watts{device.limit};
  out.edp.hi = std::max(out.edp.hi, out.energy.hi * out.time.hi);
}

// No board draws less than it does idle, nor more in a while than its limit.
void keep_possible(double idle_w, Watts limit, Prediction& out) {
  const Watts idle{std::min(idle_w, out.power.value.value())};
  const Watts most = std::max(limit, out.power.value);
  out.power.lo = std::max(out.power.lo, idle);
  out.energy.lo = std::max(out.energy.lo, out.time.lo * idle);
  out.energy.hi = std::min(out.energy.hi, out.time.hi * most);
}

// Nothing was measured of kernels that multiply halves in FP32.
bool emulates_halves(const Workload& workload, const Gpu& gpu) {
  return multiplies_halves_in_fp32(gpu) &&
         std::any_of(workload.operations.begin(), workload.operations.end(),
                     [](const LoweredOperation& one) { return arithmetic_of(one.work) == Arithmetic::kFp16; });
}

}  // namespace

Support Predictor::support(const Workload& workload, const Gpu& gpu) const {
  int level = 2;
  if (impl_->gpus.find(fmt::format("measured/{}", gpu.id))) {
    level = 0;
  } else if (impl_->gpus.find(fmt::format("architecture/{}", gpu.architecture))) {
    level = 1;
  }
  // Which laws hold is not known.
  if (gpu.vendor == "NVIDIA" ? gpu.compute_capability.empty() : gpu.vendor != "AMD") level = 2;
  if (level == 0 && !arithmetics_measured(impl_->estimator.trust(gpu.id), workload, gpu)) level = 1;
  // No operation was measured in these; their networks alone were looked at.
  const Runtime runtime = workload.options.runtime;
  const bool other = runtime == Runtime::kPytorchCompiled || runtime == Runtime::kTensorflow;
  const bool recurrent = has_recurrent_layers(workload);
  if (other || workload.options.layout == Layout::kChannelsLast || recurrent) level = std::max(level, 1);
  if (emulates_halves(workload, gpu) || (recurrent && is_erratic(workload, gpu))) level = 2;
  const double unknown = unknown_share(workload);
  if (unknown > 0.10) level = 2;
  if (unknown > 0.01) level = std::max(level, 1);
  // Beyond the largest work that was measured the trees no longer know anything.
  for (const LoweredOperation& operation : workload.operations) {
    const double largest = impl_->largest[static_cast<std::size_t>(group_of(operation.work))];
    if (work_size(operation.work) > 4.0 * largest) level = std::max(level, 1);
  }
  return static_cast<Support>(level);
}

bool Predictor::knows_power(const Workload& workload) const {
  const auto known = [&](const LoweredOperation& one) { return impl_->estimator.knows_power(group_of(one.work)); };
  return workload.operations.empty() || std::any_of(workload.operations.begin(), workload.operations.end(), known);
}

// Of a GPU that networks were measured on, what these said of the time; but for operators nobody knows.
IntervalFactors Predictor::Impl::widths(const Workload& workload, const Estimator::Trust& trust,
                                        Support support) const {
  IntervalFactors out = intervals[static_cast<std::size_t>(support)];
  const std::optional<GpuCorrection>& correction = trust.correction;
  if (!correction || correction->network_width.empty() || support == Support::kOutside) return out;
  const auto measured = correction->network_width.find(network_way(workload.options));
  if (measured != correction->network_width.end()) out.time = measured->second;
  return out;
}

Result<Prediction> Predictor::Impl::predicted(const Workload& workload, const Gpu& gpu, const PredictOptions& options,
                                              Support support, Busy* busy) const {
  if (options.input_copy && !(*options.input_copy > BytesPerSecond{0.0}))
    return invalid("the rate at which a step copies its input must be above 0");
  const HostMachine host = options.host.value_or(HostMachine{});
  const Estimator::Trust& trust = estimator.trust(gpu.id);
  JC_ASSIGN_OR_RETURN(
      const NetworkParts network,
      network_parts(workload, gpu, {options.setting, host, options.input_copy}, {estimator, trust, compose_constants}));
  const auto& [device, works, found, parts, whole, captured] = network;
  Prediction out;
  out.gpu = std::string(gpu.id);
  out.precision = precision_on(workload, gpu, device);
  out.setting = {.sm_clock = Hertz{device.clock}, .power_limit = Watts{device.limit}};
  out.support = support;
  const IntervalFactors width = widths(workload, trust, support);
  const double power = whole.time > 0.0 ? whole.energy / whole.time : device.idle;
  out.time = widen<Seconds>(whole.time, width.time);
  out.power = widen<Watts>(power, width.power);
  out.power.hi = std::max(out.power.value, std::min(out.power.hi, Watts{device.limit}));
  out.energy = widen<Joules>(whole.energy, width.energy);
  out.edp = widen<JouleSeconds>(whole.energy * whole.time, width.energy + width.time);
  out.memory = device_memory(workload.memory, gpu, workload.options.mode);
  out.fits = out.memory.value <= gpu.memory_visible.value_or(gpu.memory_total.value_or(gpu.memory));
  if (out.fits) out.mig_profile = smallest_mig_profile(gpu, out.memory.value);
  out.host = host;
  out.gpu_busy = Seconds{whole.gpu};
  out.host_busy = Seconds{whole.host};
  out.host_bound = whole.host > whole.gpu;
  if (!options.host && !captured && whole.time > 0.0) widen_for_hosts(whole, device, compose_constants.sharpness, out);
  widen_for_unknown(workload, device, out);
  keep_possible(device.idle, Watts{device.limit}, out);
  if (options.breakdown) out.operations = breakdown(workload, works, found, parts, device);
  if (busy != nullptr)
    *busy = {busy_operations(works, found, parts, device, workload.options.mode), whole.beside, device.idle};
  return out;
}

const Result<settings::SettingsModel>& Predictor::Impl::settings_model() const {
  std::call_once(settings_read_, [&] {
    const auto table = pack.table(pack_names::kSettings);
    if (table) {
      settings_ = settings::SettingsModel::from(*table);
    } else if (table.error().code() != ErrorCode::kNotFound) {
      settings_ = tl::unexpected(table.error());
    } else {
      settings_ = unsupported(
          "the predictor pack knows nothing of clocks and limits; joulecast train with "
          "sweeps of them makes one that does");
    }
    if (!settings_) settings_ = tl::unexpected(Error(settings_.error()).in(path));
  });
  return settings_;
}

const Result<void>& Predictor::Impl::verified() const {
  std::call_once(verified_once_, [&] {
    if (auto sound = pack.verify(); !sound) verified_ = tl::unexpected(std::move(sound).error().in(path));
  });
  return verified_;
}

Result<Prediction> Predictor::predict(const Workload& workload, const Gpu& gpu, const PredictOptions& options) const {
  return impl_->predicted(workload, gpu, options, support(workload, gpu), nullptr);
}

Result<Predictor::Impl::Carried> Predictor::Impl::carried(const Workload& workload, const Gpu& gpu,
                                                          const PredictOptions& options, const SettingRequest& request,
                                                          Support support) const {
  const auto& model = settings_model();
  if (!model) return tl::unexpected(model.error());
  std::vector<settings::OperatingPoint> points;
  for (const Setting& setting : request.settings) {
    JC_ASSIGN_OR_RETURN(points.emplace_back(), settings::operating_point(gpu, setting));
  }
  Busy busy;
  JC_ASSIGN_OR_RETURN(const Prediction base, predicted(workload, gpu, options, support, &busy));
  const double time = base.time.value.value();
  const settings::SettingLaw law(model->constants(gpu));
  const settings::HiddenStep step{busy.operations, time, compose_constants.sharpness, busy.beside};
  const auto hidden = settings::hidden_of(step, gpu.power_limit.value(), law);
  constexpr double kSigmas = 1.645;  // of a normal distribution, around 90 % of it
  const double power_up = widths(workload, estimator.trust(gpu.id), support).power;
  constexpr double kLeastSigma = 0.02;  // no prediction of power is better
  const double power_sigma = std::max(kLeastSigma, settings::base_widths(base, power_up, {}).power.down / kSigmas);
  const settings::BasePrediction at_default{time, base.power.value.value(), power_sigma};
  JC_ASSIGN_OR_RETURN(auto curve, settings::SettingCurve::make(*model, gpu, hidden, at_default, request.measured));
  const settings::BaseWidths sides = settings::base_widths(base, power_up, request.measured);
  Carried out{std::move(curve), {}, {}};
  out.outlook = out.curve.outlook(points);
  const std::vector<settings::SettingPrediction> found = out.curve.at(out.outlook);
  for (std::size_t i = 0; i < found.size(); ++i) {
    Prediction& one = out.predictions.emplace_back(settings::applied(base, sides, found[i], request.settings[i]));
    const Seconds shared = one.time.value - Seconds{busy.beside};
    one.host_busy = std::min(one.host_busy, shared);
    one.gpu_busy = settings::busy_part(shared, one.host_busy, compose_constants.sharpness);
    if (request.measured.empty()) one.gpu_busy = std::max(one.gpu_busy, std::min(base.gpu_busy, shared));
    one.host_bound = one.host_busy > one.gpu_busy;
    keep_possible(busy.idle, settings::most_drawn(*one.setting.power_limit, *base.setting.power_limit), one);
  }
  return out;
}

Result<std::vector<Prediction>> Predictor::predict(const Workload& workload, const Gpu& gpu,
                                                   const PredictOptions& options, const SettingRequest& request) const {
  JC_ASSIGN_OR_RETURN(Impl::Carried found, impl_->carried(workload, gpu, options, request, support(workload, gpu)));
  return std::move(found.predictions);
}

namespace {

double cost(const Prediction& of, Objective objective) {
  switch (objective) {
    case Objective::kTime:
      return of.time.value.value();
    case Objective::kEnergy:
      return of.energy.value.value();
    case Objective::kEdp:
      return of.edp.value.value();
  }
  return 0.0;
}

}  // namespace

Result<SettingChoice> Predictor::choose(const Workload& workload, const Gpu& gpu, const PredictOptions& options,
                                        const SettingRequest& request, Objective objective,
                                        const Allowed& allowed) const {
  JC_ASSIGN_OR_RETURN(const Impl::Carried found,
                      impl_->carried(workload, gpu, options, request, support(workload, gpu)));
  JC_CHECK(!request.settings.empty() && !request.settings.front().sm_clock && !request.settings.front().power_limit,
           "the first setting is not the default one");
  SettingChoice out{.usual = found.predictions.front(), .best = {}};
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < found.predictions.size(); ++i) {
    if (allowed(found.predictions[i], out.usual)) open.push_back(i);
  }
  if (open.empty()) return out;
  const settings::SettingCurve::Choice choice = found.curve.recommended(found.outlook, objective, open);
  out.best = found.predictions[choice.point];
  // What is printed of two settings follows what was measured, and must not contradict the choice.
  out.gain = choice.chance > 0.5 && cost(*out.best, objective) < cost(out.usual, objective);
  const Prediction& kept = out.gain ? *out.best : out.usual;
  out.floored = choice.floored && std::any_of(open.begin(), open.end(), [&](std::size_t i) {
                  const Prediction& one = found.predictions[i];
                  return *one.setting.power_limit < settings::kUnsweptFloor * gpu.power_limit &&
                         cost(one, objective) < (1.0 - settings::kNoGain) * cost(kept, objective);
                });
  return out;
}

}  // namespace joulecast
