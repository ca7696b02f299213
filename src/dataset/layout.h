// SPDX-License-Identifier: Apache-2.0
// What a table layout is made of. A new one: a file in layouts/ and its line in layouts/list.cpp.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.h"
#include "dataset/measured.h"
#include "dataset/measurement.h"
#include "dataset/operation.h"
#include "dataset/possible.h"
#include "dataset/table.h"

namespace joulecast {

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
  RowSink(std::string_view layout, std::string_view file, std::shared_ptr<const Origin> origin, const TableSink& sink)
      : layout_(layout), file_(file), origin_(std::move(origin)), sink_(sink) {}

  void set_line(std::size_t line);
  // Why the rows added next are none of our operations; empty: they say so themselves.
  void set_reason(std::string reason) { reason_ = std::move(reason); }
  void add(MeasuredOperation row);
  void add(MeasuredNetwork row);
  void add(MeasuredOther row);
  void unmapped(ErrorCode code, std::string reason);
  // Of rows that say themselves where they come from.
  Result<void> add(const Measurement& row);
  [[nodiscard]] bool wants_others() const { return sink_.other != nullptr; }
  [[nodiscard]] std::size_t line() const { return line_; }
  [[nodiscard]] std::string_view file() const { return file_; }
  OperationPool& pool() { return pool_; }
  // How many there were, those that could not be used among them.
  [[nodiscard]] std::size_t rows() const { return rows_; }

 private:
  void place(Provenance& from);

  std::string_view layout_, file_;
  std::shared_ptr<const Origin> origin_;
  const TableSink& sink_;
  std::size_t line_ = 0, part_ = 0, rows_ = 0;
  std::string reason_;
  OperationPool pool_;
};

// What a layout learns of the table before its first line.
struct TableContext {
  const CsvHeader& header;
  std::string_view file_name;
  std::vector<std::string>& notes;
  std::string_view rows;  // the table with its header, for layouts that have to look through it first
};

// Reads one line; an error says why it cannot be used. One line may give several rows.
using RowReader = std::function<Result<void>(Row&, RowSink&)>;

struct TableLayout {
  std::string_view name;
  std::vector<std::string_view> columns;  // those a header must have; kGpuTimes stands for one of them at least
  Result<RowReader> (*open)(const TableContext& context);
  // Reads a line that `open`'s reader calls unsupported, as rows that are kept but are none of our operations; may be
  // nullptr.
  Result<void> (*other)(Row& row, RowSink& sink) = nullptr;
  Origin origin = {};  // as the table's publisher tells it
  // Not empty: the table is known and holds no measurements; why. `open` is then nullptr.
  std::string_view no_measurements = {};
};

// A row that is none of our operations. `network`: of a network or part of one.
MeasuredOther other_row(Row& row, std::string_view gpu_column, bool network, std::string name);
// Adds the columns' cells to the row's details, those that are not empty.
void add_details(MeasuredOther& out, const Row& row, std::initializer_list<std::string_view> columns);

// For wide tables: columns "<gpu>_s", in the order of the table. Which GPUs there are is up to the table.
inline constexpr std::string_view kGpuTimes = "<gpu>_s";
struct GpuColumn {
  std::string column, gpu;
};
std::vector<GpuColumn> gpu_columns(const CsvHeader& header);

// Extents of "32x3x224x224".
Result<Shape> parse_shape(std::string_view text);

}  // namespace joulecast
