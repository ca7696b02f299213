// SPDX-License-Identifier: Apache-2.0
#include "recording/import/smi_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/csv.h"
#include "base/mapped_file.h"
#include "recording/import/gathering.h"
#include "recording/import/smi_columns.h"
#include "recording/import/wall_time.h"

namespace joulecast {
namespace {

using Fields = std::vector<std::string_view>;

// Rows of one poll come as the driver answers, which may be in another order than its clock's.
constexpr std::int64_t kStepBack = 1'000'000;
constexpr std::size_t kMaxDevices = 512;

// One GPU of the log: its channels, one entry a column of values.
struct Gpu {
  std::string id;
  std::vector<std::uint32_t> channels;
};

struct Cell {
  std::string_view text;
  std::optional<Absence> absence;
  double value = 0;  // where there is no absence
};

struct Row {
  WallTime time;
  std::vector<Cell> cells;  // of values
};

class SmiLog {
 public:
  SmiLog(const ImportOptions& options, std::string name) : options_(options), name_(std::move(name)) {}

  Result<Recording> read(std::string_view text);

 private:
  Result<void> set_columns(const Fields& headers);
  Result<void> first_record(const Fields& fields, bool& is_row);
  Result<void> record(const Fields& fields, std::size_t line, bool last);
  [[nodiscard]] Result<Row> row(const Fields& fields) const;
  Result<void> take(const Fields& fields, const Row& row);
  Result<std::int64_t> utc_of(const WallTime& time);
  Result<Gpu*> gpu_of(const Fields& fields);
  void leave_out(std::size_t line, const Error& error);
  [[nodiscard]] bool is_header(const Fields& fields) const;
  [[nodiscard]] std::string_view cell_of(const Fields& fields, SmiRole role) const;
  [[nodiscard]] bool names_gpus() const;
  void finish_notes();
  [[nodiscard]] tl::unexpected<Error> wrong(std::size_t line, const Error& error) const;

  const ImportOptions& options_;
  std::string name_;
  Gathering out_;
  std::vector<SmiColumn> columns_;
  std::vector<std::string> headers_;  // that the names of columns_ point to
  std::map<std::string, Gpu> gpus_;   // by whatever the log calls them
  std::optional<std::int64_t> last_time_;
  bool unzoned_ = false;
  std::size_t rows_ = 0, unread_ = 0;
  std::optional<Error> first_unread_;
};

std::string listed(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

Result<void> SmiLog::set_columns(const Fields& headers) {
  headers_.assign(headers.begin(), headers.end());
  std::vector<std::string> ignored;
  for (const std::string& header : headers_) {
    JC_ASSIGN_OR_RETURN(const SmiColumn column, smi_column(header));
    const bool twice = std::any_of(columns_.begin(), columns_.end(),
                                   [&](const SmiColumn& other) { return other.name == column.name; });
    if (twice) return invalid(fmt::format("column '{}' is there twice", column.name));
    if (column.role == SmiRole::kIgnored) ignored.emplace_back(column.name);
    columns_.push_back(column);
  }
  const auto count = [&](SmiRole role) {
    return std::count_if(columns_.begin(), columns_.end(),
                         [&](const SmiColumn& column) { return column.role == role; });
  };
  if (count(SmiRole::kTime) == 0) return invalid("has no column 'timestamp'; query it: --query-gpu=timestamp,...");
  if (count(SmiRole::kValue) == 0) return invalid("has no column of readings that joulecast knows");
  if (!ignored.empty()) out_.note("columns left out: " + listed(ignored));
  if (!names_gpus()) out_.note("no column says which GPU a row is of: all are taken to be one GPU's");
  return {};
}

bool SmiLog::names_gpus() const {
  return std::any_of(columns_.begin(), columns_.end(), [](const SmiColumn& column) {
    return column.role == SmiRole::kIndex || column.role == SmiRole::kUuid || column.role == SmiRole::kPci;
  });
}

bool SmiLog::is_header(const Fields& fields) const {
  return fields.size() == headers_.size() && std::equal(fields.begin(), fields.end(), headers_.begin());
}

std::string_view SmiLog::cell_of(const Fields& fields, SmiRole role) const {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role == role) return trimmed(fields[i]);
  }
  return {};
}

Result<std::int64_t> SmiLog::utc_of(const WallTime& time) {
  unzoned_ = unzoned_ || !time.zoned;
  const std::int64_t utc = time.zoned ? time.us : time.us - options_.utc_offset.value_or(0);
  if (last_time_ && utc < *last_time_ - kStepBack) {
    return invalid("the time goes back: the clock was set, or two logs were joined; split the file here");
  }
  if (!names_gpus() && last_time_ == utc) {
    return invalid(
        "has the time of the row before, and no column says which GPU it is of; query one: "
        "--query-gpu=timestamp,index,...");
  }
  last_time_ = std::max(utc, last_time_.value_or(utc));
  return utc;
}

Result<Gpu*> SmiLog::gpu_of(const Fields& fields) {
  const std::string_view index = cell_of(fields, SmiRole::kIndex);
  const std::string_view uuid = cell_of(fields, SmiRole::kUuid);
  const std::string_view pci = cell_of(fields, SmiRole::kPci);
  std::string key(!uuid.empty() ? uuid : !pci.empty() ? pci : index);
  const auto found = gpus_.find(key);
  if (found != gpus_.end()) return &found->second;
  if (gpus_.size() >= kMaxDevices) return invalid("has more GPUs than any machine");
  const auto number = parse_integer(index);
  Gpu gpu{fmt::format("gpu{}", number ? *number : static_cast<std::int64_t>(gpus_.size())), {}};
  nlohmann::json details = nlohmann::json::object();
  if (!uuid.empty()) details["uuid"] = uuid;
  if (!pci.empty()) details["pci"] = pci;
  if (const auto driver = cell_of(fields, SmiRole::kDriver); !driver.empty()) details["driver"] = driver;
  out_.head()["devices"].push_back(
      {{"id", gpu.id}, {"kind", "gpu"}, {"name", cell_of(fields, SmiRole::kName)}, {"details", std::move(details)}});
  for (const SmiColumn& column : columns_) {
    if (column.role != SmiRole::kValue) continue;
    gpu.channels.push_back(out_.channel({gpu.id, column.signal, std::string(column.source), std::nullopt}));
  }
  return &gpus_.emplace(std::move(key), std::move(gpu)).first->second;
}

Result<Row> SmiLog::row(const Fields& fields) const {
  if (fields.size() != columns_.size())
    return invalid(fmt::format("has {} cells instead of {}", fields.size(), columns_.size()));
  const std::string_view time = cell_of(fields, SmiRole::kTime);
  const auto parsed = parse_wall_time(time);
  if (!parsed) return invalid(fmt::format("'{}' is no time", time));
  const std::string_view index = cell_of(fields, SmiRole::kIndex);
  if (!index.empty() && parse_integer(index).value_or(-1) < 0)
    return invalid(fmt::format("'{}' is no index of a GPU", index));
  Row out{*parsed, {}};
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].role != SmiRole::kValue) continue;
    Cell cell{trimmed(fields[i]), absence_of_cell(trimmed(fields[i])), 0};
    if (!cell.absence) {
      JC_ASSIGN_OR_RETURN(cell.value, smi_value(columns_[i], cell.text));
    }
    out.cells.push_back(cell);
  }
  return out;
}

Result<void> SmiLog::take(const Fields& fields, const Row& row) {
  JC_ASSIGN_OR_RETURN(const std::int64_t time, utc_of(row.time));
  JC_ASSIGN_OR_RETURN(const Gpu* gpu, gpu_of(fields));
  auto channel = gpu->channels.begin();
  for (const Cell& cell : row.cells) {
    const std::uint32_t id = *channel++;
    if (cell.absence) {
      out_.absent(id, time, *cell.absence, cell.text.empty() ? "empty cell" : cell.text);
    } else if (!out_.reading(id, time, cell.value)) {
      return invalid(fmt::format("'{}' is out of all bounds", cell.text));
    }
  }
  return {};
}

// What was torn when the logger was killed and another went on in the same file.
void SmiLog::leave_out(std::size_t line, const Error& error) {
  ++unread_;
  if (!first_unread_) first_unread_ = wrong(line, error).value();
}

tl::unexpected<Error> SmiLog::wrong(std::size_t line, const Error& error) const {
  return tl::unexpected<Error>(Error(error).in(fmt::format("{}:{}", name_, line)));
}

void SmiLog::finish_notes() {
  out_.head()["schema"] = "joulecast.recording/1";
  out_.head()["imported"] = {{"from", "nvidia-smi"}, {"file", name_}};
  if (first_unread_) {
    out_.note(fmt::format("{} of {} rows cannot be read and are left out, the first: {}", unread_, rows_,
                          first_unread_->text()));
  }
  if (!unzoned_) return;
  const std::string offset = utc_offset_text(options_.utc_offset.value_or(0));
  out_.note(options_.utc_offset
                ? fmt::format("times of the log were read as UTC{}, as was asked for", offset)
                : "times of the log have no zone and were read as UTC; joulecast export --utc-offset says otherwise");
}

Result<void> SmiLog::first_record(const Fields& fields, bool& is_row) {
  is_row = std::none_of(fields.begin(), fields.end(), is_smi_column);
  if (!is_row) return set_columns(fields);
  if (options_.columns.empty())
    return invalid("has no header; say its columns: joulecast export --columns timestamp,index,power.draw");
  return set_columns({options_.columns.begin(), options_.columns.end()});
}

Result<void> SmiLog::record(const Fields& fields, std::size_t line, bool last) {
  bool is_row = true;
  if (columns_.empty()) {
    JC_RETURN_IF_ERROR(first_record(fields, is_row));
  } else {
    is_row = !is_header(fields);  // logs that were appended to
  }
  if (!is_row) return {};
  if (last) {
    out_.note(fmt::format("line {} was cut off and is left out", line));
    return {};
  }
  if (fields.size() == 1 && columns_.size() > 1) {
    out_.note(fmt::format("line {} is no row: '{}'", line, fields.front()));  // the driver's words among the rows
    return {};
  }
  ++rows_;
  const auto read = row(fields);
  if (read) return take(fields, *read);
  leave_out(line, read.error());
  return {};
}

Result<Recording> SmiLog::read(std::string_view text) {
  CsvReader reader(text);
  Fields fields;
  // Whatever was cut off may look whole: "7" of "75.20 W".
  const std::size_t whole_lines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  while (true) {
    const auto more = reader.next(fields);
    if (!more) return wrong(reader.line(), more.error());
    if (!*more) break;
    if (auto read = record(fields, reader.line(), reader.line() > whole_lines); !read) {
      return wrong(reader.line(), read.error());
    }
  }
  if (gpus_.empty() && first_unread_) return tl::unexpected<Error>(*first_unread_);
  if (gpus_.empty()) return invalid(name_ + ": has no rows");
  finish_notes();
  return std::move(out_).finish();
}

}  // namespace

Result<Recording> parse_smi_log(std::string_view text, const ImportOptions& options, const std::string& name) {
  return SmiLog(options, name).read(text);
}

Result<Recording> import_smi_log(const std::string& path, const ImportOptions& options) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return parse_smi_log(file.text(), options, path);
}

bool looks_like_smi_log(std::string_view text) {
  CsvReader reader(text);
  Fields fields;
  if (!reader.next(fields).value_or(false)) return false;
  std::size_t known = 0;
  for (const std::string_view field : fields) {
    known += is_smi_column(field) ? 1 : 0;
    // Few programs write dates with slashes and milliseconds behind them.
    if (trimmed(field).find('/') == 4 && parse_wall_time(trimmed(field))) return true;
  }
  return known >= 2;
}

}  // namespace joulecast
