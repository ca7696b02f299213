// SPDX-License-Identifier: Apache-2.0
// PostgreSQL through libpqxx, whose exceptions end in this file. Everything of ours lies in the schema "joulecast".
#include <fmt/format.h>

#include <charconv>
#include <pqxx/pqxx>

#include "store/database.h"

namespace joulecast {
namespace {

constexpr int kFetched = 4096;  // rows of a cursor at a time

// Types of results (src/include/catalog/pg_type.dat).
constexpr pqxx::oid kInt8 = 20;
constexpr pqxx::oid kInt2 = 21;
constexpr pqxx::oid kInt4 = 23;
constexpr pqxx::oid kFloat4 = 700;
constexpr pqxx::oid kFloat8 = 701;

// One writer at a time: two of them could wait for each other's rows. Any number that others do not use for a lock.
constexpr const char* kBegin = "BEGIN; SELECT pg_advisory_xact_lock(x'6a6f756c63617374'::bigint);";

class Postgresql final : public Database {
 public:
  explicit Postgresql(const std::string& url) : connection_(url), session_(connection_) {}

  Result<void> prepare_session(Access access);
  Result<void> execute(const std::string& statements) override;
  Result<void> query(const std::string& statement, std::span<const DbValue> parameters, const OnRow& on_row) override;
  Result<std::size_t> insert_new(const DbRows& rows) override;
  Result<void> begin_write() override { return execute(kBegin); }
  [[nodiscard]] std::string_view id_type() const override { return "BIGINT"; }
  Result<bool> has_table(std::string_view name) override;
  // The server checks its own files.
  Result<std::vector<std::string>> self_check() override { return std::vector<std::string>(); }

 private:
  template <typename Work>
  auto guarded(Work work) -> decltype(work());
  Result<void> fetch(const OnRow& on_row);

  pqxx::connection connection_;
  pqxx::nontransaction session_;  // transactions are begun and ended by our own statements
  bool in_transaction_ = false;
};

std::string first_line(std::string_view text) {
  return std::string(text.substr(0, text.find('\n')));
}

// Runs what may throw.
template <typename Work>
auto Postgresql::guarded(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& problem) {
    return io_error(first_line(problem.what()));
  }
}

Result<void> Postgresql::execute(const std::string& statements) {
  return guarded([&]() -> Result<void> {
    if (statements.starts_with("COMMIT") || statements.starts_with("ROLLBACK")) in_transaction_ = false;
    session_.exec(statements);
    if (statements.starts_with("BEGIN")) in_transaction_ = true;
    return {};
  });
}

DbValue field_value(const pqxx::field& field, pqxx::oid type) {
  if (field.is_null()) return {};
  const std::string_view text(field.c_str(), field.size());
  if (type == kInt8 || type == kInt4 || type == kInt2) {
    std::int64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  if (type == kFloat8 || type == kFloat4) {
    double value = 0.0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
  }
  return text;
}

Result<void> Postgresql::fetch(const OnRow& on_row) {
  std::vector<DbValue> values;
  while (true) {
    const pqxx::result rows = session_.exec(fmt::format("FETCH {} FROM joulecast_rows", kFetched));
    for (const pqxx::row& row : rows) {
      values.clear();
      for (pqxx::row::size_type i = 0; i < row.size(); ++i) values.push_back(field_value(row[i], rows.column_type(i)));
      JC_RETURN_IF_ERROR(on_row(values));
    }
    if (rows.size() < kFetched) return {};
  }
}

// By cursor, so that a table need not fit into memory; a cursor lives in a transaction.
Result<void> Postgresql::query(const std::string& statement, std::span<const DbValue> parameters, const OnRow& on_row) {
  return guarded([&]() -> Result<void> {
    std::vector<std::string> texts;
    for (const DbValue& value : parameters) {
      const auto* text = std::get_if<std::string_view>(&value);
      const auto* integer = std::get_if<std::int64_t>(&value);
      texts.push_back(text != nullptr ? std::string(*text) : integer != nullptr ? fmt::format("{}", *integer) : "");
    }
    const bool own = !in_transaction_;
    if (own) session_.exec("BEGIN");
    try {
      session_.exec_params("DECLARE joulecast_rows NO SCROLL CURSOR FOR " + statement,
                           pqxx::prepare::make_dynamic_params(texts));
      auto done = fetch(on_row);
      session_.exec(own ? "COMMIT" : "CLOSE joulecast_rows");
      return done;
    } catch (...) {
      if (own) session_.exec("ROLLBACK");
      throw;
    }
  });
}

std::string_view array_type(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return "text[]";
    case ColumnType::kInteger:
      return "bigint[]";
    case ColumnType::kReal:
      return "double precision[]";
  }
  return {};
}

// An element of an array's text (https://www.postgresql.org/docs/15/arrays.html#ARRAYS-IO).
void append_element(const DbValue& value, std::string& out) {
  if (std::holds_alternative<std::monostate>(value)) out += "NULL";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) out += fmt::format("{}", *integer);
  if (const auto* real = std::get_if<double>(&value)) out += fmt::format("{}", *real);
  const auto* text = std::get_if<std::string_view>(&value);
  if (text == nullptr) return;
  out += '"';
  for (const char c : *text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

// One column of all rows.
std::string array_text(const DbRows& rows, std::size_t column) {
  std::string out = "{";
  for (std::size_t at = column; at < rows.values.size(); at += rows.columns.size()) {
    if (out.size() > 1) out += ',';
    append_element(rows.values[at], out);
  }
  return out + '}';
}

// All rows in one statement, an array a column. (COPY would be faster, but knows no ON CONFLICT.)
Result<std::size_t> Postgresql::insert_new(const DbRows& rows) {
  return guarded([&]() -> Result<std::size_t> {
    std::string names;
    std::string arrays;
    std::vector<std::string> texts;
    for (const DbColumn& column : rows.columns) {
      const std::string_view comma = texts.empty() ? "" : ", ";
      names += fmt::format("{}{}", comma, column.name);
      texts.push_back(array_text(rows, texts.size()));
      arrays += fmt::format("{}${}::{}", comma, texts.size(), array_type(column.type));
    }
    const pqxx::result done = session_.exec_params(
        fmt::format("INSERT INTO {} ({}) SELECT * FROM unnest({}) ON CONFLICT DO NOTHING", rows.table, names, arrays),
        pqxx::prepare::make_dynamic_params(texts));
    return static_cast<std::size_t>(done.affected_rows());
  });
}

Result<bool> Postgresql::has_table(std::string_view name) {
  bool found = false;
  const DbValue parameter = name;
  JC_RETURN_IF_ERROR(query("SELECT 1 FROM pg_tables WHERE schemaname = 'joulecast' AND tablename = $1", {&parameter, 1},
                           [&](std::span<const DbValue>) -> Result<void> {
                             found = true;
                             return {};
                           }));
  return found;
}

Result<void> Postgresql::prepare_session(Access access) {
  JC_RETURN_IF_ERROR(execute("SET client_min_messages = warning"));
  JC_RETURN_IF_ERROR(execute("SET client_encoding = 'UTF8'"));
  if (access == Access::kWrite) {
    JC_RETURN_IF_ERROR(begin_write());
    JC_RETURN_IF_ERROR(execute("CREATE SCHEMA IF NOT EXISTS joulecast"));
    JC_RETURN_IF_ERROR(execute("COMMIT"));
  }
  return execute("SET search_path = joulecast");
}

}  // namespace

Result<std::unique_ptr<Database>> open_postgresql(const std::string& url, Access access) {
  try {
    auto database = std::make_unique<Postgresql>(url);
    JC_RETURN_IF_ERROR(database->prepare_session(access));
    return std::unique_ptr<Database>(std::move(database));
  } catch (const std::exception& problem) {
    return io_error(first_line(problem.what()));
  }
}

}  // namespace joulecast
