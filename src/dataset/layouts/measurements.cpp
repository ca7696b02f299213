// SPDX-License-Identifier: Apache-2.0
// Our own layout, for anybody's measurements and for what a store exports: docs/formats/measurements.md.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "dataset/layouts/layouts.h"
#include "gpu/names.h"

namespace joulecast {
namespace {

// What a row does not say about where it comes from is where it stands.
void place(Measurement& m, const RowSink& sink) {
  if (m.text(Column::kLayout).empty()) m.set_text(Column::kLayout, "measurements");
  if (m.text(Column::kFile).empty()) m.set_text(Column::kFile, sink.file());
  if (!m.integer(Column::kLine)) m.set_integer(Column::kLine, static_cast<std::int64_t>(sink.line()));
}

// A column with a slip in its name would be a silent gap.
tl::unexpected<Error> no_column(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Column column : all_columns()) names.push_back(info(column).name);
  std::string text = fmt::format("column '{}' is none of this layout", name);
  if (const std::string_view meant = nearest_name(name, names); !meant.empty())
    text += fmt::format("; did you mean '{}'? Units are those of the SI, as the name says", meant);
  return invalid(std::move(text));
}

Result<RowReader> open(const TableContext& context) {
  std::vector<Column> columns;
  for (const auto& [name, at] : context.header) {
    const auto column = find_column(name);
    if (!column) return no_column(name);
    columns.push_back(*column);
  }
  return RowReader([columns](Row& row, RowSink& sink) -> Result<void> {
    Measurement m;
    for (const Column column : columns) JC_RETURN_IF_ERROR(m.parse(column, row.text(info(column).name)));
    place(m, sink);
    return sink.add(m);
  });
}

}  // namespace

TableLayout measurements_layout() {
  return {"measurements", {"name", "gpu", "mode", "precision"}, open};
}

}  // namespace joulecast
