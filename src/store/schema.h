// SPDX-License-Identifier: Apache-2.0
// The tables of a store: docs/formats/store.md. Built from the list of columns, so that files and stores cannot part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dataset/measurement.h"
#include "store/database.h"

namespace joulecast::schema {

inline constexpr std::string_view kVersion = "joulecast.store/2";
inline constexpr std::string_view kMeta = "meta";
inline constexpr std::string_view kMeasurements = "measurements";

// A table of what many measurements share, and the column of `measurements` that says which.
struct Shared {
  ColumnHome home;
  std::string_view table, reference;
};
inline constexpr Shared kShared[] = {{ColumnHome::kSubject, "subjects", "subject"},
                                     {ColumnHome::kSetup, "setups", "setup"},
                                     {ColumnHome::kOrigin, "origins", "origin"}};

const std::vector<Column>& columns_of(ColumnHome home);
// All columns of a table as the writer fills them.
std::vector<DbColumn> shared_columns(const Shared& shared);
std::vector<DbColumn> measurement_columns();

// The query that counts measurements whose reference leads nowhere.
std::string dangling(const Shared& shared);

// Creates the tables. Requires: a transaction.
Result<void> create(Database& database);
// Errors: kInvalidInput where there is no store, kUnsupported for one of another version.
Result<void> check_version(Database& database);

}  // namespace joulecast::schema
