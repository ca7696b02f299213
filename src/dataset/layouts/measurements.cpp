// SPDX-License-Identifier: Apache-2.0
// Our own layout, for anybody's measurements and for what a store exports: docs/formats/measurements.md.
#include <fmt/format.h>

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

// What was meant by a name that is none of a column, or nothing. Half of the letters wrong is too far.
std::string_view nearest_column(std::string_view name) {
  std::string_view best;
  std::size_t least = name.size();
  for (const Column column : all_columns()) {
    const std::size_t distance = edit_distance(name, info(column).name);
    if (distance >= least) continue;
    least = distance;
    best = info(column).name;
  }
  return best;
}

// A column with a slip in its name would be a silent gap.
tl::unexpected<Error> no_column(std::string_view name) {
  std::string text = fmt::format("column '{}' is none of this layout", name);
  if (const std::string_view meant = nearest_column(name); !meant.empty())
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
