// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
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
#include "power/privilege.h"

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
    for (const auto& mig : details.value("mig_devices", nlohmann::json::array())) {
      if (mig.is_string()) out += printable("  " + mig.get<std::string>()) + "\n";
    }
  }
  return out;
}

// Sensors that read the same of GPUs of a kind stand in one line.
struct Alike {
  std::vector<const SensorCheck*> checks;

  [[nodiscard]] const SensorCheck& first() const { return *checks.front(); }
  [[nodiscard]] bool takes(const SensorCheck& other) const {
    return names_a_gpu(first().channel.device) && names_a_gpu(other.channel.device) &&
           first().channel.signal == other.channel.signal && first().channel.source == other.channel.source &&
           first().window_s == other.window_s && first().seen == other.seen && first().meaning == other.meaning &&
           checks.back()->channel.device != other.channel.device;
  }
  // "gpu0-gpu7", or "gpu0, gpu2" where others are between them.
  [[nodiscard]] std::string devices() const;
  // "350 W", or "350 W to 650 W".
  [[nodiscard]] std::string now() const;
  // The shortest of all: a value that stays shows no update.
  [[nodiscard]] std::optional<double> least(std::optional<double> SensorCheck::*time) const;
};

int number_of(const std::string& device) {
  int out = 0;
  for (const char letter : device) out = letter >= '0' && letter <= '9' ? 10 * out + (letter - '0') : 0;
  return out;
}

std::string Alike::devices() const {
  std::string out = first().channel.device;
  if (checks.size() == 1) return out;
  const std::string& last = checks.back()->channel.device;
  const bool all_between = number_of(last) - number_of(out) == static_cast<int>(checks.size()) - 1;
  if (all_between) return fmt::format("{}-{}", out, number_of(last));
  for (std::size_t i = 1; i < checks.size(); ++i) out += fmt::format(",{}", number_of(checks[i]->channel.device));
  return out;
}

std::string Alike::now() const {
  std::optional<double> low, high;
  for (const SensorCheck* check : checks) {
    if (!check->newest) continue;
    low = std::min(low.value_or(*check->newest), *check->newest);
    high = std::max(high.value_or(*check->newest), *check->newest);
  }
  if (!low) return "-";
  const std::string_view unit = info(first().channel.signal).unit;
  const std::string least = with_prefix(*low, unit), most = with_prefix(*high, unit);
  return least == most ? least : fmt::format("{} to {}", least, most);
}

std::optional<double> Alike::least(std::optional<double> SensorCheck::*time) const {
  std::optional<double> out;
  for (const SensorCheck* check : checks) {
    if (check->*time) out = std::min(out.value_or(*(check->*time)), *(check->*time));
  }
  return out;
}

std::vector<Alike> alike(const std::vector<SensorCheck>& checks) {
  std::vector<Alike> out;
  for (const SensorCheck& check : checks) {
    const auto at = std::find_if(out.begin(), out.end(), [&](const Alike& one) { return one.takes(check); });
    if (at == out.end()) {
      out.push_back({{&check}});
    } else {
      at->checks.push_back(&check);
    }
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
  for (const Alike& one : alike(checks)) {
    const SensorCheck& check = one.first();
    table.add({one.devices(), std::string(info(check.channel.signal).key), check.channel.source, one.now(),
               milliseconds_text(one.least(&SensorCheck::period_s)), milliseconds_text(check.window_s),
               check.seen ? fmt::format("{:.0f} %", *check.seen * 100) : "-"});
  }
  return table.text();
}

// A load that changes seldom hides updates; so the class' period is told where another was seen.
std::string meaning_of(const Alike& one) {
  constexpr double kDiffers = 0.2;
  const SensorCheck& check = one.first();
  if (check.channel.source.starts_with("nvml-module")) {
    return "of the whole module: processor, its memory and GPU";
  }
  std::string out = check.meaning;
  const auto seen = one.least(&SensorCheck::changes_s);
  if (out.empty() || !check.known_period_s) return out;
  if (!seen) return out + "; here the value hardly changed, so no update was seen";
  if (std::abs(*seen / *check.known_period_s - 1) > kDiffers) {
    out += fmt::format("; here it changed every {} (a load that stays shows no update)", milliseconds_text(seen));
  }
  return out;
}

std::string meanings(const std::vector<SensorCheck>& checks) {
  std::string out;
  for (const Alike& one : alike(checks)) {
    const std::string meaning = meaning_of(one);
    if (meaning.empty()) continue;
    const std::string line = fmt::format("{} {}: {}", one.devices(), one.first().channel.source, meaning);
    out += wrapped(line, 80, 2) + "\n";
  }
  return out.empty() ? out : "\nWhat power readings mean on these chips and drivers:\n" + out;
}

std::string missing_lines(const std::vector<Missing>& missing) {
  std::string out;
  for (const Missing& one : missing) out += wrapped(printable(sentence(one)), 80, 2) + "\n";
  return out.empty() ? out : "\nNot here:\n" + out;
}

// Whether the driver really lets us is seen by setting something alone, which looking does not.
std::string rights() {
  if (may_change_settings()) {
    return "\nPower limits and clocks: this is root, and may ask for them; whether the driver\n"
           "grants it (vGPU, cloud and container hosts may not) shows when one is set.\n";
  }
  return "\nPower limits and clocks may not be changed: that needs root (sudo), and in a\n"
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
                       {"changes_every_s", number(check.changes_s)},
                       {"known_update_period_s", number(check.known_period_s)},
                       {"window_s", number(check.window_s)},
                       {"seen_ratio", number(check.seen)},
                       {"class", check.sensor_class.empty() ? Json(nullptr) : Json(check.sensor_class)},
                       {"meaning", check.meaning},
                       {"failures", check.failures}});
  }
  return {{"schema", "joulecast.doctor/1"},
          {"machine", Json::parse(recording.head.dump())},
          {"sensors", sensors},
          {"may_change_settings", may_change_settings()}};
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
