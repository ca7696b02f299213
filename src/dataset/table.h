// SPDX-License-Identifier: Apache-2.0
// Reads published tables of measurements. The header line tells which table it is; docs/formats/tables.md lists them.
//
//   JC_ASSIGN_OR_RETURN(Table table, read_table("neusight_gemm.csv"));
//   for (const MeasuredOperation& row : table.operations) learn(*row.graph, *row.readings.time);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/measured.h"
#include "dataset/refusals.h"
#include "joulecast/result.h"

namespace joulecast {

// A line that gave no row, and why. kInvalidInput: it is broken; kUnsupported: nothing we have a use for.
struct UnmappedLine {
  std::size_t line = 0;
  std::string reason;
  ErrorCode code = ErrorCode::kInvalidInput;
};

// Larger tables are refused, so that reading takes bounded time and memory whatever the file. The largest published
// ones have 17 MB and 214,452 rows.
inline constexpr std::size_t kMaxTableBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kMaxTableRows = 2'000'000;
struct TableLimits {
  std::size_t bytes = kMaxTableBytes, rows = kMaxTableRows;
};

struct Table {
  std::string layout;
  std::vector<MeasuredOperation> operations;
  std::vector<MeasuredNetwork> networks;
  Refusals unmapped;               // lines that gave no row
  std::vector<std::string> notes;  // what was left out on purpose
};

// Rows as they are read, for tables that need not be in memory as a whole. Callbacks that are not set: operations and
// networks go nowhere, others count as unmapped, and unmapped lines are collected in the Table.
struct TableSink {
  std::function<void(MeasuredOperation)> operation;
  std::function<void(MeasuredNetwork)> network;
  std::function<void(MeasuredOther)> other = {};
  std::function<void(UnmappedLine)> unmapped = {};
};

// Errors: kNotFound, kIo; kUnsupported for a table that is too large, for a header no layout fits (names what the
// closest one misses), and for tables that are known to hold no measurements; kInvalidInput for more than 10,000 lines
// that are no CSV. Lines that cannot be used do not fail: they are in `unmapped`.
Result<Table> read_table(const std::string& path);
// The same, rows going to `sink`; the Table holds the rest.
Result<Table> read_table(const std::string& path, const TableSink& sink, const TableLimits& limits = {});
// Over text. `name` stands for the file's name: where two tables share a header it tells them apart.
Result<Table> parse_table(std::string_view text, std::string_view name, const TableSink& sink,
                          const TableLimits& limits = {});
Result<Table> parse_table(std::string_view text, std::string_view name);

// Names of all layouts.
std::vector<std::string_view> table_layouts();

// Which layout a header fits, without reading on; the errors of read_table().
Result<std::string_view> recognise_table(const std::string& path);
// Why a layout holds no measurements; empty for one that does.
std::string_view no_measurements(std::string_view layout);

}  // namespace joulecast
