// SPDX-License-Identifier: Apache-2.0
// Runs that were measured elsewhere, as a table: one a line.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "base/csv.h"
#include "base/harmless.h"
#include "base/mapped_file.h"
#include "measure/sweep_load.h"
#include "measure/sweep_measured.h"

namespace joulecast {
namespace {

using Fields = std::vector<std::string_view>;

enum class Column { kGroup, kLimit, kClock, kRepetition, kTime, kEnergy, kIgnored };

struct NamedColumn {
  std::string_view name;
  Column column;
};
constexpr std::array kNamed{
    NamedColumn{"power_limit_w", Column::kLimit},   NamedColumn{"limit_w", Column::kLimit},
    NamedColumn{"sm_clock_mhz", Column::kClock},    NamedColumn{"clock_mhz", Column::kClock},
    NamedColumn{"repetition", Column::kRepetition},
};
// What ends like this was measured, and says nothing about what was run.
constexpr std::array<std::string_view, 8> kMeasured{"_s", "_j", "_js", "_w", "_mhz", "_c", "_ratio", "_percent"};

Column column_of(std::string_view name) {
  const auto* const named =
      std::find_if(kNamed.begin(), kNamed.end(), [&](const NamedColumn& one) { return one.name == name; });
  if (named != kNamed.end()) return named->column;
  const auto has = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  if (has("time") && name.ends_with("_s")) return Column::kTime;
  if (has("energy") && name.ends_with("_j")) return Column::kEnergy;
  const bool measured =
      std::any_of(kMeasured.begin(), kMeasured.end(), [&](std::string_view unit) { return name.ends_with(unit); });
  return measured ? Column::kIgnored : Column::kGroup;
}

class TableOfRuns {
 public:
  explicit TableOfRuns(const std::string& path) : path_(path) {}

  Result<LoadedSweep> read(std::string_view text) {
    CsvReader reader(text);
    Fields fields;
    while (true) {
      auto more = reader.next(fields);
      if (!more) return wrong(reader.line(), more.error().text());
      if (!*more) break;
      auto read = columns_.empty() ? header(fields) : row(fields);
      if (!read) return wrong(reader.line(), read.error().text());
    }
    if (out_.runs.empty()) return invalid(path_ + ": has no runs");
    settle_energy(out_);
    return std::move(out_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> wrong(std::size_t line, const std::string& what) const {
    return invalid(fmt::format("{}:{}: {}", path_, line, what));
  }

  Result<void> header(const Fields& fields) {
    for (const std::string_view name : fields) columns_.push_back(column_of(name));
    const auto count = [&](Column column) { return std::count(columns_.begin(), columns_.end(), column); };
    for (const auto& [column, what] : {std::pair{Column::kTime, "time (time_s)"},
                                       {Column::kEnergy, "energy (energy_j)"},
                                       {Column::kLimit, "limits (power_limit_w)"},
                                       {Column::kClock, "clocks (clock_mhz)"}}) {
      if (count(column) > 1) return invalid(fmt::format("has several columns of {}", what));
    }
    if (count(Column::kTime) == 0) return invalid("no table of runs: it has no column of times (time_s)");
    if (count(Column::kLimit) + count(Column::kClock) == 0) {
      return invalid("no table of a sweep: it has no column of settings (power_limit_w, clock_mhz)");
    }
    return {};
  }

  Result<void> row(const Fields& fields) {
    if (fields.size() != columns_.size()) {
      return invalid(fmt::format("has {} cells instead of {}", fields.size(), columns_.size()));
    }
    SweepMeasurement run;
    run.repetition = 0;
    for (std::size_t i = 0; i < fields.size(); ++i) JC_RETURN_IF_ERROR(cell(columns_[i], fields[i], run));
    if (!run.limit_w && !run.clock_mhz) return invalid("has no setting");
    if (run.limit_w) run.setting = fmt::format("{} W", *run.limit_w);
    if (run.clock_mhz) run.setting += fmt::format("{}{} MHz", run.limit_w ? ", " : "", *run.clock_mhz);
    const std::size_t count = ++count_[{run.group, run.setting}];
    if (run.repetition == 0) run.repetition = count;
    run.id = fmt::format("{}/{}/{}", run.group, run.setting, run.repetition);
    if (!ids_.insert(run.id).second) {
      return invalid(fmt::format("repetition {} of {} is there already", run.repetition,
                                 run.group.empty() ? run.setting : run.group + " at " + run.setting));
    }
    out_.runs.push_back(std::move(run));
    return {};
  }

  static Result<void> cell(Column column, std::string_view text, SweepMeasurement& run) {
    if (column == Column::kIgnored) return {};
    if (column == Column::kGroup) {
      run.group += (run.group.empty() ? "" : "/") + harmless_line(text);
      return {};
    }
    if (text.empty() && column != Column::kTime) return {};
    const auto number = parse_number(text);
    if (!number || !(*number > 0)) return invalid(fmt::format("'{}' is no positive number", text));
    if (column == Column::kTime) run.time_s = *number;
    if (column == Column::kEnergy) run.energy_j = *number;
    if (column == Column::kLimit) run.limit_w = *number;
    if (column == Column::kClock) run.clock_mhz = *number;
    if (column == Column::kRepetition) {
      const auto whole = parse_integer(text);
      if (!whole) return invalid(fmt::format("'{}' is no whole number", text));
      run.repetition = static_cast<std::size_t>(*whole);
    }
    return {};
  }

  const std::string& path_;
  std::vector<Column> columns_;
  std::map<std::pair<std::string, std::string>, std::size_t> count_;
  std::set<std::string> ids_;
  LoadedSweep out_;
};

}  // namespace

Result<LoadedSweep> parse_sweep_table(std::string_view text, const std::string& name) {
  constexpr std::string_view kRecording = "JCRUN";
  if (text.starts_with(kRecording)) {
    return invalid(name + ": is one recording; a sweep is a folder of them (joulecast analyze takes this one)");
  }
  return TableOfRuns(name).read(text);
}

Result<LoadedSweep> load_sweep_table(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse_sweep_table(file.text(), path);
}

}  // namespace joulecast
