// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/dataset/commands.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "dataset/measurement_csv.h"

namespace joulecast::cli {
namespace {

Json cell_json(const Measurement::Cell& cell) {
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* real = std::get_if<double>(&cell)) return json_number(*real);
  return std::get<std::string>(cell);
}

Json row_json(const StoredRow& stored) {
  Json out = {{"key", fmt::format("{:016x}{:016x}", static_cast<std::uint64_t>(stored.key.high),
                                  static_cast<std::uint64_t>(stored.key.low))}};
  for (const Column column : all_columns()) {
    const auto& cell = stored.row.cell(column);
    out[std::string(info(column).name)] =
        std::holds_alternative<std::monostate>(cell) ? Json(nullptr) : cell_json(cell);
  }
  return out;
}

void add_reading(std::string& line, const Measurement& row, Column column, std::string_view unit) {
  const auto value = row.real(column);
  if (value) line += fmt::format("{}{}", line.empty() ? "" : ", ", with_prefix(*value, unit));
}

std::string readings(const Measurement& row) {
  std::string out;
  add_reading(out, row, Column::kTime, "s");
  add_reading(out, row, Column::kPower, "W");
  add_reading(out, row, Column::kEnergy, "J");
  const std::string& relation = row.text(Column::kMemoryRelation);
  std::string memory;
  add_reading(memory, row, Column::kMemory, "B");
  if (memory.empty() && relation == ">") memory = "what there was";
  if (!memory.empty())
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", relation == "=" ? "" : relation + " ", memory);
  if (!row.text(Column::kPer).empty()) out += " per " + row.text(Column::kPer);
  if (!row.text(Column::kCautions).empty()) out += "; " + row.text(Column::kCautions);
  return out;
}

// Three lines a row: where and under what, what, and what was read.
std::string row_text(const Measurement& row) {
  const std::string& label = row.text(Column::kGpuLabel);
  std::string setup = label.empty() ? row.text(Column::kGpu) : label;
  for (const Column column : {Column::kMode, Column::kPrecision, Column::kSoftware}) {
    if (!row.text(column).empty()) setup += ", " + row.text(column);
  }
  if (row.integer(Column::kBatch)) setup += fmt::format(", batch {}", *row.integer(Column::kBatch));
  const std::string where = fmt::format("{}:{}", row.text(Column::kFile), row.integer(Column::kLine).value_or(0));
  return wrapped(printable(fmt::format("{}  {}", where, setup)), 80, 4) + "\n  " +
         shortened(printable(row.text(Column::kName)), 78) + "\n" + wrapped("  " + printable(readings(row)), 80, 4) +
         "\n";
}

}  // namespace

Outcome show_command(const DatasetOptions& options, Output& output) {
  auto store = Store::open(options.store, Access::kRead);
  if (!store) return tl::unexpected<Failure>(store.error());
  auto filter = resolved_filter(options, *store);
  if (!filter) return tl::unexpected(std::move(filter).error());
  const std::size_t limit = options.limit;
  filter->limit = limit + 1;  // one more tells whether that was all
  Json list = Json::array();
  std::size_t count = 0;
  if (options.form.csv) output.write(csv_header());
  const auto read = store->read(*filter, [&](const StoredRow& row) -> Result<void> {
    if (++count > limit) return {};
    if (options.form.csv) {
      output.write(csv_line(row.row));
    } else if (options.form.json) {
      list.push_back(row_json(row));
    } else {
      output.write(row_text(row.row));
    }
    return {};
  });
  if (!read) return tl::unexpected<Failure>(read.error());
  if (options.form.json) output.write(json_text({{"schema", "joulecast.measurements/1"}, {"rows", std::move(list)}}));
  if (!options.form.json && !options.form.csv && count == 0) output.write("no rows\n");
  if (count > limit) output.note(fmt::format("there are more than these {} rows: --limit", limit));
  return {};
}

}  // namespace joulecast::cli
