// SPDX-License-Identifier: Apache-2.0
#include "dataset/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/mapped_file.h"
#include "dataset/layout.h"
#include "dataset/layouts/layouts.h"

namespace joulecast {
namespace {

// More broken lines than this are not accidents.
constexpr std::size_t kMaxBrokenLines = 10'000;

// The first that fits is taken: those that want more columns come first.
const std::vector<TableLayout>& layouts() {
  static const std::vector<TableLayout> all = {
      heidelberg_operations_layout(),
      heidelberg_networks_layout(),
      aic_power_attention_layout(),
      aic_power_gemm_layout(),
      aic_attention_layout(),
      aic_gemm_layout(),
      neusight_gemm_layout(),
      neusight_conv_layout(),
      neusight_vec_layout(),
      timm_benchmark_layout(),
      torchvision_layout(),
      profet_train_layout(),
      cde_conv_layout(),
      cde_dense_layout(),
      deepbench_layout(),
      vidur_layout(),
      zeus_power_limit_layout(),
      perseus_clock_layout(),
      perseus_limit_layout(),
      guerreiro_layout(),
  };
  return all;
}

std::vector<std::string_view> missing_columns(const TableLayout& layout, const CsvHeader& header) {
  std::vector<std::string_view> missing;
  for (const std::string_view column : layout.columns) {
    if (header.find(column) == header.end()) missing.push_back(column);
  }
  return missing;
}

Result<const TableLayout*> recognise(const CsvHeader& header) {
  const TableLayout* closest = nullptr;
  double best = 0.0;
  for (const TableLayout& layout : layouts()) {
    const auto missing = missing_columns(layout, header).size();
    if (missing == 0) return &layout;
    const double share = 1.0 - static_cast<double>(missing) / static_cast<double>(layout.columns.size());
    if (share > best) {
      best = share;
      closest = &layout;
    }
  }
  std::string text = fmt::format("the header fits no known table; known: {}", fmt::join(table_layouts(), ", "));
  if (closest != nullptr) {
    text += fmt::format("; closest is {}, which also has: {}", closest->name,
                        fmt::join(missing_columns(*closest, header), ", "));
  }
  return unsupported(std::move(text));
}

Result<CsvHeader> read_header(CsvReader& reader) {
  std::vector<std::string_view> fields;
  JC_ASSIGN_OR_RETURN(const bool more, reader.next(fields));
  if (!more) return invalid("the table is empty");
  CsvHeader header;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!header.emplace(fields[i], i).second) return invalid(fmt::format("column '{}' is there twice", fields[i]));
  }
  return header;
}

// One line after the other; what cannot be used is noted.
Result<void> read_lines(CsvReader& reader, const CsvHeader& header, const RowReader& read, RowSink& sink,
                        Table& table) {
  std::vector<std::string_view> fields;
  std::size_t broken = 0;
  while (true) {
    const auto more = reader.next(fields);
    if (more && !*more) return {};
    if (!more || fields.size() != header.size()) {
      table.unmapped.add(reader.line(), more ? fmt::format("{} fields for {} columns", fields.size(), header.size())
                                             : more.error().text());
      if (++broken > kMaxBrokenLines) {
        return invalid(fmt::format("line {}: more than {} broken lines", reader.line(), kMaxBrokenLines));
      }
      continue;
    }
    sink.set_line(reader.line());
    Row row(header, fields);
    if (auto ok = read(row, sink); !ok) table.unmapped.add(reader.line(), ok.error().text());
    if (sink.rows() + table.unmapped.rows() > kMaxTableRows)
      return unsupported(fmt::format("line {}: more than {} rows", reader.line(), kMaxTableRows));
  }
}

}  // namespace

std::vector<std::string_view> table_layouts() {
  std::vector<std::string_view> names;
  for (const TableLayout& layout : layouts()) names.push_back(layout.name);
  return names;
}

Result<Table> parse_table(std::string_view text, std::string_view name, const TableSink& sink) {
  if (text.size() > kMaxTableBytes)
    return unsupported(fmt::format("has {} bytes; a table has at most {}", text.size(), kMaxTableBytes));
  CsvReader reader(text);
  JC_ASSIGN_OR_RETURN(const CsvHeader header, read_header(reader));
  JC_ASSIGN_OR_RETURN(const TableLayout* layout, recognise(header));
  Table table;
  table.layout = layout->name;
  JC_ASSIGN_OR_RETURN(const RowReader read, layout->open({header, name, table.notes}));
  RowSink rows(layout->name, sink);
  JC_RETURN_IF_ERROR(read_lines(reader, header, read, rows, table));
  return table;
}

Result<Table> parse_table(std::string_view text, std::string_view name) {
  std::vector<MeasuredOperation> operations;
  std::vector<MeasuredNetwork> networks;
  std::vector<MeasuredSetting> settings;
  const TableSink sink{[&](MeasuredOperation row) { operations.push_back(std::move(row)); },
                       [&](MeasuredNetwork row) { networks.push_back(std::move(row)); },
                       [&](MeasuredSetting row) { settings.push_back(std::move(row)); }};
  JC_ASSIGN_OR_RETURN(Table table, parse_table(text, name, sink));
  table.operations = std::move(operations);
  table.networks = std::move(networks);
  table.settings = std::move(settings);
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

Result<Table> read_table(const std::string& path, const TableSink& sink) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  return placed(parse_table(file.text(), file_name(path), sink), path);
}

}  // namespace joulecast
