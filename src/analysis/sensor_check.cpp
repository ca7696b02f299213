// SPDX-License-Identifier: Apache-2.0
#include "analysis/sensor_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "series/sampling.h"
#include "series/sensor_class.h"

namespace joulecast {
namespace {

using series::PowerField;
using series::SensorClass;

struct SourceField {
  std::string_view source;
  PowerField field;
  bool buffer = false;
};
constexpr std::array kFields{
    SourceField{"nvml-instant", PowerField::kInstant},          SourceField{"nvml-average", PowerField::kAverage},
    SourceField{"nvml-power-usage", PowerField::kLegacy},       SourceField{"smi-instant", PowerField::kInstant},
    SourceField{"smi-average", PowerField::kAverage},           SourceField{"smi-power", PowerField::kLegacy},
    SourceField{"gpyjoules-power-usage", PowerField::kLegacy},  SourceField{"nvml-buffer", PowerField::kLegacy, true},
    SourceField{"gpyjoules-buffer", PowerField::kLegacy, true},
};

// Words of product names, for imports; the first that begins a word of the name counts.
struct NamedChip {
  std::string_view word, architecture;
};
constexpr std::array kNamed{
    NamedChip{"M2090", "fermi"}, NamedChip{"C2075", "fermi"},  NamedChip{"K20", "kepler"},
    NamedChip{"K40", "kepler"},  NamedChip{"K80", "kepler"},   NamedChip{"M40", "maxwell"},
    NamedChip{"M60", "maxwell"}, NamedChip{"P100", "pascal"},  NamedChip{"P40", "pascal"},
    NamedChip{"1080", "pascal"}, NamedChip{"1070", "pascal"},  NamedChip{"1060", "pascal"},
    NamedChip{"V100", "volta"},  NamedChip{"T4", "turing"},    NamedChip{"2060", "turing"},
    NamedChip{"2070", "turing"}, NamedChip{"2080", "turing"},  NamedChip{"A100", "ampere"},
    NamedChip{"A800", "ampere"}, NamedChip{"A30", "ampere"},   NamedChip{"A10", "ampere"},
    NamedChip{"A40", "ampere"},  NamedChip{"A5000", "ampere"}, NamedChip{"A6000", "ampere"},
    NamedChip{"3060", "ampere"}, NamedChip{"3070", "ampere"},  NamedChip{"3080", "ampere"},
    NamedChip{"3090", "ampere"}, NamedChip{"4080", "ada"},     NamedChip{"4090", "ada"},
    NamedChip{"L4", "ada"},      NamedChip{"L40", "ada"},      NamedChip{"H100", "hopper"},
    NamedChip{"H200", "hopper"},
};

std::string_view architecture_of_name(std::string_view name) {
  for (std::size_t from = 0; from < name.size();) {
    const std::size_t end = std::min(name.find_first_of(" -", from), name.size());
    const std::string_view word = name.substr(from, end - from);
    for (const NamedChip& chip : kNamed) {
      if (word == chip.word || (word.size() == chip.word.size() + 1 && word.starts_with(chip.word))) {
        return chip.architecture;
      }
    }
    from = end + 1;
  }
  return {};
}

// Drivers changed what the register of these shows.
bool has_one_meaning(series::Architecture architecture) {
  using series::Architecture;
  return architecture != Architecture::kAmpere && architecture != Architecture::kAda &&
         architecture != Architecture::kHopper;
}

// The classes know two Keplers and two Amperes, which NVML does not tell apart but by name.
std::optional<series::Architecture> architecture_of(std::string_view architecture, std::string_view name) {
  using series::Architecture;
  const auto named = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  if (architecture == "fermi") return Architecture::kFermi2;
  if (architecture == "kepler") return named("K80") ? Architecture::kKepler2 : Architecture::kKepler1;
  if (architecture == "maxwell") return Architecture::kMaxwell;
  if (architecture == "pascal") return Architecture::kPascal;
  if (architecture == "volta") return Architecture::kVolta;
  if (architecture == "turing") return Architecture::kTuring;
  if (architecture == "ampere") {
    return named("A100") || named("A800") || named("A30") ? Architecture::kAmpereGa100 : Architecture::kAmpere;
  }
  if (architecture == "ada") return Architecture::kAda;
  if (architecture == "hopper") return Architecture::kHopper;
  return std::nullopt;
}

std::string text(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

const nlohmann::json* device_of(const nlohmann::json& head, const std::string& id) {
  const auto devices = head.find("devices");
  if (devices == head.end() || !devices->is_array()) return nullptr;
  const auto at = std::find_if(devices->begin(), devices->end(),
                               [&](const auto& one) { return one.is_object() && text(one, "id") == id; });
  return at == devices->end() ? nullptr : &*at;
}

series::Series polls_of(const std::vector<Reading>& readings) {
  series::Series polls;
  for (const Reading& reading : readings) {
    polls.time_s.push_back(static_cast<double>(reading.time) * 1e-6);
    polls.value.push_back(static_cast<double>(reading.value));
  }
  return polls;
}

// What was seen is a whole multiple of the period. A buffer has each update once: it is not polled too slowly.
double period_of(Seconds known, const series::UpdatePeriod& seen, bool buffer) {
  constexpr double kMostTimes = 3;  // of more, a few percent may be either of two
  constexpr double kOnGrid = 0.75;
  constexpr double kLeastPolls = 1.95;  // two, but for their jitter
  constexpr double kMostOff = 0.1;
  const double times = std::max(1.0, std::round(seen.period / known));
  const Seconds period = seen.period / times;
  if (times > kMostTimes || series::has(seen.warnings, series::Warning::kFewSamples)) return known.value();
  const bool polled_well = kLeastPolls * seen.poll <= period && seen.on_grid >= kOnGrid;
  const bool near = std::abs(period / known - 1) <= kMostOff;
  return polled_well || (buffer && near) ? period.value() : known.value();
}

void add_class(SensorCheck& check, const Recording& recording) {
  const auto sensor = sensor_class_of(recording, check.channel);
  if (!sensor) return;
  const series::SensorMeaning meaning = series::meaning(*sensor);
  check.sensor_class = std::string(1, series::letter(*sensor));
  check.meaning = series::text(*sensor);
  if (meaning.window) check.window_s = meaning.window->value();
  if (meaning.period) check.known_period_s = meaning.period->value();
  check.seen = meaning.seen();
}

}  // namespace

std::optional<SensorClass> sensor_class_of(const Recording& recording, const Channel& channel) {
  const auto* field = std::find_if(kFields.begin(), kFields.end(),
                                   [&](const SourceField& one) { return one.source == channel.source; });
  if (channel.signal != Signal::kPower || field == kFields.end()) return std::nullopt;
  // Whatever the chip: this is what the field is.
  if (field->field == PowerField::kAverage) return SensorClass::kC;
  const auto* device = device_of(recording.head, channel.device);
  if (device == nullptr) return std::nullopt;
  const auto details = device->value("details", nlohmann::json::object());
  const std::string driver = text(details, "driver");
  const std::string name = text(*device, "name");
  std::string chip = text(details, "architecture");
  if (chip.empty()) chip = architecture_of_name(name);
  int major = 0;
  std::from_chars(driver.data(), driver.data() + driver.size(), major);
  const auto architecture = architecture_of(chip, name);
  if (!architecture || ((major == 0 || field->buffer) && !has_one_meaning(*architecture))) return std::nullopt;
  // Without the driver's number a field that was there in the log was a field it had.
  constexpr int kNewest = 1000;
  return series::sensor_class(*architecture, major == 0 ? kNewest : major, field->field);
}

std::optional<double> update_period_of(const Recording& recording, std::size_t channel) {
  const auto sensor = sensor_class_of(recording, recording.channels[channel]);
  const series::SensorMeaning meaning = sensor ? series::meaning(*sensor) : series::SensorMeaning{};
  const series::Series polls = polls_of(recording.readings[channel]);
  const auto seen = series::update_period(polls);
  if (!seen) return meaning.period ? std::optional(meaning.period->value()) : std::nullopt;
  const bool buffer = recording.channels[channel].source.ends_with("-buffer");
  if (meaning.period) return period_of(*meaning.period, *seen, buffer);
  if (!buffer) return seen->period.value();
  // It keeps samples whose value stayed, too.
  const auto samples = series::sampling_of(polls);
  return samples ? samples->usual_gap.value() : seen->period.value();
}

std::vector<SensorCheck> check_sensors(const Recording& recording) {
  std::vector<SensorCheck> out;
  for (std::size_t i = 0; i < recording.channels.size(); ++i) {
    SensorCheck check;
    check.channel = recording.channels[i];
    check.window_s = check.channel.window_s;
    if (check.window_s == 0.0) check.window_s = std::nullopt;
    const auto& readings = recording.readings[i];
    if (!readings.empty()) {
      check.newest = static_cast<double>(readings.back().value) * info(check.channel.signal).step;
      if (const auto seen = series::update_period(polls_of(readings))) {
        check.changes_s = seen->period.value();
        check.period_s = update_period_of(recording, i);
      }
    }
    if (check.channel.signal == Signal::kPower) add_class(check, recording);
    for (const AbsenceRecord& record : recording.absences) {
      if (record.channel == i) check.failures += record.count;
    }
    out.push_back(std::move(check));
  }
  return out;
}

}  // namespace joulecast
