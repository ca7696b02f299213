// SPDX-License-Identifier: Apache-2.0
#include "dataset/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/lower_case.h"
#include "base/mapped_file.h"
#include "base/trimmed.h"
#include "dataset/layout.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// More broken lines than this are not accidents.
constexpr std::size_t kMaxBrokenLines = 10'000;

std::vector<std::string_view> missing_columns(const TableLayout& layout, const CsvHeader& header) {
  std::vector<std::string_view> missing;
  for (const std::string_view column : layout.columns) {
    const bool there = column == kGpuTimes ? !gpu_columns(header).empty() : header.find(column) != header.end();
    if (!there) missing.push_back(column);
  }
  return missing;
}

tl::unexpected<Error> unknown_header(const TableLayout* closest, const CsvHeader& header) {
  std::string text = "the header fits no known table";
  if (closest != nullptr) {
    text += fmt::format("; closest is {}, which also has: {}", closest->name,
                        fmt::join(missing_columns(*closest, header), ", "));
  }
  return unsupported(text + "; for measurements of your own see docs/formats/measurements.md");
}

struct Recognised {
  const TableLayout* fitting = nullptr;  // of those whose columns are all there, the one that wants most
  const TableLayout* closest = nullptr;
};

Recognised layouts_of(const CsvHeader& header) {
  Recognised out;
  double best = 0.0;
  for (const TableLayout& layout : all_layouts()) {
    const auto missing = missing_columns(layout, header).size();
    if (missing == 0 && (out.fitting == nullptr || out.fitting->columns.size() < layout.columns.size()))
      out.fitting = &layout;
    const double share = 1.0 - static_cast<double>(missing) / static_cast<double>(layout.columns.size());
    if (share > best) {
      best = share;
      out.closest = &layout;
    }
  }
  return out;
}

// A header that only capitals, and spaces around names, keep from fitting.
std::optional<Error> misspelt(const CsvHeader& header) {
  CsvHeader plain;
  std::string first;
  for (const auto& [name, at] : header) {
    std::string as_written = lower_case(trimmed(name));
    if (first.empty() && as_written != name) first = fmt::format("column '{}' is written '{}'", name, as_written);
    plain.emplace(std::move(as_written), at);
  }
  const TableLayout* meant = layouts_of(plain).fitting;
  if (meant == nullptr || plain.size() != header.size()) return std::nullopt;
  return unsupported(fmt::format("the header fits {} but for capitals or spaces: {}", meant->name, first)).value();
}

Result<const TableLayout*> recognise(const CsvHeader& header) {
  const Recognised found = layouts_of(header);
  if (found.fitting != nullptr) return found.fitting;
  if (auto error = misspelt(header)) return tl::unexpected(std::move(*error));
  return unknown_header(found.closest, header);
}

// What spreadsheets save as CSV that is none; as columns of a header it would be called an unknown table.
Result<void> check_text(std::string_view text) {
  if (text.starts_with("SQLite format 3"))
    return invalid("a store and no table; joulecast dataset merge adds its rows to another");
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF") || text.substr(0, 2).find('\0') != text.npos)
    return invalid("the text is UTF-16; save the table as CSV in UTF-8");
  const std::string_view first = text.substr(0, std::min(text.find('\n'), kMaxCsvRecord));
  if (first.find('\r') < first.size() - 1)
    return invalid("lines end in CR alone, or a name of the header has one; save the table with LF or CRLF");
  if (first.find(',') != text.npos) return {};
  for (const auto& [separator, word] : {std::pair{';', "semicolons"}, {'\t', "tabs"}}) {
    if (first.find(separator) != text.npos)
      return invalid(fmt::format("columns are separated by {}; save the table with commas", word));
  }
  return {};
}

Result<CsvHeader> read_header(std::string_view text, CsvReader& reader) {
  JC_RETURN_IF_ERROR(check_text(text));
  std::vector<std::string_view> fields;
  JC_ASSIGN_OR_RETURN(const bool more, reader.next(fields));
  if (!more) return invalid("the table is empty");
  CsvHeader header;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!header.emplace(fields[i], i).second) return invalid(fmt::format("column '{}' is there twice", fields[i]));
  }
  return header;
}

// One line of a layout; what it cannot read itself goes to its reader of others.
Result<void> read_line(const TableLayout& layout, const RowReader& read, Row& row, RowSink& sink) {
  auto ok = read(row, sink);
  if (ok || ok.error().code() != ErrorCode::kUnsupported || layout.other == nullptr || !sink.wants_others()) return ok;
  sink.set_reason(ok.error().text());
  auto other = layout.other(row, sink);
  sink.set_reason({});
  return other;
}

// One line after the other; what cannot be used is noted.
Result<void> read_lines(CsvReader& reader, const CsvHeader& header, const TableLayout& layout, const RowReader& read,
                        RowSink& sink, const TableLimits& limits) {
  std::vector<std::string_view> fields;
  std::size_t broken = 0;
  while (true) {
    const auto more = reader.next(fields);
    if (more && !*more) return {};
    sink.set_line(reader.line());
    if (!more || fields.size() != header.size()) {
      sink.unmapped(ErrorCode::kInvalidInput,
                    more ? fmt::format("{} fields for {} columns", fields.size(), header.size()) : more.error().text());
      if (++broken > kMaxBrokenLines) {
        return invalid(fmt::format("line {}: more than {} broken lines", reader.line(), kMaxBrokenLines));
      }
      continue;
    }
    Row row(header, fields);
    if (auto ok = read_line(layout, read, row, sink); !ok) sink.unmapped(ok.error().code(), ok.error().text());
    if (sink.rows() > limits.rows) {
      return unsupported(fmt::format("line {}: more than {} rows", reader.line(), limits.rows));
    }
  }
}

}  // namespace

std::vector<std::string_view> table_layouts() {
  std::vector<std::string_view> names;
  for (const TableLayout& layout : all_layouts()) names.push_back(layout.name);
  return names;
}

std::string_view no_measurements(std::string_view layout) {
  for (const TableLayout& known : all_layouts()) {
    if (known.name == layout) return known.no_measurements;
  }
  return {};
}

Result<Table> parse_table(std::string_view text, std::string_view name, const TableSink& sink,
                          const TableLimits& limits) {
  if (text.size() > limits.bytes)
    return unsupported(fmt::format("has {} bytes; a table has at most {}", text.size(), limits.bytes));
  CsvReader reader(text);
  JC_ASSIGN_OR_RETURN(const CsvHeader header, read_header(text, reader));
  JC_ASSIGN_OR_RETURN(const TableLayout* layout, recognise(header));
  if (!layout->no_measurements.empty()) {
    return unsupported(fmt::format("{} holds no measurements: {}", layout->name, layout->no_measurements));
  }
  Table table;
  table.layout = layout->name;
  TableSink complete = sink;
  if (!complete.unmapped) {
    complete.unmapped = [&](const UnmappedLine& line) { table.unmapped.add(line.line, line.reason); };
  }
  JC_ASSIGN_OR_RETURN(const RowReader read, layout->open({header, name, table.notes, text}));
  RowSink rows(layout->name, name, std::make_shared<const Origin>(layout->origin), complete);
  JC_RETURN_IF_ERROR(read_lines(reader, header, *layout, read, rows, limits));
  return table;
}

Result<Table> parse_table(std::string_view text, std::string_view name) {
  std::vector<MeasuredOperation> operations;
  std::vector<MeasuredNetwork> networks;
  TableSink sink;
  sink.operation = [&](MeasuredOperation row) { operations.push_back(std::move(row)); };
  sink.network = [&](MeasuredNetwork row) { networks.push_back(std::move(row)); };
  JC_ASSIGN_OR_RETURN(Table table, parse_table(text, name, sink));
  table.operations = std::move(operations);
  table.networks = std::move(networks);
  return table;
}

namespace {

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

Result<Table> placed(Result<Table> table, const std::string& path) {
  if (!table) return tl::unexpected(std::move(table).error().in(path));
  return table;
}

}  // namespace

Result<Table> read_table(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return placed(parse_table(file.text(), file_name(path)), path);
}

Result<Table> read_table(const std::string& path, const TableSink& sink, const TableLimits& limits) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return placed(parse_table(file.text(), file_name(path), sink, limits), path);
}

Result<std::string_view> recognise_table(const std::string& path) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  CsvReader reader(file.text());
  auto layout = [&]() -> Result<std::string_view> {
    JC_ASSIGN_OR_RETURN(const CsvHeader header, read_header(file.text(), reader));
    JC_ASSIGN_OR_RETURN(const TableLayout* found, recognise(header));
    return found->name;
  }();
  if (!layout) return tl::unexpected(Error(layout.error()).in(path));
  return layout;
}

}  // namespace joulecast
