// SPDX-License-Identifier: Apache-2.0
// What the store asks of a database: the SQL that SQLite and PostgreSQL have in common, with $1, $2, ... for parameters
// in the order they appear, and inserting many rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dataset/measurement.h"
#include "joulecast/result.h"

namespace joulecast {

// monostate: NULL. Texts of a row that a query gives live until its callback returns.
using DbValue = std::variant<std::monostate, std::int64_t, double, std::string_view>;

struct DbColumn {
  std::string_view name;
  ColumnType type = ColumnType::kInteger;
};

// Rows of one table: as many values each as columns, NULL or of the column's type.
struct DbRows {
  std::string_view table;
  std::span<const DbColumn> columns;
  std::vector<DbValue> values;
};

class Database {
 public:
  // Returns an error to end the query with it.
  using OnRow = std::function<Result<void>(std::span<const DbValue>)>;

  virtual ~Database() = default;
  Database() = default;
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One or several statements without parameters.
  virtual Result<void> execute(const std::string& statements) = 0;
  virtual Result<void> query(const std::string& statement, std::span<const DbValue> parameters,
                             const OnRow& on_row) = 0;
  // Adds those rows whose key is not there yet, and says how many these were. Requires: a transaction.
  virtual Result<std::size_t> insert_new(const DbRows& rows) = 0;
  // What a writer starts with: a transaction that no other writer is in.
  virtual Result<void> begin_write() = 0;
  // The type of a column of 64 bit integers that is a table's key.
  [[nodiscard]] virtual std::string_view id_type() const = 0;
  virtual Result<bool> has_table(std::string_view name) = 0;
  // The database's own check of its files; its complaints. Empty where it has none or no way to tell.
  virtual Result<std::vector<std::string>> self_check() = 0;
};

enum class Access : std::uint8_t { kRead, kWrite };

// Errors: kNotFound for a file that is not there (kRead), kIo for what cannot be opened, kInvalidInput for a file that
// is no database.
Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access);
// Errors: kIo, with the server's words; kUnsupported where joulecast was built without libpqxx.
Result<std::unique_ptr<Database>> open_postgresql(const std::string& url, Access access);

}  // namespace joulecast
