// SPDX-License-Identifier: Apache-2.0
// Brings tables of measurements into a store.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dataset/table.h"
#include "store/store.h"

namespace joulecast {

// What one table gave.
struct ImportedTable {
  std::string path, layout;
  std::string skipped;  // not empty: it holds no measurements, and why
  std::size_t rows = 0, added = 0;
  std::size_t broken = 0;
  std::vector<UnmappedLine> broken_lines;       // the first 20
  std::map<std::string, std::size_t> left_out;  // why lines that are not broken gave no row
  std::map<std::string, std::size_t> cautions;  // words given, with the number of rows
  std::vector<std::string> notes;
};

using ImportProgress = std::function<void(const ImportedTable&)>;

// All tables in one transaction: on an error, and when the program ends before its time, the store is as it was.
// Errors: those of read_table() for a table that is none of ours, before anything is written; those of the store.
Result<std::vector<ImportedTable>> import_tables(Store& store, const std::vector<std::string>& paths,
                                                 const ImportProgress& progress);

// Adds the rows that `into` does not have, all or none; how many each store gave. Errors: those of the stores.
// Requires: `into` is none of `from`.
Result<std::vector<std::size_t>> merge_stores(Store& into, std::span<Store> from);

}  // namespace joulecast
