// SPDX-License-Identifier: Apache-2.0
// Names and units after `nvidia-smi --help-query-gpu`.
#include "recording/import/smi_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "base/csv.h"
#include "recording/import/gathering.h"

namespace joulecast {
namespace {

struct Unit {
  std::string_view text;
  std::string_view si;  // as in SignalInfo::unit
  double factor;
};
constexpr std::array kUnits{
    Unit{"W", "W", 1},         Unit{"mW", "W", 1e-3},  Unit{"%", "", 0.01},          Unit{"MHz", "Hz", 1e6},
    Unit{"MiB", "B", 1048576}, Unit{"KiB", "B", 1024}, Unit{"GiB", "B", 1073741824}, Unit{"C", "°C", 1},
    Unit{"B", "B", 1},
};

constexpr double kPercent = 0.01;
constexpr double kMega = 1e6;
constexpr double kMebi = 1048576;

constexpr SmiColumn value(std::string_view name, Signal signal, std::string_view source, double factor) {
  return {SmiRole::kValue, name, signal, source, factor};
}

// What `power.draw` means changed from driver to driver, so its readings are kept apart from those of the other two.
constexpr std::array kColumns{
    SmiColumn{SmiRole::kTime, "timestamp", {}, {}, 1},
    SmiColumn{SmiRole::kIndex, "index", {}, {}, 1},
    SmiColumn{SmiRole::kUuid, "uuid", {}, {}, 1},
    SmiColumn{SmiRole::kUuid, "gpu_uuid", {}, {}, 1},
    SmiColumn{SmiRole::kPci, "pci.bus_id", {}, {}, 1},
    SmiColumn{SmiRole::kPci, "gpu_bus_id", {}, {}, 1},
    SmiColumn{SmiRole::kName, "name", {}, {}, 1},
    SmiColumn{SmiRole::kName, "gpu_name", {}, {}, 1},
    SmiColumn{SmiRole::kDriver, "driver_version", {}, {}, 1},
    value("power.draw", Signal::kPower, "smi-power", 1),
    value("power.draw.average", Signal::kPower, "smi-average", 1),
    value("power.draw.instant", Signal::kPower, "smi-instant", 1),
    value("enforced.power.limit", Signal::kPowerLimit, "smi", 1),
    value("power.limit", Signal::kRequestedLimit, "smi", 1),
    value("clocks.sm", Signal::kSmClock, "smi", kMega),
    value("clocks.current.sm", Signal::kSmClock, "smi", kMega),
    value("clocks.mem", Signal::kMemoryClock, "smi", kMega),
    value("clocks.current.memory", Signal::kMemoryClock, "smi", kMega),
    value("clocks.applications.gr", Signal::kAppSmClock, "smi", kMega),
    value("clocks.applications.graphics", Signal::kAppSmClock, "smi", kMega),
    value("clocks.applications.mem", Signal::kAppMemoryClock, "smi", kMega),
    value("clocks.applications.memory", Signal::kAppMemoryClock, "smi", kMega),
    value("temperature.gpu", Signal::kTemperature, "smi", 1),
    value("utilization.gpu", Signal::kUtilization, "smi", kPercent),
    value("utilization.memory", Signal::kMemoryUtilization, "smi", kPercent),
    value("memory.used", Signal::kMemoryUsed, "smi", kMebi),
    value("pstate", Signal::kPerformanceState, "smi", 1),
    value("clocks_throttle_reasons.active", Signal::kEventReasons, "smi", 1),
    value("clocks_event_reasons.active", Signal::kEventReasons, "smi", 1),
};

const SmiColumn* find_column(std::string_view name) {
  const auto* const at =
      std::find_if(kColumns.begin(), kColumns.end(), [&](const SmiColumn& column) { return column.name == name; });
  return at == kColumns.end() ? nullptr : at;
}

const Unit* find_unit(std::string_view text) {
  const auto* const at =
      std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& unit) { return unit.text == text; });
  return at == kUnits.end() ? nullptr : at;
}

struct Header {
  std::string_view name, unit;
};

Header split(std::string_view header) {
  header = trimmed(header);
  const std::size_t bracket = header.find('[');
  if (bracket == std::string_view::npos || !header.ends_with(']')) return {header, {}};
  return {trimmed(header.substr(0, bracket)), header.substr(bracket + 1, header.size() - bracket - 2)};
}

Result<double> factor_of(const SmiColumn& column, std::string_view text) {
  const Unit* unit = find_unit(text);
  if (unit == nullptr || unit->si != info(column.signal).unit) {
    return invalid(fmt::format("'{}' is no unit of {}", text, column.name));
  }
  return unit->factor;
}

Result<double> bits(std::string_view cell) {
  std::uint64_t out = 0;
  const bool hexadecimal = cell.starts_with("0x");
  if (hexadecimal) cell.remove_prefix(2);
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), out, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != cell.data() + cell.size()) return invalid("is no set of bits");
  return static_cast<double>(out);
}

}  // namespace

bool is_smi_column(std::string_view header) {
  return find_column(split(header).name) != nullptr;
}

Result<SmiColumn> smi_column(std::string_view header) {
  const Header parts = split(header);
  const SmiColumn* known = find_column(parts.name);
  if (known == nullptr) return SmiColumn{SmiRole::kIgnored, parts.name, {}, {}, 1};
  SmiColumn out = *known;
  if (out.role == SmiRole::kValue && !parts.unit.empty()) {
    JC_ASSIGN_OR_RETURN(out.factor, factor_of(out, parts.unit));
  }
  return out;
}

Result<double> smi_value(const SmiColumn& column, std::string_view cell) {
  if (column.signal == Signal::kEventReasons) return bits(cell);
  if (column.signal == Signal::kPerformanceState && cell.starts_with('P')) cell.remove_prefix(1);
  const std::size_t space = std::min(cell.find(' '), cell.size());
  const auto number = parse_number(cell.substr(0, space));
  if (!number) return invalid(fmt::format("'{}' is no value of {}", cell, column.name));
  double factor = column.factor;
  if (const auto unit = trimmed(cell.substr(space)); !unit.empty()) {
    JC_ASSIGN_OR_RETURN(factor, factor_of(column, unit));
  }
  return *number * factor;
}

}  // namespace joulecast
