// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/dataset/commands.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/table.h"

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

std::string quantity(const Measurement& row, Column column, std::string_view unit) {
  const auto value = row.real(column);
  return value ? with_prefix(*value, unit) : "-";
}

std::string memory(const Measurement& row) {
  const std::string& relation = row.text(Column::kMemoryRelation);
  return (relation == "=" ? "" : relation) + quantity(row, Column::kMemory, "B");
}

void add_text(Table& table, const Measurement& row) {
  const std::string& label = row.text(Column::kGpuLabel);
  table.add({fmt::format("{}:{}", row.text(Column::kFile), row.integer(Column::kLine).value_or(0)),
             printable(label.empty() ? row.text(Column::kGpu) : label), printable(row.text(Column::kMode)),
             printable(row.text(Column::kPrecision)), printable(row.text(Column::kName)),
             quantity(row, Column::kTime, "s"), quantity(row, Column::kPower, "W"), quantity(row, Column::kEnergy, "J"),
             memory(row), printable(row.text(Column::kCautions))});
}

Table text_table() {
  using Align = Table::Align;
  return Table({{"where", Align::kLeft, 28},
                {"GPU", Align::kLeft, 18},
                {"mode", Align::kLeft, 10},
                {"prec", Align::kLeft, 8},
                {"name", Align::kLeft, 32},
                {"time", Align::kRight},
                {"power", Align::kRight},
                {"energy", Align::kRight},
                {"memory", Align::kRight},
                {"cautions", Align::kLeft, 32}});
}

}  // namespace

Outcome show_command(DatasetOptions options, Output& output) {
  auto store = Store::open(options.store, Access::kRead);
  if (!store) return tl::unexpected<Failure>(store.error());
  auto filter = resolved_filter(options, *store);
  if (!filter) return tl::unexpected(std::move(filter).error());
  const std::size_t limit = options.filter.limit.value_or(0);
  filter->limit = limit + 1;  // one more tells whether that was all
  Table table = text_table();
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
      add_text(table, row.row);
    }
    return {};
  });
  if (!read) return tl::unexpected<Failure>(read.error());
  if (options.form.json) output.write(json_text({{"schema", "joulecast.measurements/1"}, {"rows", std::move(list)}}));
  if (!options.form.json && !options.form.csv) output.write(count == 0 ? "no rows\n" : table.text());
  if (count > limit) output.note(fmt::format("there are more than these {} rows: --limit", limit));
  return {};
}

}  // namespace joulecast::cli
