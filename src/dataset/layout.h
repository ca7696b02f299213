// SPDX-License-Identifier: Apache-2.0
// What a table layout is made of. A new one: a file in layouts/ and its line in table.cpp.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/csv.h"
#include "dataset/measured.h"
#include "dataset/operation.h"
#include "dataset/table.h"

namespace joulecast {

// What one step of a network or operation can have measured, generously: beyond it a cell is garbage, not a
// measurement.
struct PossibleRange {
  double least, most;
  std::string_view unit;
};
constexpr PossibleRange possible(Seconds) {
  return {1e-9, 1e6, "s"};  // about a cycle; eleven days
}
constexpr PossibleRange possible(Watts) {
  return {0.1, 1e5, "W"};  // a rack full of boards stays below
}
constexpr PossibleRange possible(Joules) {
  return {1e-10, 1e11, "J"};  // the product of both
}
constexpr PossibleRange possible(Hertz) {
  return {1e6, 1e10, "Hz"};  // a parked clock; above any chip's
}

// Column names of a table and where they are.
using CsvHeader = std::map<std::string, std::size_t, std::less<>>;

// One line of a table. Reading remembers the first thing that was wrong, so that a layout can read all it needs and ask
// once; columns that are not there are empty.
class Row {
 public:
  Row(const CsvHeader& header, std::span<const std::string_view> fields) : header_(header), fields_(fields) {}

  [[nodiscard]] std::string_view text(std::string_view column) const;
  // Must be there and be what is asked for.
  std::int64_t integer(std::string_view column);
  std::int64_t extent(std::string_view column);  // an integer from 1 on
  double number(std::string_view column);
  // May be empty.
  std::optional<std::int64_t> optional_integer(std::string_view column);
  std::optional<double> optional_number(std::string_view column);
  // A measured quantity: empty, or possible.
  template <typename Q>
  std::optional<Q> quantity(std::string_view column) {
    return between<Q>(column, possible(Q{}).least);
  }
  // Standard deviations: empty, or from 0 on.
  template <typename Q>
  std::optional<Q> deviation(std::string_view column) {
    return between<Q>(column, 0.0);
  }
  bool flag(std::string_view column);  // 0 or 1

  // kInvalidInput with the first complaint, if there was one.
  [[nodiscard]] Result<void> status() const;

 private:
  template <typename Q>
  std::optional<Q> between(std::string_view column, double least) {
    const auto value = optional_number_between(column, {least, possible(Q{}).most, possible(Q{}).unit});
    return value ? std::optional<Q>(Q{*value}) : std::nullopt;
  }
  std::optional<double> optional_number_between(std::string_view column, const PossibleRange& range);
  void fail(std::string_view column, std::string_view what);

  const CsvHeader& header_;
  std::span<const std::string_view> fields_;
  std::string complaint_;
};

// What a layout hands rows to. Fills in where they come from.
class RowSink {
 public:
  RowSink(std::string_view layout, const TableSink& sink) : layout_(layout), sink_(sink) {}

  void set_line(std::size_t line) { line_ = line; }
  void add(MeasuredOperation row);
  void add(MeasuredNetwork row);
  void add(MeasuredSetting row);
  OperationPool& pool() { return pool_; }
  // How many were added.
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  std::string_view layout_;
  const TableSink& sink_;
  std::size_t line_ = 0, rows_ = 0;
  OperationPool pool_;
};

// What a layout learns of the table before its first line.
struct TableContext {
  const CsvHeader& header;
  std::string_view file_name;
  std::vector<std::string>& notes;
};

// Reads one line; an error says why it cannot be used. One line may give several rows.
using RowReader = std::function<Result<void>(Row&, RowSink&)>;

struct TableLayout {
  std::string_view name;
  std::vector<std::string_view> columns;  // those a header must have
  Result<RowReader> (*open)(const TableContext& context);
};

// For wide tables: columns "<gpu>_s" beyond the layout's own, in the order of the table.
struct GpuColumn {
  std::string column, gpu;
};
std::vector<GpuColumn> gpu_columns(const CsvHeader& header);

// Extents of "32x3x224x224".
Result<Shape> parse_shape(std::string_view text);

}  // namespace joulecast
