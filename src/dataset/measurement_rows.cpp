// SPDX-License-Identifier: Apache-2.0
// Between the structs of rows and the flat record.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "dataset/cautions.h"
#include "dataset/details.h"
#include "dataset/measurement.h"
#include "dataset/operation_text.h"
#include "dataset/possible.h"

namespace joulecast {

constexpr std::array<std::string_view, 3> kScopeNames = {"gpu", "gpu+host", "machine"};
constexpr std::array<std::string_view, 3> kRelationNames = {"=", "<=", ">"};

std::string_view name(PowerScope scope) {
  return kScopeNames[static_cast<std::size_t>(scope)];
}
std::string_view name(MemoryRelation relation) {
  return kRelationNames[static_cast<std::size_t>(relation)];
}
std::optional<PowerScope> parse_power_scope(std::string_view text) {
  const auto* at = std::find(kScopeNames.begin(), kScopeNames.end(), text);
  if (at == kScopeNames.end()) return std::nullopt;
  return static_cast<PowerScope>(at - kScopeNames.begin());
}
std::optional<MemoryRelation> parse_memory_relation(std::string_view text) {
  const auto* at = std::find(kRelationNames.begin(), kRelationNames.end(), text);
  if (at == kRelationNames.end()) return std::nullopt;
  return static_cast<MemoryRelation>(at - kRelationNames.begin());
}

namespace {

constexpr std::string_view kInplace = "inplace";
constexpr std::string_view kTrainState = "train-state-module";
constexpr std::string_view kAccumulated = "gradients-accumulated";
constexpr std::string_view kInputsSkipped = "inputs-skipped";
const std::pair<std::string, std::string> kNoInputGradient{"input_gradient", "0"};  // in details
constexpr std::string_view kCompiled = "compiled";
constexpr std::string_view kKernelsAlone = "kernels-alone";
constexpr std::string_view kNormsInHalves = "norms-in-halves";
constexpr std::string_view kChannelsLast = "channels-last";
constexpr std::string_view kLowPower = "low-power-state";

template <typename Q>
std::optional<double> number(const std::optional<Q>& quantity) {
  return quantity ? std::optional(quantity->value()) : std::nullopt;
}

void add_word(std::string& list, std::string_view word, bool there) {
  if (!there) return;
  if (!list.empty()) list += ',';
  list += word;
}

void set_setup(Measurement& out, const Circumstances& at) {
  out.set_text(Column::kGpu, at.gpu);
  out.set_text(Column::kGpuLabel, at.gpu_label);
  out.set_text(Column::kMigProfile, at.mig_profile);
  out.set_real(Column::kSmClock, number(at.sm_clock));
  out.set_real(Column::kMemoryClock, number(at.memory_clock));
  out.set_real(Column::kPowerLimit, number(at.power_limit));
  out.set_text(Column::kMode, name(at.mode));
  out.set_text(Column::kPrecision, name(at.precision));
  if (at.runtime) out.set_text(Column::kRuntime, name(*at.runtime));
  out.set_text(Column::kSoftware, at.software);
  out.set_text(Column::kCampaign, at.campaign);
}

void set_readings(Measurement& out, const Readings& r, PowerScope scope) {
  out.set_real(Column::kTime, number(r.time));
  out.set_real(Column::kTimeStd, number(r.time_std));
  out.set_real(Column::kTimeError, number(r.time_error));
  out.set_real(Column::kPower, number(r.power));
  out.set_real(Column::kPowerStd, number(r.power_std));
  out.set_real(Column::kPowerError, number(r.power_error));
  out.set_real(Column::kEnergy, number(r.energy));
  out.set_real(Column::kEnergyStd, number(r.energy_std));
  out.set_real(Column::kEnergyError, number(r.energy_error));
  out.set_real(Column::kMemory, number(r.memory));
  out.set_real(Column::kMemoryError, number(r.memory_error));
  out.set_text(Column::kMemoryKind, r.memory_kind);
  if (r.memory || r.memory_relation != MemoryRelation::kEqual) {
    out.set_text(Column::kMemoryRelation, name(r.memory_relation));
  }
  if (r.power || r.energy) out.set_text(Column::kPowerScope, name(scope));
  out.set_integer(Column::kRepeats, r.repeats);
}

void set_provenance(Measurement& out, const Provenance& from, bool low_power) {
  out.set_text(Column::kLayout, from.table);
  out.set_text(Column::kFile, from.file);
  out.set_integer(Column::kLine, static_cast<std::int64_t>(from.line));
  out.set_integer(Column::kPart, static_cast<std::int64_t>(from.part));
  if (from.origin) {
    out.set_text(Column::kSource, from.origin->source);
    out.set_text(Column::kLicence, from.origin->licence);
    out.set_text(Column::kProtocol, from.origin->protocol);
  }
  out.set_text(Column::kUpstream, from.upstream);
  out.set_integer(Column::kIsPrimary, std::int64_t{from.primary ? 1 : 0});
  out.set_text(Column::kSplit, from.split);
  std::string list = from.anomaly;
  std::replace(list.begin(), list.end(), ';', ',');  // as some tables write it
  if (low_power) add_caution(list, kLowPower);
  out.set_text(Column::kCautions, list);
}

void set_network(Measurement& out, const MeasuredNetwork& row) {
  set_setup(out, row.at);
  set_readings(out, row.readings, row.at.scope);
  set_provenance(out, row.from, row.at.low_power);
  out.set_text(Column::kName, row.model);
  out.set_integer(Column::kBatch, row.batch);
  out.set_integer(Column::kImageSize, row.image_size);
  out.set_integer(Column::kChannels, row.channels);
  out.set_integer(Column::kSequenceLength, row.sequence_length);
  out.set_text(Column::kOptimizer, row.optimizer);
  out.set_integer(Column::kGpuCount, std::int64_t{row.gpu_count});
  out.set_text(Column::kDetails, row.details);
  std::string state;
  add_word(state, kCompiled, row.compiled);
  add_word(state, kChannelsLast, row.channels_last);
  add_word(state, kKernelsAlone, row.kernels_alone);
  add_word(state, kNormsInHalves, row.norms_in_halves);
  out.set_text(Column::kState, state);
}

}  // namespace

Measurement measurement(const MeasuredOperation& row) {
  Measurement out;
  out.set_text(Column::kKind, "operation");
  out.set_text(Column::kName, row.label);
  out.set_text(Column::kOperationGroup, row.group);
  const OperationText text = operation_text(*row.graph);
  out.set_text(Column::kOperator, text.op);
  out.set_text(Column::kOperands, text.operands);
  out.set_text(Column::kAttributes, text.attributes);
  out.set_integer(Column::kGpuCount, std::int64_t{1});
  out.set_text(Column::kKernel, row.kernel);
  out.set_integer(Column::kWeightCopies, std::int64_t{row.weight_copies});
  set_setup(out, row.at);
  set_readings(out, row.readings, row.at.scope);
  set_provenance(out, row.from, row.at.low_power);
  std::string state;
  add_word(state, kInplace, row.inplace);
  add_word(state, kTrainState, row.train_state_module);
  add_word(state, kAccumulated, row.gradients_accumulated);
  add_word(state, kInputsSkipped, row.inputs_skipped);
  out.set_text(Column::kState, state);
  out.set_text(Column::kDetails, row.details);
  return out;
}

Measurement measurement(const MeasuredNetwork& row) {
  Measurement out;
  out.set_text(Column::kKind, "network");
  set_network(out, row);
  return out;
}

Measurement measurement(const MeasuredOther& row) {
  Measurement out;
  out.set_text(Column::kKind, row.network ? "network" : "operation");
  set_network(out, row);
  out.set_text(Column::kPer, row.per);
  out.set_text(Column::kMode, row.mode);
  out.set_text(Column::kPrecision, row.precision);
  return out;
}

namespace {

tl::unexpected<Error> complaint(const Measurement& m, Column column, std::string_view what) {
  return invalid(fmt::format("column '{}': '{}' {}", info(column).name, cell_text(m.cell(column)).substr(0, 80), what));
}

template <typename Q>
std::optional<Q> quantity(const Measurement& m, Column column) {
  const auto value = m.real(column);
  return value ? std::optional<Q>(Q{*value}) : std::nullopt;
}

template <typename Q>
Result<void> check_possible(const Measurement& m, Column column, Q unit) {
  const PossibleRange range = possible(unit);
  const auto value = m.real(column);
  if (!value || (*value >= range.least && *value <= range.most)) return {};
  return complaint(m, column, fmt::format("is not between {:g} and {:g} {}", range.least, range.most, range.unit));
}

// Of one operation or step. Epochs, tokens and halls full of machines have no such bounds.
Result<void> check_one_execution(const Measurement& m) {
  JC_RETURN_IF_ERROR(check_possible(m, Column::kTime, Seconds{}));
  JC_RETURN_IF_ERROR(check_possible(m, Column::kPower, Watts{}));
  JC_RETURN_IF_ERROR(check_possible(m, Column::kEnergy, Joules{}));
  return check_possible(m, Column::kMemory, Bytes{});
}

Result<void> check_readings(const Measurement& m) {
  bool any = false;
  for (const Column column : {Column::kTime, Column::kPower, Column::kEnergy, Column::kMemory, Column::kSmClock,
                              Column::kMemoryClock, Column::kPowerLimit}) {
    const auto value = m.real(column);
    if (value && !(*value > 0.0)) return complaint(m, column, "is not above 0");
    any = any || (value && info(column).home == ColumnHome::kRow);
  }
  for (const Column column : {Column::kTimeStd, Column::kTimeError, Column::kPowerStd, Column::kPowerError,
                              Column::kEnergyStd, Column::kEnergyError, Column::kMemoryError}) {
    if (m.real(column).value_or(0.0) < 0.0) return complaint(m, column, "is negative");
  }
  // What did not fit is a result, also where nobody says how much there was.
  if (!any && m.text(Column::kMemoryRelation) != ">") return invalid("no reading of time, power, energy or memory");
  return {};
}

// A slip would be a silent gap: the row would pass for one in no state.
Result<void> check_state(const Measurement& m) {
  constexpr std::array kStates{kInplace,  kTrainState,   kAccumulated,  kInputsSkipped,
                               kCompiled, kChannelsLast, kKernelsAlone, kNormsInHalves};
  std::string_view list = m.text(Column::kState);
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",;"), list.size());
    if (std::find(kStates.begin(), kStates.end(), list.substr(0, end)) == kStates.end())
      return complaint(m, Column::kState, fmt::format("has a word that is none of {}", fmt::join(kStates, ", ")));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return {};
}

Result<void> check_integers(const Measurement& m) {
  for (const Column column : {Column::kBatch, Column::kImageSize, Column::kChannels, Column::kSequenceLength,
                              Column::kGpuCount, Column::kWeightCopies, Column::kRepeats}) {
    const auto value = m.integer(column);
    if (value && (*value < 1 || *value > kMaxElements)) return complaint(m, column, "is not a possible number");
  }
  for (const Column column : {Column::kGpuCount, Column::kWeightCopies}) {
    if (m.integer(column).value_or(1) > std::numeric_limits<int>::max()) return complaint(m, column, "is too large");
  }
  for (const Column column : {Column::kLine, Column::kPart}) {
    if (m.integer(column).value_or(0) < 0) return complaint(m, column, "is negative");
  }
  const auto primary = m.integer(Column::kIsPrimary).value_or(1);
  if (primary != 0 && primary != 1) return complaint(m, Column::kIsPrimary, "is neither 0 nor 1");
  return {};
}

}  // namespace

Result<void> check_values(const Measurement& m) {
  if (m.text(Column::kName).empty() && m.text(Column::kOperator).empty()) {
    return complaint(m, Column::kName, "is missing");
  }
  if (m.text(Column::kGpu).empty()) return complaint(m, Column::kGpu, "is missing");
  JC_RETURN_IF_ERROR(check_integers(m));
  JC_RETURN_IF_ERROR(check_readings(m));
  return m.text(Column::kPer).empty() ? check_one_execution(m) : Result<void>();
}

namespace {

Result<Readings> readings_of(const Measurement& m) {
  Readings r;
  r.time = quantity<Seconds>(m, Column::kTime);
  r.time_std = quantity<Seconds>(m, Column::kTimeStd);
  r.time_error = quantity<Seconds>(m, Column::kTimeError);
  r.power = quantity<Watts>(m, Column::kPower);
  r.power_std = quantity<Watts>(m, Column::kPowerStd);
  r.power_error = quantity<Watts>(m, Column::kPowerError);
  r.energy = quantity<Joules>(m, Column::kEnergy);
  r.energy_std = quantity<Joules>(m, Column::kEnergyStd);
  r.energy_error = quantity<Joules>(m, Column::kEnergyError);
  r.memory = quantity<Bytes>(m, Column::kMemory);
  r.memory_error = quantity<Bytes>(m, Column::kMemoryError);
  r.memory_kind = m.text(Column::kMemoryKind);
  r.repeats = m.integer(Column::kRepeats);
  if (const std::string& text = m.text(Column::kMemoryRelation); !text.empty()) {
    const auto relation = parse_memory_relation(text);
    if (!relation) return complaint(m, Column::kMemoryRelation, "is none of =, <=, >");
    r.memory_relation = *relation;
  }
  return r;
}

// Without mode and precision, for which a row may have words of its own.
Result<Circumstances> circumstances_of(const Measurement& m) {
  Circumstances at;
  at.gpu = m.text(Column::kGpu);
  at.gpu_label = m.text(Column::kGpuLabel);
  at.mig_profile = m.text(Column::kMigProfile);
  at.sm_clock = quantity<Hertz>(m, Column::kSmClock);
  at.memory_clock = quantity<Hertz>(m, Column::kMemoryClock);
  at.power_limit = quantity<Watts>(m, Column::kPowerLimit);
  at.software = m.text(Column::kSoftware);
  at.campaign = m.text(Column::kCampaign);
  at.low_power = has_caution(m.text(Column::kCautions), kLowPower);
  if (const std::string& text = m.text(Column::kRuntime); !text.empty()) {
    at.runtime = parse_runtime(text);
    if (!at.runtime) return complaint(m, Column::kRuntime, "is no runtime of ours; name it under 'software'");
  }
  if (const std::string& text = m.text(Column::kPowerScope); !text.empty()) {
    const auto scope = parse_power_scope(text);
    if (!scope) return complaint(m, Column::kPowerScope, "is none of gpu, gpu+host, machine");
    at.scope = *scope;
  }
  return at;
}

Provenance provenance_of(const Measurement& m) {
  Provenance from;
  from.table = m.text(Column::kLayout);
  from.file = m.text(Column::kFile);
  from.line = static_cast<std::size_t>(m.integer(Column::kLine).value_or(0));
  from.part = static_cast<std::size_t>(m.integer(Column::kPart).value_or(0));
  from.origin = std::make_shared<const Origin>(
      Origin{m.text(Column::kSource), m.text(Column::kLicence), m.text(Column::kProtocol)});
  from.upstream = m.text(Column::kUpstream);
  from.primary = m.integer(Column::kIsPrimary).value_or(1) == 1;
  from.anomaly = m.text(Column::kCautions);
  from.split = m.text(Column::kSplit);
  return from;
}

bool has_state(const Measurement& m, std::string_view word) {
  return has_caution(m.text(Column::kState), word);
}

// What all three kinds share, checked.
struct Common {
  Circumstances at;
  Readings readings;
  Provenance from;
};

Result<Common> common_of(const Measurement& m) {
  JC_RETURN_IF_ERROR(check_values(m));
  JC_RETURN_IF_ERROR(check_state(m));
  JC_ASSIGN_OR_RETURN(Circumstances at, circumstances_of(m));
  JC_ASSIGN_OR_RETURN(Readings readings, readings_of(m));
  return Common{std::move(at), std::move(readings), provenance_of(m)};
}

Result<bool> makes_input_gradient(const Measurement& m) {
  const auto details = parse_details(m.text(Column::kDetails));
  if (!details) return complaint(m, Column::kDetails, details.error().text());
  return std::find(details->begin(), details->end(), kNoInputGradient) == details->end();
}

bool is_told(const Measurement& m, Column column) {
  return !cell_text(m.cell(column)).empty();
}

// Cells that the other kind of rows has, and which would be lost: an operation's operands have their sizes, and it is
// one call on one GPU.
Result<void> check_of_operation(const Measurement& m) {
  for (const Column column : {Column::kBatch, Column::kImageSize, Column::kChannels, Column::kSequenceLength,
                              Column::kOptimizer, Column::kPer}) {
    if (is_told(m, column)) return complaint(m, column, "is of a network, and stands in a row of an operation");
  }
  if (m.integer(Column::kGpuCount).value_or(1) != 1)
    return complaint(m, Column::kGpuCount, "is not 1 in a row of an operation");
  for (const std::string_view word : {kCompiled, kChannelsLast, kKernelsAlone, kNormsInHalves}) {
    if (has_state(m, word)) return complaint(m, Column::kState, fmt::format("says '{}' of an operation", word));
  }
  return {};
}

Result<void> check_of_network(const Measurement& m) {
  for (const Column column : {Column::kOperationGroup, Column::kKernel, Column::kWeightCopies}) {
    if (is_told(m, column)) return complaint(m, column, "is of an operation, and stands in a row of a network");
  }
  for (const std::string_view word : {kInplace, kTrainState, kAccumulated, kInputsSkipped}) {
    if (has_state(m, word)) return complaint(m, Column::kState, fmt::format("says '{}' of a network", word));
  }
  return {};
}

Result<MeasuredOperation> operation_of(const Measurement& m, Common common, OperationPool& pool) {
  JC_RETURN_IF_ERROR(check_of_operation(m));
  MeasuredOperation out;
  out.at = std::move(common.at);
  out.readings = std::move(common.readings);
  out.from = std::move(common.from);
  const auto mode = parse_mode(m.text(Column::kMode));
  if (!mode) return complaint(m, Column::kMode, "is neither inference nor training");
  const auto precision = parse_precision(m.text(Column::kPrecision));
  if (!precision) return complaint(m, Column::kPrecision, "is no precision of ours");
  out.at.mode = *mode;
  out.at.precision = *precision;
  const OperationText text{m.text(Column::kOperator), m.text(Column::kOperands), m.text(Column::kAttributes)};
  const std::string key = fmt::format("{} ({}) {{{}}}", text.op, text.operands, text.attributes);
  JC_ASSIGN_OR_RETURN(out.graph, pool.get(key, [&] { return parse_operation(text); }));
  out.label = m.text(Column::kName).empty() ? key : m.text(Column::kName);
  out.group = m.text(Column::kOperationGroup).empty() ? key : m.text(Column::kOperationGroup);
  out.kernel = m.text(Column::kKernel);
  out.inplace = has_state(m, kInplace);
  out.train_state_module = has_state(m, kTrainState);
  out.gradients_accumulated = has_state(m, kAccumulated);
  out.inputs_skipped = has_state(m, kInputsSkipped);
  JC_ASSIGN_OR_RETURN(out.input_gradient, makes_input_gradient(m));
  out.details = m.text(Column::kDetails);
  out.weight_copies = static_cast<int>(m.integer(Column::kWeightCopies).value_or(1));
  return out;
}

void fill_network(const Measurement& m, Common common, MeasuredNetwork& out) {
  out.at = std::move(common.at);
  out.readings = std::move(common.readings);
  out.from = std::move(common.from);
  out.model = m.text(Column::kName);
  out.batch = m.integer(Column::kBatch);
  out.image_size = m.integer(Column::kImageSize);
  out.channels = m.integer(Column::kChannels);
  out.sequence_length = m.integer(Column::kSequenceLength);
  out.optimizer = m.text(Column::kOptimizer);
  out.gpu_count = static_cast<int>(m.integer(Column::kGpuCount).value_or(1));
  out.details = m.text(Column::kDetails);
  out.compiled = has_state(m, kCompiled);
  out.channels_last = has_state(m, kChannelsLast);
  out.kernels_alone = has_state(m, kKernelsAlone);
  out.norms_in_halves = has_state(m, kNormsInHalves);
}

// Why a row is no step of a network that anything here knows.
std::string other_network(const Measurement& m) {
  if (const std::string& per = m.text(Column::kPer); !per.empty()) return fmt::format("measured per {}", per);
  if (const std::string& mode = m.text(Column::kMode); !parse_mode(mode))
    return fmt::format("mode '{}' is neither inference nor training", mode);
  return fmt::format("precision '{}' is none of ours", m.text(Column::kPrecision));
}

MeasuredOther other_of(const Measurement& m, Common common, bool network) {
  MeasuredOther out;
  fill_network(m, std::move(common), out);
  out.network = network;
  out.per = m.text(Column::kPer);
  out.mode = m.text(Column::kMode);
  out.precision = m.text(Column::kPrecision);
  out.reason = network ? other_network(m) : "an operation that is none of ours";
  return out;
}

}  // namespace

Result<void> deliver(const Measurement& m, OperationPool& pool, const TableSink& sink) {
  const std::string& kind = m.text(Column::kKind);
  if (!kind.empty() && kind != "operation" && kind != "network") {
    return complaint(m, Column::kKind, "is neither operation nor network");
  }
  JC_ASSIGN_OR_RETURN(Common common, common_of(m));
  if (!m.text(Column::kOperator).empty()) {
    if (kind == "network") return complaint(m, Column::kOperator, "stands in a row of a network");
    JC_ASSIGN_OR_RETURN(MeasuredOperation row, operation_of(m, std::move(common), pool));
    if (sink.operation) sink.operation(std::move(row));
    return {};
  }
  const auto mode = parse_mode(m.text(Column::kMode));
  const auto precision = parse_precision(m.text(Column::kPrecision));
  const bool network = kind != "operation";
  if (network) JC_RETURN_IF_ERROR(check_of_network(m));
  if (!network || !mode || !precision || !m.text(Column::kPer).empty()) {
    if (sink.other) sink.other(other_of(m, std::move(common), network));
    return {};
  }
  MeasuredNetwork row;
  fill_network(m, std::move(common), row);
  row.at.mode = *mode;
  row.at.precision = *precision;
  if (sink.network) sink.network(std::move(row));
  return {};
}

}  // namespace joulecast
