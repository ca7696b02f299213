// SPDX-License-Identifier: Apache-2.0
// SQLite: one file. https://www.sqlite.org/c3ref/intro.html
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "store/database.h"

namespace joulecast {
namespace {

// "joul": tells our files from other databases (PRAGMA application_id).
constexpr std::int64_t kApplicationId = 0x6A6F756C;
// How long to wait for another process that writes.
constexpr int kBusyMilliseconds = 10'000;
// Pages of the one large transaction stay in memory up to this; beyond, they are written early.
constexpr int kCacheKibibytes = 64 * 1024;

using Statement = std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)>;

class Sqlite final : public Database {
 public:
  explicit Sqlite(sqlite3* handle) : handle_(handle, sqlite3_close_v2) {}

  Result<void> prepare_connection(Access access);
  Result<void> execute(const std::string& statements) override;
  Result<void> query(const std::string& statement, std::span<const DbValue> parameters, const OnRow& on_row) override;
  Result<std::size_t> insert_new(const DbRows& rows) override;
  Result<void> begin_write() override { return execute("BEGIN IMMEDIATE"); }
  [[nodiscard]] std::string_view id_type() const override { return "INTEGER"; }  // the row's own number
  Result<bool> has_table(std::string_view name) override;
  Result<std::vector<std::string>> self_check() override;

 private:
  [[nodiscard]] tl::unexpected<Error> error() const;
  Result<Statement> prepare(const std::string& statement) const;
  Result<sqlite3_stmt*> insert_statement(const DbRows& rows);

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> handle_;
  std::map<std::string, Statement, std::less<>> inserts_;  // by table; closed before the connection
};

tl::unexpected<Error> Sqlite::error() const {
  const int code = sqlite3_errcode(handle_.get());
  std::string text = sqlite3_errmsg(handle_.get());
  if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) return invalid(std::move(text));
  if (code == SQLITE_BUSY) text += ": another program is writing to it";
  return io_error(std::move(text));
}

Result<Statement> Sqlite::prepare(const std::string& statement) const {
  sqlite3_stmt* raw = nullptr;
  const int code =
      sqlite3_prepare_v2(handle_.get(), statement.data(), static_cast<int>(statement.size()), &raw, nullptr);
  Statement out(raw, sqlite3_finalize);
  if (code != SQLITE_OK) return error();
  return out;
}

int bind(sqlite3_stmt* statement, int at, const DbValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return sqlite3_bind_int64(statement, at, *integer);
  if (const auto* real = std::get_if<double>(&value)) return sqlite3_bind_double(statement, at, *real);
  // Texts outlive the step: DbRows and parameters are the caller's.
  if (const auto* text = std::get_if<std::string_view>(&value)) {
    return sqlite3_bind_text(statement, at, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
  }
  return sqlite3_bind_null(statement, at);
}

DbValue column_value(sqlite3_stmt* statement, int at) {
  switch (sqlite3_column_type(statement, at)) {
    case SQLITE_INTEGER:
      return static_cast<std::int64_t>(sqlite3_column_int64(statement, at));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, at);
    case SQLITE_NULL:
      return {};
    default: {  // a blob too: whoever reads it checks what it holds
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_blob(statement, at));
      return std::string_view(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, at)));
    }
  }
}

Result<void> Sqlite::execute(const std::string& statements) {
  if (sqlite3_exec(handle_.get(), statements.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return error();
  return {};
}

Result<void> Sqlite::query(const std::string& text, std::span<const DbValue> parameters, const OnRow& on_row) {
  JC_ASSIGN_OR_RETURN(const Statement statement, prepare(text));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (bind(statement.get(), static_cast<int>(i) + 1, parameters[i]) != SQLITE_OK) return error();
  }
  std::vector<DbValue> row(static_cast<std::size_t>(sqlite3_column_count(statement.get())));
  while (true) {
    const int code = sqlite3_step(statement.get());
    if (code == SQLITE_DONE) return {};
    if (code != SQLITE_ROW) return error();
    for (std::size_t i = 0; i < row.size(); ++i) row[i] = column_value(statement.get(), static_cast<int>(i));
    JC_RETURN_IF_ERROR(on_row(row));
  }
}

Result<sqlite3_stmt*> Sqlite::insert_statement(const DbRows& rows) {
  const auto found = inserts_.find(rows.table);
  if (found != inserts_.end()) return found->second.get();
  std::string names;
  std::string places;
  for (const DbColumn& column : rows.columns) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", column.name);
    places += places.empty() ? "?" : ", ?";
  }
  JC_ASSIGN_OR_RETURN(Statement statement, prepare(fmt::format("INSERT INTO {} ({}) VALUES ({}) ON CONFLICT DO NOTHING",
                                                               rows.table, names, places)));
  return inserts_.emplace(rows.table, std::move(statement)).first->second.get();
}

Result<std::size_t> Sqlite::insert_new(const DbRows& rows) {
  JC_ASSIGN_OR_RETURN(sqlite3_stmt* const statement, insert_statement(rows));
  const std::size_t width = rows.columns.size();
  const int before = sqlite3_total_changes(handle_.get());
  for (std::size_t at = 0; at < rows.values.size(); at += width) {
    for (std::size_t i = 0; i < width; ++i) {
      if (bind(statement, static_cast<int>(i) + 1, rows.values[at + i]) != SQLITE_OK) return error();
    }
    const int code = sqlite3_step(statement);
    sqlite3_reset(statement);
    if (code != SQLITE_DONE) return error();
  }
  return static_cast<std::size_t>(sqlite3_total_changes(handle_.get()) - before);
}

Result<bool> Sqlite::has_table(std::string_view name) {
  bool found = false;
  const DbValue parameter = name;
  JC_RETURN_IF_ERROR(query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1", {&parameter, 1},
                           [&](std::span<const DbValue>) -> Result<void> {
                             found = true;
                             return {};
                           }));
  return found;
}

Result<std::vector<std::string>> Sqlite::self_check() {
  std::vector<std::string> complaints;
  JC_RETURN_IF_ERROR(query("PRAGMA integrity_check", {}, [&](std::span<const DbValue> row) -> Result<void> {
    const auto* text = std::get_if<std::string_view>(&row[0]);
    if (text != nullptr && *text != "ok") complaints.emplace_back(*text);
    return {};
  }));
  return complaints;
}

Result<void> Sqlite::prepare_connection(Access access) {
  // A file may come from anybody: nothing in it is run, and its schema cannot be rewritten through it.
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle_.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_busy_timeout(handle_.get(), kBusyMilliseconds);
  JC_RETURN_IF_ERROR(execute(fmt::format("PRAGMA cache_size = -{}", kCacheKibibytes)));
  std::int64_t id = 0;
  std::int64_t pages = 0;
  const auto read = [&](std::int64_t& out) {
    return [&out](std::span<const DbValue> row) -> Result<void> {
      const auto* value = std::get_if<std::int64_t>(&row[0]);
      out = value == nullptr ? 0 : *value;
      return {};
    };
  };
  JC_RETURN_IF_ERROR(query("PRAGMA application_id", {}, read(id)));
  JC_RETURN_IF_ERROR(query("PRAGMA page_count", {}, read(pages)));
  if (id == kApplicationId) return {};
  if (pages > 0) return invalid("a database of another program");
  if (access == Access::kRead) return invalid("an empty file and no store");
  return execute(fmt::format("PRAGMA application_id = {}", kApplicationId));
}

}  // namespace

Result<std::unique_ptr<Database>> open_sqlite(const std::string& path, Access access) {
  if (path.empty()) return invalid("a store without a name");
  if (access == Access::kRead && ::access(path.c_str(), F_OK) != 0) return not_found("there is no such file");
  sqlite3* handle = nullptr;
  // Read and write in both: what an interrupted import left must be rolled back first. SQLite turns to read-only itself
  // where it has to.
  const int flags = SQLITE_OPEN_READWRITE | (access == Access::kWrite ? SQLITE_OPEN_CREATE : 0);
  // Names that mean something to SQLite (":memory:", "file:...") are names of files here.
  std::error_code nowhere;
  const std::string file = std::filesystem::absolute(path, nowhere).string();
  if (nowhere) return io_error(nowhere.message());
  const int code = sqlite3_open_v2(file.c_str(), &handle, flags, nullptr);
  auto database = std::make_unique<Sqlite>(handle);
  if (code != SQLITE_OK) return io_error(handle == nullptr ? "out of memory" : sqlite3_errmsg(handle));
  JC_RETURN_IF_ERROR(database->prepare_connection(access));
  return std::unique_ptr<Database>(std::move(database));
}

}  // namespace joulecast
