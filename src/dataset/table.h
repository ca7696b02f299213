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

// Larger tables are refused, so that reading takes bounded time and memory whatever the file. The largest published
// ones have 17 MB and 214,452 rows.
inline constexpr std::size_t kMaxTableBytes = std::size_t{256} << 20U;
inline constexpr std::size_t kMaxTableRows = 2'000'000;

struct Table {
  std::string layout;
  std::vector<MeasuredOperation> operations;
  std::vector<MeasuredNetwork> networks;
  Refusals unmapped;               // lines that gave no row
  std::vector<MeasuredSetting> settings;
  std::vector<std::string> notes;  // what was left out on purpose
};

// Rows as they are read, for tables that need not be in memory as a whole.
struct TableSink {
  std::function<void(MeasuredOperation)> operation;
  std::function<void(MeasuredNetwork)> network;
  std::function<void(MeasuredSetting)> setting = {};
};

// Errors: kNotFound, kIo; kUnsupported for a table that is too large, and for a header no layout fits (names the
// layouts, and what the closest one misses); kInvalidInput for more than 10,000 lines that are no CSV. Lines that
// cannot be used do not fail: they are in `unmapped`.
Result<Table> read_table(const std::string& path);
// The same, rows going to `sink`; the Table holds the rest.
Result<Table> read_table(const std::string& path, const TableSink& sink);
// Over text. `name` stands for the file's name: where two tables share a header it tells them apart.
Result<Table> parse_table(std::string_view text, std::string_view name, const TableSink& sink);
Result<Table> parse_table(std::string_view text, std::string_view name);

// Names of all layouts, in the order they are tried.
std::vector<std::string_view> table_layouts();

}  // namespace joulecast
