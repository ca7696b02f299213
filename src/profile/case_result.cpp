// SPDX-License-Identifier: Apache-2.0
#include "profile/case_result.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dataset/cautions.h"

namespace joulecast::profile {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "joulecast.case/1";
// In more than this share of the time the host was still issuing calls: its pace was measured, not the device's.
constexpr double kHostBound = 0.9;
constexpr double kMilli = 1e-3, kMega = 1e6;

template <typename T>
void put(Json& json, const char* key, const std::optional<T>& value) {
  if (value) json[key] = *value;
}

template <typename T>
std::optional<T> get(const Json& json, const char* key) {
  const auto at = json.find(key);
  if (at == json.end() || at->is_null()) return std::nullopt;
  return at->get<T>();
}

Json windows_json(const CaseTiming& timing) {
  Json out = Json::array();
  for (const TimedWindow& window : timing.windows) {
    Json one = {window.iterations, window.begin_us, window.end_us, window.host_s};
    if (window.device_s) one.push_back(*window.device_s);
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<TimedWindow> windows_of(const Json& json) {
  std::vector<TimedWindow> out;
  for (const Json& one : json) {
    TimedWindow window{one.at(0).get<std::int64_t>(), one.at(1).get<std::int64_t>(), one.at(2).get<std::int64_t>(),
                       one.at(3).get<double>(), std::nullopt};
    if (one.size() > 4) window.device_s = one.at(4).get<double>();
    if (window.iterations < 1 || window.end_us <= window.begin_us)
      throw Json::other_error::create(501, "a window of nothing", nullptr);
    out.push_back(window);
  }
  return out;
}

void put_measured(Json& json, const CaseResult& result) {
  const CaseTiming& timing = result.timing;
  json["time_s"] = timing.mean_s;
  json["time_std_s"] = timing.deviation_s;
  json["time_se_s"] = timing.error_s;
  json["host_share"] = timing.host_share;
  json["settled"] = timing.settled;
  json["copies"] = timing.copies;
  json["weight_bytes"] = timing.weight_bytes;
  put(json, "allocated_bytes", timing.allocated_bytes);
  put(json, "reserved_bytes", timing.reserved_bytes);
  if (result.power) {
    json["power"] = {{"power_w", result.power->power_w},
                     {"power_se_w", result.power->power_error_w},
                     {"energy_j", result.power->energy_j},
                     {"energy_se_j", result.power->energy_error_j},
                     {"source", result.power->source}};
  }
  if (!result.doubts.empty()) json["doubts"] = result.doubts;
  if (!result.slowed_by.empty()) json["slowed_by"] = result.slowed_by;
  if (!result.beside.empty()) json["beside"] = result.beside;
  json["windows"] = windows_json(timing);
}

// A word that must name a mode or a precision.
template <typename T>
T named(const Json& json, const char* key, std::optional<T> (*parse)(std::string_view)) {
  const auto value = parse(json.at(key).get<std::string>());
  if (!value) throw Json::other_error::create(501, fmt::format("an unknown {}", key), nullptr);
  return *value;
}

void put_subject(Json& json, const CaseSubject& subject) {
  if (subject.network.empty()) {
    json["operator"] = subject.operation.op;
    json["operands"] = subject.operation.operands;
    json["attributes"] = subject.operation.attributes;
    if (!subject.input_gradient) json["input_gradient"] = false;
  } else {
    json["network"] = subject.network;
    if (!subject.module.empty()) json["module"] = subject.module;
    put(json, "batch", subject.batch);
    put(json, "image_size", subject.image_size);
    put(json, "sequence_length", subject.sequence_length);
  }
  json["mode"] = std::string(name(subject.mode));
  json["precision"] = std::string(name(subject.precision));
  if (subject.settings.power_limit_mw) json["power_limit_w"] = *subject.settings.power_limit_mw * kMilli;
  if (subject.settings.sm_lock) json["sm_clock_hz"] = subject.settings.sm_lock->high_mhz * kMega;
}

CaseSubject subject_of(const Json& json) {
  CaseSubject out;
  out.network = get<std::string>(json, "network").value_or("");
  out.module = get<std::string>(json, "module").value_or("");
  if (out.network.empty()) {
    out.operation = {json.at("operator").get<std::string>(), json.at("operands").get<std::string>(),
                     json.at("attributes").get<std::string>()};
  }
  out.input_gradient = get<bool>(json, "input_gradient").value_or(true);
  out.batch = get<std::int64_t>(json, "batch");
  out.image_size = get<std::int64_t>(json, "image_size");
  out.sequence_length = get<std::int64_t>(json, "sequence_length");
  out.mode = named(json, "mode", parse_mode);
  out.precision = named(json, "precision", parse_precision);
  if (const auto watts = get<double>(json, "power_limit_w"))
    out.settings.power_limit_mw = static_cast<std::uint32_t>(std::lround(std::clamp(*watts, 0.0, 1e6) / kMilli));
  if (const auto hertz = get<double>(json, "sm_clock_hz")) {
    const auto mhz = static_cast<std::uint32_t>(std::lround(std::clamp(*hertz, 0.0, 1e12) / kMega));
    out.settings.sm_lock = ClockRange{mhz, mhz};
  }
  return out;
}

CaseResult from_json(const Json& json) {
  CaseResult out;
  out.id = json.at("id").get<std::string>();
  out.subject = subject_of(json);
  const std::string status = json.at("status").get<std::string>();
  if (status != "measured" && status != "failed") throw Json::other_error::create(501, "an unknown status", nullptr);
  out.measured = status == "measured";
  out.reason = get<std::string>(json, "reason").value_or("");
  out.started = get<std::string>(json, "started").value_or("");
  if (!out.measured) return out;
  out.timing.windows = windows_of(json.at("windows"));
  if (out.timing.windows.empty()) throw Json::other_error::create(501, "no window", nullptr);
  summarize(out.timing);
  out.timing.settled = get<bool>(json, "settled").value_or(true);
  out.timing.copies = get<std::int64_t>(json, "copies").value_or(1);
  out.timing.weight_bytes = get<std::int64_t>(json, "weight_bytes").value_or(0);
  out.timing.allocated_bytes = get<std::int64_t>(json, "allocated_bytes");
  out.timing.reserved_bytes = get<std::int64_t>(json, "reserved_bytes");
  if (json.contains("power")) {
    const Json& power = json.at("power");
    out.power = CasePower{power.at("power_w").get<double>(), power.at("power_se_w").get<double>(),
                          power.at("energy_j").get<double>(), power.at("energy_se_j").get<double>(),
                          power.at("source").get<std::string>()};
  }
  out.doubts = get<std::vector<std::string>>(json, "doubts").value_or(std::vector<std::string>{});
  out.slowed_by = get<std::string>(json, "slowed_by").value_or("");
  out.beside = get<std::string>(json, "beside").value_or("");
  return out;
}

std::string cautions(const CaseResult& result) {
  std::string out;
  if (result.timing.host_share > kHostBound && result.timing.windows.front().device_s) add_caution(out, "host-bound");
  if (!result.timing.settled) add_caution(out, "time-unsteady");
  if (result.slowed_by.find("power limit") != std::string::npos) add_caution(out, "capped-clock");
  if (!result.beside.empty()) add_caution(out, "shared-processor");
  if (result.slowed_by.find("thermal") != std::string::npos) add_caution(out, "throttled");
  return out;
}

void put_readings(Measurement& row, const CaseResult& result) {
  const CaseTiming& timing = result.timing;
  row.set_real(Column::kTime, timing.mean_s);
  row.set_real(Column::kTimeStd, timing.deviation_s);
  row.set_real(Column::kTimeError, timing.error_s);
  row.set_integer(Column::kRepeats, static_cast<std::int64_t>(timing.windows.size()));
  if (timing.allocated_bytes && *timing.allocated_bytes > 0) {
    row.set_real(Column::kMemory, static_cast<double>(*timing.allocated_bytes));
    row.set_text(Column::kMemoryKind, "max-allocated");
    row.set_text(Column::kMemoryRelation, "=");
  }
  if (!result.power) return;
  row.set_real(Column::kPower, result.power->power_w);
  row.set_real(Column::kPowerError, result.power->power_error_w);
  row.set_real(Column::kEnergy, result.power->energy_j);
  row.set_real(Column::kEnergyError, result.power->energy_error_j);
  row.set_text(Column::kPowerScope, "gpu");
}

}  // namespace

CaseSubject subject_of(const PlannedCase& planned) {
  return {.operation = planned.operation,
          .network = planned.network,
          .module = planned.request.module,
          .batch = planned.batch,
          .image_size = planned.image_size,
          .sequence_length = planned.sequence_length,
          .mode = planned.request.mode,
          .precision = planned.request.precision,
          .settings = planned.settings,
          .input_gradient = planned.request.input_gradient};
}

std::string journal_line(const CaseResult& result) {
  Json json = {{"schema", kSchema}, {"id", result.id}, {"status", result.measured ? "measured" : "failed"}};
  put_subject(json, result.subject);
  json["started"] = result.started;
  if (result.measured) {
    put_measured(json, result);
  } else {
    json["reason"] = result.reason;
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<CaseResult> parse_journal_line(std::string_view line) {
  try {
    const Json json = Json::parse(line);
    if (json.at("schema").get<std::string>() != kSchema) return invalid("a line of another schema");
    return from_json(json);
  } catch (const Json::exception& error) {
    return invalid(fmt::format("no line of a campaign (without it, its case is measured again): {}", error.what()));
  }
}

namespace {

void put_subject(Measurement& row, const CaseSubject& subject, std::int64_t copies) {
  if (subject.network.empty()) {
    row.set_text(Column::kKind, "operation");
    row.set_text(Column::kName, subject.operation.op);
    row.set_text(Column::kOperator, subject.operation.op);
    row.set_text(Column::kOperands, subject.operation.operands);
    row.set_text(Column::kAttributes, subject.operation.attributes);
    row.set_integer(Column::kWeightCopies, copies);
    if (!subject.input_gradient) row.set_text(Column::kDetails, "input_gradient=0");
  } else {
    row.set_text(Column::kKind, "network");
    row.set_text(Column::kName, subject.network);
    row.set_integer(Column::kBatch, subject.batch);
    row.set_integer(Column::kImageSize, subject.image_size);
    row.set_integer(Column::kSequenceLength, subject.sequence_length);
    if (subject.mode == Mode::kTraining) row.set_text(Column::kOptimizer, "sgd");
  }
  row.set_text(Column::kMode, name(subject.mode));
  row.set_text(Column::kPrecision, name(subject.precision));
  if (subject.settings.power_limit_mw) row.set_real(Column::kPowerLimit, *subject.settings.power_limit_mw * kMilli);
  if (subject.settings.sm_lock) row.set_real(Column::kSmClock, subject.settings.sm_lock->high_mhz * kMega);
}

}  // namespace

Measurement measurement(const CaseResult& result, const Bench& bench) {
  Measurement row;
  put_subject(row, result.subject, result.timing.copies);
  row.set_text(Column::kGpu, bench.device);
  row.set_text(Column::kGpuLabel, bench.label);
  row.set_text(Column::kRuntime, bench.runtime);
  row.set_text(Column::kSoftware, bench.software);
  row.set_text(Column::kProtocol, bench.protocol);
  row.set_text(Column::kCautions, cautions(result));
  put_readings(row, result);
  return row;
}

}  // namespace joulecast::profile
