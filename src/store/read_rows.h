// SPDX-License-Identifier: Apache-2.0
// The rows of a table or of a store, whichever the place names: what trainers and judges read.
#pragma once

#include <string>
#include <vector>

#include "dataset/table.h"
#include "joulecast/result.h"

namespace joulecast {

// Rows go to `sink` as the structs that read_table() gives of the tables the store was filled from, in the order of
// layout, file, line and part. `layouts` chooses among a store's; empty: all. Table::layout is the layout where all
// rows are of one, else "store". Errors: those of read_table() and of Store; kInvalidInput for layouts of a place that
// is no store, or that no row is of.
Result<Table> read_rows(const std::string& place, const std::vector<std::string>& layouts, const TableSink& sink);

}  // namespace joulecast
