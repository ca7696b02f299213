// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <fmt/format.h>

#include <array>

namespace joulecast::schema {
namespace {

std::string_view sql_type(ColumnType type) {
  switch (type) {
    case ColumnType::kText:
      return "TEXT";
    case ColumnType::kInteger:
      return "BIGINT";
    case ColumnType::kReal:
      return "DOUBLE PRECISION";
  }
  return {};
}

std::string definitions(ColumnHome home) {
  std::string out;
  for (const Column column : columns_of(home)) {
    out += fmt::format(",\n  {} {}", info(column).name, sql_type(info(column).type));
  }
  return out;
}

}  // namespace

const std::vector<Column>& columns_of(ColumnHome home) {
  static const auto homes = [] {
    std::array<std::vector<Column>, static_cast<std::size_t>(ColumnHome::kRow) + 1> out;
    for (const Column column : all_columns()) out[static_cast<std::size_t>(info(column).home)].push_back(column);
    return out;
  }();
  return homes[static_cast<std::size_t>(home)];
}

std::vector<DbColumn> shared_columns(const Shared& shared) {
  std::vector<DbColumn> out{{"id"}};
  for (const Column column : columns_of(shared.home)) out.push_back({info(column).name, info(column).type});
  return out;
}

std::vector<DbColumn> measurement_columns() {
  std::vector<DbColumn> out{{"key_high"}, {"key_low"}, {"occurrence"}};
  for (const Shared& shared : kShared) out.push_back({shared.reference});
  for (const Column column : columns_of(ColumnHome::kRow)) out.push_back({info(column).name, info(column).type});
  return out;
}

std::string dangling(const Shared& shared) {
  return fmt::format("SELECT COUNT(*) FROM {} m WHERE NOT EXISTS (SELECT 1 FROM {} t WHERE t.id = m.{})", kMeasurements,
                     shared.table, shared.reference);
}

Result<void> create(Database& database) {
  std::string sql = fmt::format("CREATE TABLE {} (name TEXT PRIMARY KEY, value TEXT NOT NULL);\n", kMeta);
  std::string references;
  for (const Shared& shared : kShared) {
    sql += fmt::format("CREATE TABLE {} (\n  id {} PRIMARY KEY{});\n", shared.table, database.id_type(),
                       definitions(shared.home));
    references += fmt::format(",\n  {} BIGINT NOT NULL", shared.reference);
  }
  sql += fmt::format(
      "CREATE TABLE {} (\n  key_high BIGINT NOT NULL,\n  key_low BIGINT NOT NULL,\n  occurrence BIGINT NOT NULL{}{},\n"
      "  PRIMARY KEY (key_high, key_low));\n",
      kMeasurements, references, definitions(ColumnHome::kRow));
  sql += fmt::format("CREATE INDEX measurements_place ON {} (origin, line, part);\n", kMeasurements);
  sql += fmt::format("INSERT INTO {} (name, value) VALUES ('schema', '{}');\n", kMeta, kVersion);
  return database.execute(sql);
}

Result<void> check_version(Database& database) {
  // Tables, not views: those could take any time to answer.
  for (const std::string_view table : {kMeta, kShared[0].table, kShared[1].table, kShared[2].table, kMeasurements}) {
    JC_ASSIGN_OR_RETURN(const bool there, database.has_table(table));
    if (!there) return invalid("holds no store");
  }
  std::string version;
  JC_RETURN_IF_ERROR(database.query(fmt::format("SELECT value FROM {} WHERE name = 'schema'", kMeta), {},
                                    [&](std::span<const DbValue> row) -> Result<void> {
                                      const auto* text = std::get_if<std::string_view>(&row[0]);
                                      if (text != nullptr) version = *text;
                                      return {};
                                    }));
  if (version == kVersion) return {};
  return unsupported(fmt::format("its schema is '{}', and this program reads {}", version, kVersion));
}

}  // namespace joulecast::schema
