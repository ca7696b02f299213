// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "analysis/event_reasons.h"
#include "cli/json.h"
#include "cli/measure/commands.h"
#include "cli/measure/live.h"
#include "cli/measure/sensor_choice.h"
#include "cli/measure/summary_text.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "measure/child.h"
#include "measure/recorder.h"
#include "measure/run_head.h"

namespace joulecast::cli {
namespace {

using Align = Table::Align;
using std::chrono::milliseconds;

std::string number(const std::optional<double>& value, double scale) {
  return value ? fmt::format("{:.0f}", *value / scale) : "-";
}

std::string prefixed(const std::optional<double>& value, const char* unit) {
  return value ? with_prefix(*value, unit) : "-";
}

std::string table_text(const std::vector<LiveDevice>& devices) {
  Table table({{"device"},
               {"power", Align::kRight},
               {"limit", Align::kRight},
               {"energy", Align::kRight},
               {"SM MHz", Align::kRight},
               {"mem MHz", Align::kRight},
               {"°C", Align::kRight},
               {"use", Align::kRight},
               {"memory", Align::kRight},
               {"held by"}});
  for (const LiveDevice& device : devices) {
    const std::string use = device.utilization_ratio ? fmt::format("{:.0f} %", *device.utilization_ratio * 100) : "-";
    table.add({device.device, prefixed(device.power_w, "W"), prefixed(device.power_limit_w, "W"),
               prefixed(device.energy_j, "J"), number(device.sm_clock_hz, 1e6), number(device.memory_clock_hz, 1e6),
               number(device.temperature_c, 1), use, prefixed(device.memory_used_bytes, "B"),
               device.silent          ? "no answer"
               : device.event_reasons ? reasons_text(*device.event_reasons)
                                      : "-"});
  }
  return table.text();
}

Json optional_json(const std::optional<double>& value) {
  return value ? json_number(*value) : Json(nullptr);
}

std::string json_line(const std::vector<LiveDevice>& devices) {
  Json all = Json::array();
  for (const LiveDevice& device : devices) {
    all.push_back({{"device", device.device},
                   {"answers", !device.silent},
                   {"power_w", optional_json(device.power_w)},
                   {"power_limit_w", optional_json(device.power_limit_w)},
                   {"energy_j", optional_json(device.energy_j)},
                   {"sm_clock_hz", optional_json(device.sm_clock_hz)},
                   {"memory_clock_hz", optional_json(device.memory_clock_hz)},
                   {"temperature_c", optional_json(device.temperature_c)},
                   {"utilization_ratio", optional_json(device.utilization_ratio)},
                   {"memory_used_bytes", optional_json(device.memory_used_bytes)},
                   {"event_reasons", device.event_reasons ? Json(*device.event_reasons) : Json(nullptr)}});
  }
  const Json line{{"time_utc", iso_utc(utc_now())}, {"devices", std::move(all)}};
  return line.dump() + "\n";
}

// On a terminal each look takes the place of the one before.
std::string screen(const std::string& text) {
  constexpr const char* kHomeAndClear = "\x1b[H\x1b[J";
  return ::isatty(STDOUT_FILENO) == 1 ? kHomeAndClear + text : text;
}

Failure nothing_to_watch(const std::vector<Missing>& missing) {
  const std::string why = missing.empty() ? "no sensors" : sentence(missing.front());
  return Failure{{ErrorCode::kNotFound, "watch: nothing to watch here: " + why}, "joulecast doctor says more"};
}

}  // namespace

Outcome watch_command(const WatchOptions& options, Output& output) {
  const SignalsBlocked blocked;
  auto found = find_sensors(sensor_options(options.sensors));
  if (!found) return tl::unexpected<Failure>(Failure{std::move(found).error(), "", kUsage});
  if (found->sensors.empty()) return tl::unexpected<Failure>(nothing_to_watch(found->missing));
  auto writer = RecordingWriter::nowhere();
  if (!writer) return tl::unexpected<Failure>(std::move(writer).error());
  Recorder recorder(std::move(found->sensors), *std::move(writer));
  recorder.start();
  Live live(recorder);
  // Energy counts from here.
  constexpr milliseconds kFirstReadings{100};
  if (pause_for(kFirstReadings)) return {};
  live.look();
  const milliseconds delay(static_cast<std::int64_t>(options.delay_s * 1000));
  for (std::size_t i = 0; options.count == 0 || i < options.count; ++i) {
    if (pause_for(delay)) break;
    const auto devices = live.look();
    output.write(options.json ? json_line(devices) : screen(table_text(devices)));
    if (!output.flush()) break;
  }
  (void)recorder.finish("{}");
  return {};
}

}  // namespace joulecast::cli
