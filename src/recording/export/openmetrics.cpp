// SPDX-License-Identifier: Apache-2.0
// OpenMetrics 1.0: every reading with its time, so that a database can be filled with a run that is over.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "recording/export/exporters.h"
#include "recording/export/timeline.h"

namespace joulecast {
namespace {

struct Metric {
  Signal signal;
  std::string_view name;  // without prefix, with the unit
  std::string_view unit;
  std::string_view help;
};
// In the order of the file. A limit, a clock and the like of another meaning has a name of its own.
constexpr std::array kMetrics{
    Metric{Signal::kEnergy, "energy_joules", "joules", "Energy drawn since the first reading."},
    Metric{Signal::kPower, "power_watts", "watts", "Power drawn."},
    Metric{Signal::kPowerLimit, "power_limit_watts", "watts", "Power limit in force."},
    Metric{Signal::kRequestedLimit, "requested_power_limit_watts", "watts", "Power limit that was asked for."},
    Metric{Signal::kSmClock, "clock_hertz", "hertz", "Clock of the multiprocessors."},
    Metric{Signal::kMemoryClock, "memory_clock_hertz", "hertz", "Clock of the memory."},
    Metric{Signal::kAppSmClock, "application_clock_hertz", "hertz", "Application clock of the multiprocessors."},
    Metric{Signal::kAppMemoryClock, "application_memory_clock_hertz", "hertz", "Application clock of the memory."},
    Metric{Signal::kTemperature, "temperature_celsius", "celsius", "Temperature."},
    Metric{Signal::kUtilization, "utilization_ratio", "ratio", "Share of the time in which something ran."},
    Metric{Signal::kMemoryUtilization, "memory_utilization_ratio", "ratio", "Share of the time the memory was busy."},
    Metric{Signal::kMemoryUsed, "memory_used_bytes", "bytes", "Memory in use."},
    Metric{Signal::kEventReasons, "clock_event_reasons", "", "NVML's bits of why clocks were held down."},
    Metric{Signal::kPerformanceState, "performance_state", "", "P-state; 0 is the fastest."},
    Metric{Signal::kPcieSent, "pcie_sent_bytes_per_second", "", "PCIe traffic from the device."},
    Metric{Signal::kPcieReceived, "pcie_received_bytes_per_second", "", "PCIe traffic to the device."},
};
static_assert(kMetrics.size() == static_cast<std::size_t>(Signal::kPcieReceived) + 1);

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

std::string text_at(const nlohmann::json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
}

class OpenMetricsExport {
 public:
  OpenMetricsExport(const RunSource& run, const Put& put)
      : run_(run), channels_(run.outline().channels), clock_(run.outline().clocks), put_(put) {}

  void write(const std::string& version) {
    put_("# TYPE joulecast_build info\n# HELP joulecast_build The program that wrote this.\n");
    put_(fmt::format("joulecast_build_info{{version=\"{}\"}} 1\n", escaped(version)));
    sensors();
    for (const Metric& metric : kMetrics) {
      // Devices of a kind have their own metric, in the order they come.
      std::vector<std::string> kinds;
      for (const Channel& channel : channels_) {
        const std::string kind = kind_of_device(channel.device);
        if (channel.signal == metric.signal && std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
          kinds.push_back(kind);
        }
      }
      for (const std::string& kind : kinds) family(metric, kind);
    }
    put_("# EOF\n");
  }

 private:
  [[nodiscard]] std::string labels(const Channel& channel) const;
  void sensors();
  void family(const Metric& metric, const std::string& kind);
  void series(std::uint32_t channel, const std::string& name, bool counter);

  const RunSource& run_;
  const std::vector<Channel>& channels_;
  UtcClock clock_;
  const Put& put_;
};

std::string OpenMetricsExport::labels(const Channel& channel) const {
  std::string out = fmt::format("{}=\"{}\",source=\"{}\"", kind_of_device(channel.device), escaped(channel.device),
                                escaped(channel.source));
  const auto& head = run_.outline().head;
  if (!head.contains("devices") || !head["devices"].is_array()) return out;
  for (const auto& device : head["devices"]) {
    if (text_at(device, "id") != channel.device) continue;
    if (const auto model = text_at(device, "name"); !model.empty()) out += fmt::format(",model=\"{}\"", escaped(model));
    const auto uuid = device.contains("details") ? text_at(device["details"], "uuid") : "";
    if (!uuid.empty()) out += fmt::format(",uuid=\"{}\"", escaped(uuid));
    break;
  }
  return out;
}

void OpenMetricsExport::sensors() {
  if (channels_.empty()) return;
  put_("# TYPE joulecast_sensor_up gauge\n# HELP joulecast_sensor_up Whether a sensor gave any reading.\n");
  // Channels may come twice; a series may not.
  std::map<std::string, bool> up;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const std::string key = fmt::format("device=\"{}\",signal=\"{}\",source=\"{}\"", escaped(channels_[i].device),
                                        info(channels_[i].signal).key, escaped(channels_[i].source));
    up[key] = up[key] || run_.counts()[i] > 0;
  }
  for (const auto& [key, works] : up) put_(fmt::format("joulecast_sensor_up{{{}}} {}\n", key, works ? 1 : 0));
}

void OpenMetricsExport::family(const Metric& metric, const std::string& kind) {
  const bool counter = metric.signal == Signal::kEnergy;
  const std::string name = fmt::format("joulecast_{}_{}", kind, metric.name);
  std::vector<std::string> seen;
  for (std::uint32_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].signal != metric.signal || kind_of_device(channels_[i].device) != kind) continue;
    if (run_.counts()[i] == 0) continue;
    const std::string own = labels(channels_[i]);
    if (std::find(seen.begin(), seen.end(), own) != seen.end()) continue;
    if (seen.empty()) {
      put_(fmt::format("# TYPE {} {}\n", name, counter ? "counter" : "gauge"));
      if (!metric.unit.empty()) put_(fmt::format("# UNIT {} {}\n", name, metric.unit));
      put_(fmt::format("# HELP {} {}\n", name, metric.help));
    }
    seen.push_back(own);
    series(i, fmt::format("{}{}{{{}}}", name, counter ? "_total" : "", own), counter);
  }
}

// All readings of a series must stand together, which a recording's do not: it is read once for each.
void OpenMetricsExport::series(std::uint32_t channel, const std::string& name, bool counter) {
  const Signal signal = channels_[channel].signal;
  std::optional<std::int64_t> before;
  std::uint64_t total = 0;
  std::int64_t last_utc = -1;
  run_.each([&](std::uint32_t id, std::span<const Reading> readings) {
    if (id != channel) return;
    std::string lines;
    for (Reading reading : readings) {
      if (counter) {
        // A counter that wrapped or was set back has counted something nobody knows.
        if (before && reading.value > *before) {
          total += static_cast<std::uint64_t>(reading.value) - static_cast<std::uint64_t>(*before);
        }
        before = reading.value;
        reading.value = static_cast<std::int64_t>(total);
      }
      const std::int64_t utc = clock_.utc(reading.time);
      if (utc <= last_utc) continue;  // the wall clock was set back, or before 1970
      last_utc = utc;
      fmt::format_to(std::back_inserter(lines), "{} {} {}.{:06}\n", name, si_text(reading, signal), utc / 1'000'000,
                     utc % 1'000'000);
    }
    put_(lines);
  });
}

}  // namespace

Result<void> export_openmetrics(const RunSource& run, const ExportOptions& options, const Put& put) {
  if (run.outline().clocks.empty()) {
    return unsupported("the recording has no wall-clock time, which OpenMetrics needs");
  }
  OpenMetricsExport(run, put).write(options.version);
  return {};
}

}  // namespace joulecast
