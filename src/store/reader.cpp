// SPDX-License-Identifier: Apache-2.0
// Reading rows by filter: one query for each origin, so that nothing larger than an origin is ever sorted.
#include <fmt/format.h>

#include <algorithm>

#include "store/schema.h"
#include "store/store.h"

namespace joulecast {
namespace {

// SQL of a filter and the values of its parameters.
class Conditions {
 public:
  void one_of(std::string_view column, const std::vector<std::string>& values) {
    if (values.empty()) return;
    std::string list;
    for (const std::string& value : values) list += fmt::format("{}{}", list.empty() ? "" : ", ", parameter(value));
    sql_ += fmt::format(" AND {} IN ({})", column, list);
  }
  void equal(std::string_view column, const std::string& value) {
    if (!value.empty()) one_of(column, {value});
  }
  void contains(std::string_view column, const std::string& part) {
    if (part.empty()) return;
    sql_ += fmt::format(" AND LOWER({}) LIKE LOWER({}) ESCAPE '!'", column, parameter("%" + escaped(part) + "%"));
  }
  // `column` is a list of words with ',' between.
  void without_word(std::string_view column, const std::string& word) {
    sql_ += fmt::format(" AND (',' || COALESCE({}, '') || ',') NOT LIKE {} ESCAPE '!'", column,
                        parameter("%," + escaped(word) + ",%"));
  }
  void add(std::string_view sql) { sql_ += fmt::format(" AND {}", sql); }
  std::string parameter(std::string value) {
    values_.push_back(std::move(value));
    return fmt::format("${}", values_.size());
  }
  [[nodiscard]] const std::string& sql() const { return sql_; }
  [[nodiscard]] std::vector<DbValue> values() const { return {values_.begin(), values_.end()}; }

 private:
  static std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) {
      if (c == '%' || c == '_' || c == '!') out += '!';
      out += c;
    }
    return out;
  }

  std::string sql_;
  std::vector<std::string> values_;
};

Conditions row_conditions(const RowFilter& filter) {
  Conditions out;
  out.equal("m.kind", filter.kind);
  out.one_of("s.operator", filter.operators);
  out.contains("s.name", filter.name_contains);
  out.one_of("u.gpu", filter.gpus);
  out.one_of("u.mode", filter.modes);
  out.one_of("u.precision", filter.precisions);
  out.one_of("u.campaign", filter.campaigns);
  for (const std::string& word : filter.without_cautions) out.without_word("m.cautions", word);
  for (const Column column : filter.with) out.add(fmt::format("m.{} IS NOT NULL", info(column).name));
  if (filter.primary_only) out.add("m.is_primary = 1");
  return out;
}

constexpr std::string_view kLetters[] = {"s", "u", "o"};  // of the shared tables, in the order of schema::kShared

// Key, occurrence, ids, then the columns in the order of Column.
std::string selected() {
  std::string out = "m.key_high, m.key_low, m.occurrence, m.subject, m.setup, m.origin";
  for (const Column column : all_columns()) {
    const auto home = static_cast<std::size_t>(info(column).home);
    out += fmt::format(", {}.{}", home < std::size(kLetters) ? kLetters[home] : "m", info(column).name);
  }
  return out;
}

std::int64_t integer_of(const DbValue& value) {
  const auto* integer = std::get_if<std::int64_t>(&value);
  return integer == nullptr ? 0 : *integer;
}

// A file that somebody else made may hold anything anywhere.
Result<void> take(const DbValue& value, Column column, Measurement& out) {
  const ColumnType type = info(column).type;
  const auto* integer = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  const auto* text = std::get_if<std::string_view>(&value);
  if (std::holds_alternative<std::monostate>(value)) return {};
  if (type == ColumnType::kText && text != nullptr && text->size() <= kMaxCellText) {
    out.set_text(column, *text);
  } else if (type == ColumnType::kInteger && integer != nullptr) {
    out.set_integer(column, *integer);
  } else if (type == ColumnType::kReal && real != nullptr) {
    out.set_real(column, *real);
  } else {
    return invalid(fmt::format("column '{}' holds what is not of its type: the store is damaged", info(column).name));
  }
  return {};
}

Result<void> read_row(std::span<const DbValue> values, StoredRow& out) {
  out.key = {integer_of(values[0]), integer_of(values[1])};
  out.occurrence = integer_of(values[2]);
  for (std::size_t i = 0; i < 3; ++i) out.shared[i] = integer_of(values[3 + i]);
  out.row.clear();
  for (std::size_t i = 0; i < kColumns; ++i) JC_RETURN_IF_ERROR(take(values[6 + i], all_columns()[i], out.row));
  return {};
}

// Sorted here: databases sort texts by rules of their own.
Result<std::vector<std::int64_t>> origins(Database& database, const RowFilter& filter) {
  Conditions chosen;
  chosen.one_of("layout", filter.layouts);
  chosen.one_of("file", filter.files);
  std::vector<std::pair<std::vector<std::string>, std::int64_t>> found;
  JC_RETURN_IF_ERROR(database.query(
      fmt::format("SELECT id, layout, file, source, licence, protocol FROM origins WHERE 1 = 1{}", chosen.sql()),
      chosen.values(), [&](std::span<const DbValue> row) -> Result<void> {
        auto& [texts, id] = found.emplace_back();
        id = integer_of(row[0]);
        for (const DbValue& value : row.subspan(1)) {
          const auto* text = std::get_if<std::string_view>(&value);
          texts.emplace_back(text == nullptr ? std::string_view() : *text);
        }
        return {};
      }));
  std::sort(found.begin(), found.end());
  std::vector<std::int64_t> out;
  out.reserve(found.size());
  for (const auto& [texts, id] : found) out.push_back(id);
  return out;
}

}  // namespace

bool is_intact(const StoredRow& stored) {
  return row_key(identity_hash(stored.row), stored.occurrence) == stored.key;
}

std::string place_of(const Measurement& row) {
  return fmt::format("{}, {}, line {}", row.text(Column::kLayout), row.text(Column::kFile),
                     row.integer(Column::kLine).value_or(0));
}

Result<void> Store::refuse_dangling() {
  for (const schema::Shared& shared : schema::kShared) {
    std::int64_t missing = 0;
    JC_RETURN_IF_ERROR(
        database_->query(schema::dangling(shared), {}, [&](std::span<const DbValue> row) -> Result<void> {
          missing = integer_of(row[0]);
          return {};
        }));
    if (missing > 0) {
      return invalid(fmt::format("{}: {} measurements without their {}; joulecast dataset check lists what is wrong",
                                 place_, missing, shared.reference));
    }
  }
  return {};
}

Result<void> Store::read(const RowFilter& filter, const OnRow& on_row) {
  JC_RETURN_IF_ERROR(refuse_dangling());
  return read_unchecked(filter, [&](const StoredRow& stored) -> Result<void> {
    if (!is_intact(stored)) {
      return invalid(fmt::format("{}: the row is not what its key says; joulecast dataset check lists all such rows",
                                 place_of(stored.row)));
    }
    return on_row(stored);
  });
}

Result<void> Store::read_unchecked(const RowFilter& filter, const OnRow& on_row) {
  auto chosen = origins(*database_, filter);
  if (!chosen) return tl::unexpected(std::move(chosen).error().in(place_));
  const Conditions conditions = row_conditions(filter);
  std::size_t left = filter.limit.value_or(static_cast<std::size_t>(-1));
  StoredRow row;
  for (const std::int64_t origin : *chosen) {
    if (left == 0) break;
    const std::string limit = filter.limit ? fmt::format(" LIMIT {}", left) : std::string();
    auto ok = database_->query(
        fmt::format("SELECT {} FROM measurements m JOIN subjects s ON s.id = m.subject JOIN setups u ON u.id = m.setup"
                    " JOIN origins o ON o.id = m.origin WHERE m.origin = {}{}"
                    " ORDER BY m.line, m.part, m.key_high, m.key_low{}",
                    selected(), origin, conditions.sql(), limit),
        conditions.values(), [&](std::span<const DbValue> values) -> Result<void> {
          JC_RETURN_IF_ERROR(read_row(values, row));
          --left;
          return on_row(row);
        });
    if (!ok) return tl::unexpected(std::move(ok).error().in(place_));
  }
  return {};
}

}  // namespace joulecast
