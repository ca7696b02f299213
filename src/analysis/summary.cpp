// SPDX-License-Identifier: Apache-2.0
#include "analysis/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "analysis/baseline.h"
#include "analysis/limit_changes.h"
#include "analysis/reading_interval.h"
#include "analysis/run_device.h"
#include "analysis/said_once.h"
#include "analysis/sensor_doubts.h"
#include "analysis/stretch_energy.h"

namespace joulecast {
namespace {

constexpr const char* kCommand = "command";
constexpr const char* kBaseline = "baseline";

bool is_ours(const Phase& phase) {
  return phase.track == kRecorderTrack && (phase.name == kCommand || phase.name == kBaseline || phase.name == kWarmup);
}

struct PhaseEnergy {
  Spread energy_j;
  std::optional<double> standard_error_j;  // of the mean
};

class Summarizer {
 public:
  Summarizer(const Recording& recording, const SummaryOptions& options)
      : recording_(recording),
        options_(options),
        accountant_(recording, options.lines),
        phases_(phases_of(recording)) {}

  Result<RunSummary> summary();

 private:
  DeviceSummary device(const std::string& id, const RunSummary& summary) const;
  void add_idle(DeviceSummary& device, double seconds) const;
  [[nodiscard]] std::optional<IdlePower> idle_power(const std::string& device) const;
  // Of a recorded command that was still to come when the recording ended: what there is instead.
  [[nodiscard]] std::optional<std::string> only_before_command() const;
  [[nodiscard]] std::optional<Phase> baseline() const;
  // By the sensors' doubts of the summary.
  [[nodiscard]] std::vector<PhaseGroup> groups(const RunSummary& summary) const;
  [[nodiscard]] PhaseGroup group(const RunSummary& summary, const std::string& name,
                                 const std::vector<Phase>& phases) const;
  // Absent where nothing covers one of them. `apart`: the same phases, joined where they share time.
  [[nodiscard]] std::optional<PhaseEnergy> energies(const RunSummary& summary, const std::string& device,
                                                    const std::vector<Phase>& phases,
                                                    const std::vector<Phase>& apart) const;
  std::vector<std::string> doubts(const RunSummary& summary) const;

  const Recording& recording_;
  const SummaryOptions& options_;
  Accountant accountant_;
  Phases phases_;
};

Result<RunSummary> Summarizer::summary() {
  RunSummary out;
  SortedRuns runs = sort_runs(recording_, own_phases(phases_.phases, kCommand));
  out.commands = std::move(runs.counted);
  out.failed = std::move(runs.left_out);
  if (const auto instead = only_before_command()) {
    return invalid(fmt::format("the command had not begun when the recording ended: {} is all there is", *instead));
  }
  const auto span = recording_.span();
  if (out.commands.empty() && span && span->end > span->begin) {
    out.commands.push_back({"recording", {}, 0, span->begin, span->end, false});
  }
  if (out.commands.empty()) return invalid("the recording has no time in it: nothing was read or marked");
  std::vector<double> times;
  for (const Phase& command : out.commands) times.push_back(command.seconds());
  out.time_s = spread(times);
  for (const std::string& id : accountant_.devices()) out.devices.push_back(device(id, out));
  out.sensor_doubts = sensor_doubts(recording_, phases_.phases, out.devices);
  out.phases = groups(out);
  for (DeviceSummary& device : out.devices) {
    const auto best = device.runs.empty() ? std::nullopt : answer(device.runs.front());
    if (best && aliases(out, device.device, best->source)) device.standard_error_j.reset();
    // Readings that never scatter do not tell how far they are off.
    if (device.standard_error_j == 0.0) device.standard_error_j.reset();
    if (!device.standard_error_j) device.above_idle_error_j.reset();
  }
  out.doubts = doubts(out);
  if (!runs.doubt.empty()) out.doubts.push_back(std::move(runs.doubt));
  out.doubts = said_once(out.doubts);
  return out;
}

DeviceSummary Summarizer::device(const std::string& id, const RunSummary& summary) const {
  DeviceSummary out;
  out.device = id;
  out.name = name_of(recording_, id);
  std::vector<double> energies;
  std::vector<double> powers;
  double variance = 0;
  for (const Phase& command : summary.commands) {
    out.runs.push_back(accountant_.account(id, command.begin, command.end));
    if (const auto energy = answer(out.runs.back())) {
      energies.push_back(energy->energy.value());
      powers.push_back(energy->energy.value() / command.seconds());
      variance += std::pow(energy->standard_error.value(), 2);
    }
  }
  if (energies.size() < summary.commands.size()) return out;
  const auto count = static_cast<double>(energies.size());
  out.energy_j = spread(energies);
  out.power_w = spread(powers);
  // What differs from repeat to repeat has the source's error in it already.
  out.standard_error_j = std::max(std::sqrt(variance) / count, out.energy_j->deviation.value_or(0) / std::sqrt(count));
  out.edp_js = out.energy_j->mean * summary.time_s.mean;
  out.ed2p_js2 = *out.edp_js * summary.time_s.mean;
  add_idle(out, summary.time_s.mean);
  return out;
}

void Summarizer::add_idle(DeviceSummary& device, double seconds) const {
  const auto idle = idle_power(device.device);
  if (!idle) return;
  device.idle_power_w = idle->watts;
  const series::Energy energy{
      Joules{device.energy_j->mean}, Joules{*device.standard_error_j}, Seconds{seconds}, {}, {}};
  const series::IdleSplit split = series::split_idle(energy, Watts{idle->watts}, Watts{idle->error_w});
  device.above_idle_j = split.above_idle.value();
  device.above_idle_error_j = split.above_idle_standard_error.value();
  device.idle_share = split.idle_share;
}

std::optional<std::string> Summarizer::only_before_command() const {
  const auto ours = [&](const char* name) {
    return std::any_of(phases_.phases.begin(), phases_.phases.end(),
                       [&](const Phase& phase) { return phase.track == kRecorderTrack && phase.name == name; });
  };
  if (ours(kCommand)) return std::nullopt;
  if (ours(kWarmup)) return "its warm-up";
  if (ours(kBaseline)) return "the baseline";
  return std::nullopt;
}

std::optional<Phase> Summarizer::baseline() const {
  const auto all = own_phases(phases_.phases, kBaseline);
  return all.empty() ? std::nullopt : std::optional(all.front());
}

std::optional<IdlePower> Summarizer::idle_power(const std::string& device) const {
  const auto recorded = baseline();
  const auto idle = recorded ? power_in(accountant_, device, *recorded) : std::nullopt;
  if (idle || !names_a_gpu(device) || !options_.idle_power_w) return idle;
  return IdlePower{*options_.idle_power_w, 0};
}

std::optional<PhaseEnergy> Summarizer::energies(const RunSummary& summary, const std::string& device,
                                                const std::vector<Phase>& phases,
                                                const std::vector<Phase>& apart) const {
  const auto each = energies_of(accountant_, device, phases);
  if (!each) return std::nullopt;
  std::vector<double> joules;
  for (const SourceEnergy& one : *each) joules.push_back(one.energy.value());
  PhaseEnergy out{spread_of(phases, joules), {}};
  const auto all = apart.size() == phases.size() ? each : energies_of(accountant_, device, apart);
  if (!all) return std::nullopt;
  const StretchEnergy sum = sum_of_stretches(accountant_, device, apart, *all);
  out.energy_j.total = sum.energy.value();
  if (sum.standard_error > Joules{0} && !aliases(summary, device, sum.source)) {
    out.standard_error_j = sum.standard_error.value() / static_cast<double>(out.energy_j.count);
  }
  return out;
}

PhaseGroup Summarizer::group(const RunSummary& summary, const std::string& name,
                             const std::vector<Phase>& phases) const {
  PhaseGroup out{name, {}, {}, {}, false, false};
  std::vector<double> times;
  for (const Phase& phase : phases) {
    times.push_back(phase.seconds());
    out.open = out.open || phase.open;
  }
  out.time_s = spread_of(phases, times);
  const std::vector<Phase> apart = joined(phases);
  out.overlapping = apart.size() < phases.size();
  if (out.overlapping) {
    out.time_s.total = 0;
    for (const Phase& phase : apart) out.time_s.total += phase.seconds();
  }
  for (const std::string& device : accountant_.devices()) {
    const auto energy = energies(summary, device, phases, apart);
    out.energy_j.push_back(energy ? std::optional(energy->energy_j) : std::nullopt);
    out.standard_error_j.push_back(energy ? energy->standard_error_j : std::nullopt);
  }
  return out;
}

std::vector<PhaseGroup> Summarizer::groups(const RunSummary& summary) const {
  std::vector<std::pair<std::string, std::vector<Phase>>> by_name;
  for (const Phase& phase : phases_.phases) {
    if (is_ours(phase) || began_in(phase, summary.failed)) continue;
    auto at = std::find_if(by_name.begin(), by_name.end(), [&](const auto& one) { return one.first == phase.name; });
    if (at == by_name.end()) at = by_name.insert(by_name.end(), {phase.name, {}});
    at->second.push_back(phase);
  }
  std::vector<PhaseGroup> out;
  out.reserve(by_name.size());
  for (const auto& [name, phases] : by_name) out.push_back(group(summary, name, phases));
  return out;
}

std::vector<std::string> Summarizer::doubts(const RunSummary& summary) const {
  std::vector<std::string> out = recording_.notes;
  const RecordingDamage& damage = recording_.damage;
  if (!damage.complete) out.emplace_back("the recorder was cut off: the run may have gone on after the last reading");
  if (damage.damaged > 0)
    out.push_back(fmt::format("{} bytes of the recording are damaged and left out", damage.damaged));
  if (phases_.stray_ends > 0) out.push_back(fmt::format("{} ends of phases have no begin", phases_.stray_ends));
  constexpr double kNotIdle = 1.1;
  const auto before = baseline();
  for (const DeviceSummary& device : summary.devices) {
    if (before && device.idle_power_w) {
      for (const std::string& doubt : baseline_doubts(recording_, accountant_, device.device, *before)) {
        out.push_back(fmt::format("{}: {}", device.device, doubt));
      }
    }
    if (device.idle_share.value_or(0) > kNotIdle) {
      out.push_back(fmt::format("{}: its idle power of {:.0f} W is above the {:.0f} W of the run: it cannot be right",
                                device.device, *device.idle_power_w, device.power_w->mean));
    }
    for (const DeviceAccount& run : device.runs) {
      for (const std::string& doubt : run.doubts) out.push_back(fmt::format("{}: {}", device.device, doubt));
      if (!run.energy.empty() && run.energy.front().coverage < kLeastCoverage) {
        out.push_back(fmt::format("{}: readings cover {:.0f} % of the time: too little for a total", device.device,
                                  run.energy.front().coverage * 100));
      }
    }
  }
  for (const PhaseGroup& group : summary.phases) {
    if (group.open) {
      out.push_back(fmt::format(
          "phase '{}': the end of one is not in the recording: it is taken to last as long as that", group.name));
    }
  }
  for (std::string& doubt : limit_doubts(recording_, summary.commands)) out.push_back(std::move(doubt));
  for (std::string& doubt : interval_doubts(recording_, summary.devices, options_.expected_interval)) {
    out.push_back(std::move(doubt));
  }
  for (const SensorDoubt& doubt : summary.sensor_doubts) out.push_back(fmt::format("{}: {}", doubt.device, doubt.text));
  return out;
}

}  // namespace

std::vector<Phase> own_phases(const std::vector<Phase>& phases, std::string_view name) {
  std::vector<Phase> out;
  std::copy_if(phases.begin(), phases.end(), std::back_inserter(out), [&](const Phase& phase) {
    return phase.track == kRecorderTrack && phase.name == name && phase.end > phase.begin;
  });
  return out;
}

std::optional<SourceEnergy> answer(const DeviceAccount& account) {
  if (account.energy.empty() || account.energy.front().coverage < kLeastCoverage) return std::nullopt;
  return account.energy.front();
}

bool aliases(const RunSummary& summary, const std::string& device, const std::string& source) {
  return std::any_of(summary.sensor_doubts.begin(), summary.sensor_doubts.end(), [&](const SensorDoubt& doubt) {
    return doubt.warning == series::Warning::kAliasing && doubt.device == device && doubt.source == source;
  });
}

std::optional<double> told_error(const RunSummary& summary, const std::string& device, const SourceEnergy& source) {
  if (source.standard_error <= Joules{0} || aliases(summary, device, source.source)) return std::nullopt;
  return source.standard_error.value();
}

std::size_t steps_of(const Phase& phase) {
  std::size_t count = 1;
  const std::string text = detail_of(phase.details, "count").value_or("1");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && count > 0 ? count : 1;
}

Spread spread_of(const std::vector<Phase>& phases, const std::vector<double>& sums) {
  std::vector<double> each;
  double total = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    each.push_back(sums[i] / static_cast<double>(steps_of(phases[i])));
    total += sums[i];
    count += steps_of(phases[i]);
  }
  Spread out = spread(each);
  out.total = total;
  out.count = count;
  out.mean = total / static_cast<double>(count);
  return out;
}

Spread spread(const std::vector<double>& values) {
  Spread out;
  out.count = values.size();
  for (const double value : values) out.total += value;
  out.mean = out.total / static_cast<double>(values.size());
  out.least = *std::min_element(values.begin(), values.end());
  out.most = *std::max_element(values.begin(), values.end());
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.deviation = std::sqrt(squares / static_cast<double>(values.size() - 1));
  return out;
}

Result<RunSummary> summarize(const Recording& recording, const SummaryOptions& options) {
  return Summarizer(recording, options).summary();
}

}  // namespace joulecast
