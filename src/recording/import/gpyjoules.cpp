// SPDX-License-Identifier: Apache-2.0
#include "recording/import/gpyjoules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <utility>

#include "base/csv.h"
#include "recording/foreign_json.h"
#include "recording/import/gathering.h"
#include "recording/import/wall_time.h"

namespace joulecast {
namespace {

using Fields = std::vector<std::string_view>;

constexpr std::int64_t kMinute = 60'000'000;
constexpr std::int64_t kQuarter = 15 * kMinute;  // zones differ by multiples of this
constexpr std::int64_t kFarthestZone = 72 * kQuarter;
// GPyJoules starts its collectors one after the other, which takes seconds.
constexpr std::int64_t kStartsApart = 2 * kMinute;
// Package lists of large installations are of no use to a reading.
constexpr std::size_t kMaxSystemInfo = std::size_t{128} << 10;

struct SlowColumn {
  std::string_view name;
  Signal signal;
  std::string_view source;
  double factor;  // SI units of 1
};
// gpu-power.csv holds what NVML gave: milliwatts, millijoules, megahertz, percent, and kilobytes a second.
constexpr std::array kSlowColumns{
    SlowColumn{"power", Signal::kPower, "gpyjoules-power-usage", 1e-3},
    SlowColumn{"total-energy", Signal::kEnergy, "gpyjoules-counter", 1e-3},
    SlowColumn{"enforced-power-limit", Signal::kPowerLimit, "gpyjoules", 1e-3},
    SlowColumn{"clock-gpu", Signal::kSmClock, "gpyjoules", 1e6},
    SlowColumn{"clock-mem", Signal::kMemoryClock, "gpyjoules", 1e6},
    SlowColumn{"app-clock-gpu", Signal::kAppSmClock, "gpyjoules", 1e6},
    SlowColumn{"app-clock-mem", Signal::kAppMemoryClock, "gpyjoules", 1e6},
    SlowColumn{"util-gpu", Signal::kUtilization, "gpyjoules", 0.01},
    SlowColumn{"util-mem", Signal::kMemoryUtilization, "gpyjoules", 0.01},
    SlowColumn{"power-state", Signal::kPerformanceState, "gpyjoules", 1},
    SlowColumn{"tmp", Signal::kTemperature, "gpyjoules", 1},
    SlowColumn{"pci-tx", Signal::kPcieSent, "gpyjoules", 1000},
    SlowColumn{"pci-rx", Signal::kPcieReceived, "gpyjoules", 1000},
};

// The meters count in hundredths of a watt: GPyJoules' own analysis takes them times ten to milliwatts.
constexpr double kMeterStep = 0.01;

constexpr std::string_view kGpu = "gpu0";

constexpr std::string_view kGpuPower = "gpu-power.csv";
constexpr std::string_view kPowerSamples = "total_power_samples.csv";
constexpr std::string_view kGpuSamples = "gpu_utilization_samples.csv";
constexpr std::string_view kMemorySamples = "memory_utilization_samples.csv";
constexpr std::string_view kExternal = "power-external.csv";
constexpr std::string_view kTimestamps = "timestamps.csv";

bool is_meter_column(std::string_view name) {
  return name.size() == 4 && name[0] == 'd' && name[2] == 'c' && name[1] >= '0' && name[1] <= '9' && name[3] >= '0' &&
         name[3] <= '9';
}

// One file, row by row, with its name and line before errors.
class Rows {
 public:
  Rows(std::string_view file, std::string_view text) : file_(file), reader_(text) {}

  // False for a file of nothing.
  Result<bool> header() {
    JC_ASSIGN_OR_RETURN(const bool there, next());
    if (there) names_.assign(fields_.begin(), fields_.end());
    return there;
  }
  Result<bool> next() {
    auto more = reader_.next(fields_);
    if (!more) return wrong(more.error().text());
    if (*more && !names_.empty() && fields_.size() != names_.size()) {
      return wrong(fmt::format("has {} cells instead of {}", fields_.size(), names_.size()));
    }
    return more;
  }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const {
    const auto at = std::find(names_.begin(), names_.end(), name);
    return at == names_.end() ? std::nullopt : std::optional(static_cast<std::size_t>(at - names_.begin()));
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::string_view cell(std::size_t column) const { return trimmed(fields_[column]); }
  [[nodiscard]] tl::unexpected<Error> wrong(std::string_view what) const {
    return invalid(fmt::format("{}:{}: {}", file_, reader_.line(), what));
  }
  Result<std::size_t> must_have(std::string_view name) const {
    const auto at = find(name);
    if (!at) return wrong(fmt::format("has no column '{}'", name));
    return *at;
  }

 private:
  std::string_view file_;
  CsvReader reader_;
  Fields fields_;
  std::vector<std::string> names_;
};

class GpyjoulesImport {
 public:
  GpyjoulesImport(const GpyjoulesFiles& files, const ImportOptions& options) : files_(files), options_(options) {}

  Result<Recording> read(const GpyjoulesRun& run) {
    leave_out_cut_lines();
    JC_RETURN_IF_ERROR(find_offset());
    head(run);
    JC_RETURN_IF_ERROR(columns_of(kGpuPower, files_.gpu_power));
    JC_RETURN_IF_ERROR(samples(kPowerSamples, files_.power_samples, Signal::kPower, 1e-3));
    JC_RETURN_IF_ERROR(samples(kGpuSamples, files_.gpu_samples, Signal::kUtilization, 0.01));
    JC_RETURN_IF_ERROR(samples(kMemorySamples, files_.memory_samples, Signal::kMemoryUtilization, 0.01));
    JC_RETURN_IF_ERROR(columns_of(kExternal, files_.external));
    JC_RETURN_IF_ERROR(events());
    if (readings_ == 0) return invalid("has no readings");
    out_.note("GPyJoules does not say which GPU of the machine it read: it is called gpu0 here");
    return std::move(out_).finish();
  }

 private:
  struct Column {
    std::size_t at = 0;
    std::uint32_t channel = 0;
    double factor = 1;
  };

  void leave_out_cut_lines();
  Result<void> find_offset();
  void head(const GpyjoulesRun& run);
  Result<void> columns_of(std::string_view file, std::string_view text);
  std::vector<Column> channels_of(const Rows& rows);
  Result<void> samples(std::string_view file, std::string_view text, Signal signal, double factor);
  Result<void> events();
  Result<void> cell(const Rows& rows, const Column& column, std::int64_t time);
  Result<std::int64_t> local_time(const Rows& rows, std::size_t column) const;

  GpyjoulesFiles files_;
  const ImportOptions& options_;
  Gathering out_;
  std::int64_t offset_ = 0;
  std::size_t readings_ = 0;
  bool meters_ = false;
};

// The program may have been ended within a line. Whatever was cut off may look whole: "75" of "75200".
void GpyjoulesImport::leave_out_cut_lines() {
  const auto check = [&](std::string_view name, std::string_view& text) {
    const std::string_view whole = text.substr(0, text.rfind('\n') + 1);
    if (whole.size() == text.size()) return;
    out_.note(fmt::format("{}:{} was cut off and is left out", name, 1 + std::count(whole.begin(), whole.end(), '\n')));
    text = whole;
  };
  check(kGpuPower, files_.gpu_power);
  check(kPowerSamples, files_.power_samples);
  check(kGpuSamples, files_.gpu_samples);
  check(kMemorySamples, files_.memory_samples);
  check(kExternal, files_.external);
  check(kTimestamps, files_.timestamps);
}

// The first time of a file, as it stands there; nothing where there is no row.
Result<std::optional<std::string>> first_time(std::string_view file, std::string_view text) {
  Rows rows(file, text);
  JC_ASSIGN_OR_RETURN(const bool there, rows.header());
  if (!there) return std::nullopt;
  JC_ASSIGN_OR_RETURN(const std::size_t time, rows.must_have("timestamp"));
  JC_ASSIGN_OR_RETURN(const bool row, rows.next());
  if (!row) return std::nullopt;
  return std::string(rows.cell(time));
}

// The sample buffer counts from 1970 in UTC, everything else is written with the clock on the wall; both begin
// together.
Result<void> GpyjoulesImport::find_offset() {
  if (options_.utc_offset) {
    offset_ = *options_.utc_offset;
    out_.note(fmt::format("times without a zone were read as UTC{}, as was asked for", utc_offset_text(offset_)));
    return {};
  }
  JC_ASSIGN_OR_RETURN(const auto local, first_time(kGpuPower, files_.gpu_power));
  JC_ASSIGN_OR_RETURN(const auto buffer, first_time(kPowerSamples, files_.power_samples));
  const auto wall = local ? parse_wall_time(*local) : std::nullopt;
  const auto utc = buffer ? parse_integer(*buffer) : std::nullopt;
  if (wall && utc && !wall->zoned) {
    const std::int64_t ahead = wall->us - *utc;
    const std::int64_t half = ahead < 0 ? -kQuarter / 2 : kQuarter / 2;
    const std::int64_t rounded = (ahead + half) / kQuarter * kQuarter;
    if (std::abs(ahead - rounded) <= kStartsApart && std::abs(rounded) <= kFarthestZone) {
      offset_ = rounded;
      out_.note(fmt::format("times without a zone were read as UTC{}, after the sample buffer's clock, which is UTC",
                            utc_offset_text(offset_)));
      return {};
    }
  }
  out_.note("times have no zone and were read as UTC; joulecast export --utc-offset says otherwise");
  return {};
}

void GpyjoulesImport::head(const GpyjoulesRun& run) {
  auto& head = out_.head();
  head["schema"] = "joulecast.recording/1";
  head["imported"] = {{"from", "gpyjoules"},        {"file", run.path}, {"experiment", run.experiment},
                      {"benchmark", run.benchmark}, {"run", run.run},   {"repetition", run.repetition}};
  auto& setting = head["imported"]["setting"] = nlohmann::json::object();
  if (run.setting.power_limit_w) setting["power_limit_w"] = *run.setting.power_limit_w;
  if (run.setting.memory_clock_hz) setting["memory_clock_hz"] = *run.setting.memory_clock_hz;
  if (run.setting.sm_clock_hz) setting["sm_clock_hz"] = *run.setting.sm_clock_hz;
  nlohmann::json device{{"id", kGpu}, {"kind", "gpu"}, {"name", ""}, {"details", nlohmann::json::object()}};
  if (auto system = foreign_object(files_.system_info); system.is_object()) {
    if (system.contains("device_name") && system["device_name"].is_string()) device["name"] = system["device_name"];
    if (system.contains("driver_version")) device["details"]["driver"] = system["driver_version"];
    if (files_.system_info.size() > kMaxSystemInfo) system.erase("pip_packages");
    if (files_.system_info.size() <= 2 * kMaxSystemInfo) head["system_info"] = std::move(system);
  } else if (!files_.system_info.empty()) {
    out_.note("system_info.json is not JSON and was left out");
  }
  head["devices"].push_back(std::move(device));
}

Result<std::int64_t> GpyjoulesImport::local_time(const Rows& rows, std::size_t column) const {
  const auto time = parse_wall_time(rows.cell(column));
  if (!time) return rows.wrong(fmt::format("'{}' is no time", rows.cell(column)));
  return time->zoned ? time->us : time->us - offset_;
}

std::vector<GpyjoulesImport::Column> GpyjoulesImport::channels_of(const Rows& rows) {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < rows.names().size(); ++i) {
    const std::string& name = rows.names()[i];
    const auto* const known = std::find_if(kSlowColumns.begin(), kSlowColumns.end(),
                                           [&](const SlowColumn& column) { return column.name == name; });
    if (known != kSlowColumns.end()) {
      columns.push_back({i, out_.channel({std::string(kGpu), known->signal, std::string(known->source), std::nullopt}),
                         known->factor});
    } else if (is_meter_column(name)) {
      const std::string device = "meter-" + name;
      if (!meters_)
        out_.note("values of the meters were taken for hundredths of a watt, as GPyJoules' analysis takes them");
      meters_ = true;
      columns.push_back({i, out_.channel({device, Signal::kPower, "gpyjoules-meter", std::nullopt}), kMeterStep});
      out_.head()["devices"].push_back(
          {{"id", device}, {"kind", "meter"}, {"name", "power supply"}, {"details", nlohmann::json::object()}});
    } else if (!name.empty() && name != "timestamp") {
      out_.note(fmt::format("column '{}' was left out", name));
    }
  }
  return columns;
}

Result<void> GpyjoulesImport::cell(const Rows& rows, const Column& column, std::int64_t time) {
  const std::string_view text = rows.cell(column.at);
  if (const auto absence = absence_of_cell(text)) {
    out_.absent(column.channel, time, *absence, text.empty() ? "empty cell" : text);
    return {};
  }
  const auto value = parse_number(text);
  if (!value) return rows.wrong(fmt::format("'{}' is no number", text));
  if (!out_.reading(column.channel, time, *value * column.factor)) {
    return rows.wrong(fmt::format("'{}' is out of all bounds", text));
  }
  ++readings_;
  return {};
}

// Files with a column each for what is read.
Result<void> GpyjoulesImport::columns_of(std::string_view file, std::string_view text) {
  Rows rows(file, text);
  JC_ASSIGN_OR_RETURN(const bool there, rows.header());
  if (!there) return {};
  JC_ASSIGN_OR_RETURN(const std::size_t time_column, rows.must_have("timestamp"));
  const std::vector<Column> columns = channels_of(rows);
  while (true) {
    JC_ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return {};
    JC_ASSIGN_OR_RETURN(const std::int64_t time, local_time(rows, time_column));
    for (const Column& column : columns) JC_RETURN_IF_ERROR(cell(rows, column, time));
  }
}

// Files of NVML's sample buffer. Some GPUs give samples out of order.
Result<void> GpyjoulesImport::samples(std::string_view file, std::string_view text, Signal signal, double factor) {
  Rows rows(file, text);
  JC_ASSIGN_OR_RETURN(const bool there, rows.header());
  // What pandas writes for no samples at all is a header without a name.
  if (!there || (rows.names().size() == 1 && rows.names()[0].empty())) return {};
  JC_ASSIGN_OR_RETURN(const std::size_t time_column, rows.must_have("timestamp"));
  JC_ASSIGN_OR_RETURN(const std::size_t value_column, rows.must_have("value"));
  const Column column{value_column, out_.channel({std::string(kGpu), signal, "gpyjoules-buffer", std::nullopt}),
                      factor};
  while (true) {
    JC_ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return {};
    const auto time = parse_integer(rows.cell(time_column));
    if (!time || *time < 0) return rows.wrong(fmt::format("'{}' is no time", rows.cell(time_column)));
    JC_RETURN_IF_ERROR(cell(rows, column, *time));
  }
}

struct NamedEvent {
  EventKind kind;
  std::string_view name;
};

NamedEvent event_of(std::string_view text) {
  for (const auto& [ending, kind] : {std::pair{std::string_view("_begin"), EventKind::kBegin},
                                     std::pair{std::string_view("_end"), EventKind::kEnd}}) {
    if (text.size() > ending.size() && text.ends_with(ending))
      return {kind, text.substr(0, text.size() - ending.size())};
  }
  return {EventKind::kMark, text};
}

Result<void> GpyjoulesImport::events() {
  Rows rows(kTimestamps, files_.timestamps);
  JC_ASSIGN_OR_RETURN(const bool there, rows.header());
  if (!there) return {};
  JC_ASSIGN_OR_RETURN(const std::size_t time_column, rows.must_have("timestamp"));
  JC_ASSIGN_OR_RETURN(const std::size_t name_column, rows.must_have("event"));
  const auto index_column = rows.find("data");
  while (true) {
    JC_ASSIGN_OR_RETURN(const bool more, rows.next());
    if (!more) return {};
    JC_ASSIGN_OR_RETURN(const std::int64_t time, local_time(rows, time_column));
    const NamedEvent event = event_of(rows.cell(name_column));
    if (event.name.empty() || event.name.size() > 200) return rows.wrong("has no name of an event");
    // GPyJoules gives 0 to what there is only one of.
    const bool counted = event.name == "epoch" || event.name == "batch";
    std::string details;
    if (counted && index_column) details = fmt::format("index={}", rows.cell(*index_column).substr(0, 32));
    out_.event(time, event.kind, std::string(event.name), std::move(details));
  }
}

std::optional<double> number_before(std::string_view text, std::string_view unit) {
  if (!text.ends_with(unit)) return std::nullopt;
  text.remove_suffix(unit.size());
  const auto number = parse_number(text);
  return number && *number > 0 ? number : std::nullopt;
}

}  // namespace

GpyjoulesSetting gpyjoules_setting(std::string_view name) {
  constexpr double kHertzOfMegahertz = 1e6;
  GpyjoulesSetting out;
  out.power_limit_w = number_before(name, "W");
  const std::size_t comma = name.find(',');
  if (comma == std::string_view::npos) return out;
  const auto memory = number_before(name.substr(0, comma), "MHz");
  const auto sm = number_before(name.substr(comma + 1), "MHz");
  if (!memory || !sm) return out;
  out.memory_clock_hz = *memory * kHertzOfMegahertz;
  out.sm_clock_hz = *sm * kHertzOfMegahertz;
  return out;
}

Result<Recording> parse_gpyjoules(const GpyjoulesFiles& files, const GpyjoulesRun& run, const ImportOptions& options) {
  auto out = GpyjoulesImport(files, options).read(run);
  if (!out) return tl::unexpected<Error>(std::move(out).error().in(run.path));
  return out;
}

}  // namespace joulecast
