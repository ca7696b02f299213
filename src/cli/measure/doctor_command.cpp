// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>

#include "analysis/sensor_check.h"
#include "cli/json.h"
#include "cli/measure/commands.h"
#include "cli/measure/sensor_choice.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/version.h"
#include "measure/child.h"
#include "measure/recorder.h"
#include "measure/run_head.h"

namespace joulecast::cli {
namespace {

using Align = Table::Align;
using Seconds = std::chrono::seconds;

// Long enough for thirty updates of a counter that steps ten times a second.
constexpr Seconds kStudy{3};

std::string milliseconds_text(const std::optional<double>& seconds) {
  return seconds ? fmt::format("{:.0f} ms", *seconds * 1000) : "-";
}

std::string device_lines(const nlohmann::json& head) {
  std::string out;
  for (const auto& device : head.at("devices")) {
    const auto& details = device.at("details");
    std::string line = fmt::format("{}: {}", device.value("id", ""), device.value("name", ""));
    for (const char* key : {"architecture", "driver", "uuid", "pci"}) {
      if (details.contains(key) && details[key].is_string())
        line += fmt::format(", {}", details[key].get<std::string>());
    }
    out += wrapped(printable(line), 80, 2) + "\n";
  }
  return out;
}

std::string table_text(const std::vector<SensorCheck>& checks) {
  Table table({{"device"},
               {"reads"},
               {"by"},
               {"now", Align::kRight},
               {"updates", Align::kRight},
               {"mean of", Align::kRight},
               {"seen", Align::kRight}});
  for (const SensorCheck& check : checks) {
    const std::string now = check.newest ? with_prefix(*check.newest, info(check.channel.signal).unit) : "-";
    table.add({check.channel.device, std::string(info(check.channel.signal).key), check.channel.source, now,
               milliseconds_text(check.period_s), milliseconds_text(check.window_s),
               check.seen ? fmt::format("{:.0f} %", *check.seen * 100) : "-"});
  }
  return table.text();
}

std::string meanings(const std::vector<SensorCheck>& checks) {
  std::string out;
  for (const SensorCheck& check : checks) {
    if (check.meaning.empty()) continue;
    const std::string line = fmt::format("{} {}: {}", check.channel.device, check.channel.source, check.meaning);
    out += wrapped(line, 80, 2) + "\n";
  }
  return out.empty() ? out : "\nWhat power readings mean on these chips and drivers:\n" + out;
}

std::string missing_lines(const std::vector<Missing>& missing) {
  std::string out;
  for (const Missing& one : missing) out += wrapped(printable(sentence(one)), 80, 2) + "\n";
  return out.empty() ? out : "\nNot here:\n" + out;
}

std::string rights() {
  return ::geteuid() == 0 ? "\nPower limits and clocks may be changed (root), unless a container forbids it.\n"
                          : "\nPower limits and clocks may not be changed: that needs root (sudo), and in a\n"
                            "container CAP_SYS_ADMIN (docker run --cap-add SYS_ADMIN).\n";
}

Json json_of(const std::vector<SensorCheck>& checks, const Recording& recording) {
  Json sensors = Json::array();
  const auto number = [](const std::optional<double>& value) { return value ? json_number(*value) : Json(nullptr); };
  for (const SensorCheck& check : checks) {
    sensors.push_back({{"device", check.channel.device},
                       {"signal", info(check.channel.signal).key},
                       {"source", check.channel.source},
                       {"value", number(check.newest)},
                       {"update_period_s", number(check.period_s)},
                       {"window_s", number(check.window_s)},
                       {"seen_ratio", number(check.seen)},
                       {"class", check.sensor_class.empty() ? Json(nullptr) : Json(check.sensor_class)},
                       {"meaning", check.meaning},
                       {"failures", check.failures}});
  }
  return {{"schema", "joulecast.doctor/1"},
          {"machine", Json::parse(recording.head.dump())},
          {"sensors", sensors},
          {"may_change_settings", ::geteuid() == 0}};
}

Result<Recording> study(Found found) {
  JC_ASSIGN_OR_RETURN(RecordingWriter writer, RecordingWriter::in_memory());
  writer.head(run_head({}, found, std::string(version())).dump());
  Recorder recorder(std::move(found.sensors), std::move(writer));
  recorder.start();
  pause_for(kStudy);
  JC_RETURN_IF_ERROR(recorder.finish("{}"));
  JC_ASSIGN_OR_RETURN(const std::string bytes, recorder.writer().contents());
  return parse_recording(bytes);
}

}  // namespace

Outcome doctor_command(const DoctorOptions& options, Output& output) {
  const SignalsBlocked blocked;
  auto found = find_sensors(sensor_options(options.sensors));
  if (!found) return tl::unexpected<Failure>(Failure{std::move(found).error(), "", kUsage});
  const std::vector<Missing> missing = found->missing;
  const bool any = !found->sensors.empty();
  for (const std::string& doubt : found->doubts) output.note(printable(doubt));
  const auto recording = study(*std::move(found));
  if (!recording) return tl::unexpected<Failure>(Error(recording.error()));
  const std::vector<SensorCheck> checks = check_sensors(*recording);
  if (options.json) {
    output.write(json_text(json_of(checks, *recording)));
    return {};
  }
  output.write(any ? device_lines(recording->head) + "\n" + table_text(checks) + meanings(checks)
                   : std::string("No sensor of power, energy or clocks was found on this machine.\n"));
  output.write(missing_lines(missing) + rights());
  return {};
}

}  // namespace joulecast::cli
