// SPDX-License-Identifier: Apache-2.0
#include "analysis/source_sampling.h"
#include "cli/measure/summary_text.h"

namespace joulecast::cli {
namespace {

Json optional_number(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

Json spread_json(const std::optional<Spread>& spread) {
  if (!spread) return nullptr;
  return {{"mean", json_number(spread->mean)},
          {"stddev", optional_number(spread->deviation)},
          {"min", json_number(spread->least)},
          {"max", json_number(spread->most)},
          {"n", spread->count}};
}

Json range_json(const std::optional<ReadingRange>& range) {
  if (!range) return nullptr;
  return {{"mean", json_number(range->mean)}, {"min", json_number(range->low)}, {"max", json_number(range->high)}};
}

Json class_json(const std::optional<series::SensorClass>& sensor) {
  return sensor ? Json(std::string(1, series::letter(*sensor))) : Json(nullptr);
}

const char* correction_name(Correction correction) {
  switch (correction) {
    case Correction::kDesmeared:
      return "desmeared";
    case Correction::kOffEdges:
      return "off_edges";
    case Correction::kNone:
      break;
  }
  return "none";
}

Json refused_json(const DeviceAccount& run) {
  Json out = Json::array();
  for (const RefusedSource& source : run.refused) {
    out.push_back({{"source", source.source}, {"sensor_class", class_json(source.sensor)}, {"why", source.why}});
  }
  return out;
}

Json sampling_json(const SourceSampling& one) {
  Json out{{"device", one.channel.device},
           {"source", one.channel.source},
           {"signal", info(one.channel.signal).key},
           {"update_period_s", optional_number(one.update_period_s)},
           {"dropped", one.dropped},
           {"absent", one.absent}};
  if (!one.sampling) return out;
  const series::Sampling& sampling = *one.sampling;
  out["samples"] = sampling.samples;
  out["rate_hz"] = json_number(sampling.rate.value());
  out["usual_gap_s"] = json_number(sampling.usual_gap.value());
  out["jitter_s"] = json_number(sampling.jitter.value());
  out["coefficient_of_variation"] = json_number(sampling.coefficient_of_variation);
  out["longest_gap_s"] = json_number(sampling.longest_gap.value());
  out["longest_gap_at_s"] = json_number(sampling.longest_gap_at.value());
  out["lost"] = sampling.lost;
  return out;
}

Json doubts_json(const RunSummary& summary, const std::string& device) {
  Json out = Json::array();
  for (const SensorDoubt& doubt : summary.sensor_doubts) {
    if (doubt.device != device) continue;
    out.push_back({{"warning", series::warning_name(doubt.warning)},
                   {"source", doubt.source},
                   {"sensor_class", std::string(1, doubt.sensor_class)},
                   {"text", doubt.text},
                   {"advice", series::warning_advice(doubt.warning)}});
  }
  return out;
}

Json run_json(const DeviceAccount& run, const RunSummary& summary) {
  Json sources = Json::array();
  for (const SourceEnergy& source : run.energy) {
    sources.push_back(
        {{"source", source.source},
         {"method", series::method_name(source.method)},
         {"energy_j", json_number(source.energy.value())},
         {"standard_error_j", optional_number(told_error(summary, run.device, source))},
         {"coverage", json_number(source.coverage)},
         {"sensor_class", class_json(source.sensor)},
         {"correction", correction_name(source.correction)},
         {"uncalibrated_j", source.uncalibrated ? json_number(source.uncalibrated->value()) : Json(nullptr)}});
  }
  return {{"sources", sources},
          {"refused", refused_json(run)},
          {"power_w", range_json(run.power_w)},
          {"sm_clock_hz", range_json(run.sm_clock_hz)},
          {"temperature_c", range_json(run.temperature_c)},
          {"utilization_ratio", range_json(run.utilization_ratio)},
          {"memory_used_bytes", range_json(run.memory_used_bytes)},
          {"event_reasons", run.event_reasons ? Json(*run.event_reasons) : Json(nullptr)},
          {"power_capped_ratio", optional_number(run.capped_share)}};
}

Json device_json(const DeviceSummary& device, const RunSummary& summary) {
  Json runs = Json::array();
  for (const DeviceAccount& run : device.runs) runs.push_back(run_json(run, summary));
  Json energy = spread_json(device.energy_j);
  if (device.energy_j) {
    energy["standard_error"] = optional_number(device.standard_error_j);
    const SourceEnergy& best = device.runs.front().energy.front();
    energy["source"] = best.source;
    energy["method"] = series::method_name(best.method);
    energy["correction"] = correction_name(best.correction);
    energy["calibrated"] = best.uncalibrated.has_value();
  }
  return {{"device", device.device},
          {"name", device.name},
          {"energy_j", energy},
          {"power_w", spread_json(device.power_w)},
          {"edp_js", optional_number(device.edp_js)},
          {"ed2p_js2", optional_number(device.ed2p_js2)},
          {"idle_power_w", optional_number(device.idle_power_w)},
          {"above_idle_j", optional_number(device.above_idle_j)},
          {"above_idle_standard_error_j", optional_number(device.above_idle_error_j)},
          {"idle_ratio", optional_number(device.idle_share)},
          {"doubts", doubts_json(summary, device.device)},
          {"runs", runs}};
}

Json with_total(const std::optional<Spread>& spread) {
  Json out = spread_json(spread);
  if (spread) out["total"] = json_number(spread->total);
  return out;
}

Json phase_json(const PhaseGroup& group, const RunSummary& summary) {
  Json energy = Json::object();
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    Json& one = energy[summary.devices[i].device] = with_total(group.energy_j[i]);
    if (group.energy_j[i]) one["standard_error"] = optional_number(group.standard_error_j[i]);
  }
  return {{"name", group.name},
          {"time_s", with_total(group.time_s)},
          {"energy_j", energy},
          {"open", group.open},
          {"overlapping", group.overlapping}};
}

Json failed_json(const std::vector<FailedRun>& failed) {
  Json out = Json::array();
  for (const FailedRun& run : failed) {
    out.push_back(
        {{"run", number_of_run(run.command)}, {"code", run.code}, {"time_s", json_number(run.command.seconds())}});
  }
  return out;
}

}  // namespace

Json summary_json(const Recording& recording, const RunSummary& summary) {
  Json devices = Json::array();
  for (const DeviceSummary& device : summary.devices) devices.push_back(device_json(device, summary));
  Json phases = Json::array();
  for (const PhaseGroup& group : summary.phases) phases.push_back(phase_json(group, summary));
  Json sampling = Json::array();
  for (const SourceSampling& one : sampling_of_sources(recording)) sampling.push_back(sampling_json(one));
  Json out{{"schema", "joulecast.measurement/1"},
           {"time_s", spread_json(summary.time_s)},
           {"failed_runs", failed_json(summary.failed)},
           {"devices", devices},
           {"phases", phases},
           {"sampling", sampling},
           {"warnings", summary.doubts},
           {"complete", recording.damage.complete}};
  out["run"] = Json::parse(recording.head.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  out["end"] = Json::parse(recording.end.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  return out;
}

}  // namespace joulecast::cli
