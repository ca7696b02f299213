// SPDX-License-Identifier: Apache-2.0
// The dataset store: measurements of many sources in one SQLite file or PostgreSQL database (docs/formats/store.md).
//
//   JC_ASSIGN_OR_RETURN(Store store, Store::open("measurements.db", Access::kRead));
//   JC_RETURN_IF_ERROR(store.read({.layouts = {"heidelberg_operations"}}, [&](const StoredRow& row) { ... }));
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/measurement.h"
#include "joulecast/result.h"
#include "store/content_hash.h"
#include "store/database.h"

namespace joulecast {

// Which rows. What is empty or absent does not choose.
struct RowFilter {
  std::vector<std::string> layouts, files, gpus, modes, precisions, campaigns, operators;  // one of each
  std::string kind;                                                                        // "operation" or "network"
  std::string name_contains;                                                               // letters of any case
  std::vector<std::string> without_cautions;
  std::vector<Column> with;  // readings that must be there: kTime, kPower, kEnergy, kMemory
  bool primary_only = false;
  std::optional<std::size_t> limit;
};

struct StoredRow {
  RowKey key;
  std::int64_t occurrence = 0;
  std::int64_t shared[3] = {};  // ids, in the order of schema::kShared
  Measurement row;
};

// Whether a row is what it was put in as.
bool is_intact(const StoredRow& stored);
// Where it comes from, for people.
std::string place_of(const Measurement& row);

// One publisher's table in a store.
struct SourceSummary {
  std::string layout, file, source, licence, protocol;
  std::size_t rows = 0, operations = 0, networks = 0, primary = 0;
  std::size_t with_time = 0, with_power = 0, with_energy = 0, with_memory = 0;
};

// What check() found. The lists end after 100 entries, the counts do not.
struct StoreCheck {
  std::size_t rows = 0, faults = 0;
  std::vector<std::string> complaints;
};

class Store {
 public:
  using OnRow = std::function<Result<void>(const StoredRow&)>;

  // `place`: the path of a file, or postgresql://... . Writing makes a store where there is none.
  // Errors: those of the databases, kUnsupported for a store of another version; they name the place, no password.
  static Result<Store> open(const std::string& place, Access access);

  // By layout, file, line and part: the same rows in the same order, however they came in. Errors: kInvalidInput for a
  // row that is not what it was put in as.
  Result<void> read(const RowFilter& filter, const OnRow& on_row);
  Result<std::vector<SourceSummary>> sources();
  // The GPUs as the rows spell them, sorted.
  Result<std::vector<std::string>> gpus();
  // The layouts that have rows, sorted.
  Result<std::vector<std::string>> layouts();
  // The words that rows have, sorted; of cautions the lists of them.
  Result<std::vector<std::string>> modes();
  Result<std::vector<std::string>> precisions();
  Result<std::vector<std::string>> cautions();
  // Recomputes every hash, parses every operation and looks for references that lead nowhere.
  Result<StoreCheck> check();

  Database& database() { return *database_; }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  Store(std::unique_ptr<Database> database, std::string place)
      : database_(std::move(database)), place_(std::move(place)) {}
  // Errors: kInvalidInput for rows whose setup, subject or origin is gone.
  Result<void> refuse_dangling();
  // As read(), whatever became of the rows.
  Result<void> read_unchecked(const RowFilter& filter, const OnRow& on_row);
  // One column of texts, sorted.
  Result<std::vector<std::string>> texts(const char* statement);

  std::unique_ptr<Database> database_;
  std::string place_;  // fit to be shown
};

}  // namespace joulecast
