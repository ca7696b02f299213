// SPDX-License-Identifier: Apache-2.0
#include "store/read_rows.h"

#include <fmt/format.h>

#include <algorithm>

#include "dataset/store_place.h"
#include "store/store.h"

namespace joulecast {
namespace {

Result<std::string> layout_of(Store& store, const std::vector<std::string>& layouts) {
  JC_ASSIGN_OR_RETURN(const std::vector<std::string> there, store.layouts());
  for (const std::string& layout : layouts) {
    if (!std::binary_search(there.begin(), there.end(), layout)) {
      return invalid(fmt::format("{}: no rows of layout '{}'", store.place(), layout));
    }
  }
  const std::vector<std::string>& read = layouts.empty() ? there : layouts;
  const bool one = !read.empty() && std::all_of(read.begin(), read.end(), [&](const auto& l) { return l == read[0]; });
  return one ? read.front() : std::string("store");
}

}  // namespace

Result<Table> read_rows(const std::string& place, const std::vector<std::string>& layouts, const TableSink& sink) {
  if (!is_store(place)) {
    if (!layouts.empty()) return invalid(fmt::format("{}: layouts can be chosen of a store", place));
    return read_table(place, sink);
  }
  JC_ASSIGN_OR_RETURN(Store store, Store::open(place, Access::kRead));
  Table table;
  JC_ASSIGN_OR_RETURN(table.layout, layout_of(store, layouts));
  TableSink complete = sink;
  // As where a table is read: what nobody wants counts as unmapped.
  if (!complete.other) {
    complete.other = [&](const MeasuredOther& row) { table.unmapped.add(row.from.line, row.reason); };
  }
  OperationPool pool;
  RowFilter filter;
  filter.layouts = layouts;
  JC_RETURN_IF_ERROR(store.read(filter, [&](const StoredRow& row) -> Result<void> {
    if (auto ok = deliver(row.row, pool, complete); !ok) {
      const auto line = row.row.integer(Column::kLine).value_or(0);
      table.unmapped.add(static_cast<std::size_t>(line), ok.error().text());
    }
    return {};
  }));
  return table;
}

}  // namespace joulecast
