// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "dataset/store_place.h"
#include "store/schema.h"

namespace joulecast {
namespace {

Result<void> prepare(Database& database, Access access) {
  if (access == Access::kWrite) {
    JC_RETURN_IF_ERROR(database.begin_write());
    const auto there = database.has_table(schema::kMeta);
    const auto made = !there   ? Result<void>(tl::unexpected(there.error()))
                      : *there ? Result<void>()
                               : schema::create(database);
    JC_RETURN_IF_ERROR(database.execute(made ? "COMMIT" : "ROLLBACK"));
    JC_RETURN_IF_ERROR(made);
  }
  return schema::check_version(database);
}

}  // namespace

Result<Store> Store::open(const std::string& place, Access access) {
  const std::string name = shown_place(place);
  auto database = is_database_url(place) ? open_postgresql(place, access) : open_sqlite(place, access);
  if (!database) return tl::unexpected(std::move(database).error().in(name));
  if (auto ok = prepare(**database, access); !ok) return tl::unexpected(std::move(ok).error().in(name));
  return Store(std::move(*database), name);
}

namespace {

std::size_t count_of(const DbValue& value) {
  const auto* number = std::get_if<std::int64_t>(&value);
  return number == nullptr || *number < 0 ? 0 : static_cast<std::size_t>(*number);
}

std::string text_of(const DbValue& value) {
  const auto* text = std::get_if<std::string_view>(&value);
  return text == nullptr ? std::string() : std::string(*text);
}

// Each table is counted before its texts are looked up. (Sums of nothing are NULL, and sums of BIGINT no integers in
// PostgreSQL: so all are counts.)
constexpr const char* kSources =
    "SELECT o.layout, o.file, o.source, o.licence, o.protocol, c.all_rows, c.operations, c.networks, c.primaries,"
    " c.times, c.powers, c.energies, c.memories"
    " FROM (SELECT origin, COUNT(*) AS all_rows, COUNT(CASE WHEN kind = 'operation' THEN 1 END) AS operations,"
    " COUNT(CASE WHEN kind = 'network' THEN 1 END) AS networks, COUNT(CASE WHEN is_primary = 1 THEN 1 END) AS "
    "primaries,"
    " COUNT(time_s) AS times, COUNT(power_w) AS powers, COUNT(energy_j) AS energies, COUNT(memory_bytes) AS memories"
    " FROM measurements GROUP BY origin) c JOIN origins o ON o.id = c.origin";

// An origin may be left without rows: where all of them had come from another file before.
constexpr const char* kLayouts =
    "SELECT DISTINCT layout FROM origins o WHERE EXISTS (SELECT 1 FROM measurements m WHERE m.origin = o.id)";

}  // namespace

Result<std::vector<std::string>> Store::texts(const char* statement) {
  std::vector<std::string> out;
  auto ok = database_->query(statement, {}, [&](std::span<const DbValue> row) -> Result<void> {
    out.push_back(text_of(row[0]));
    return {};
  });
  if (!ok) return tl::unexpected(std::move(ok).error().in(place_));
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::vector<std::string>> Store::gpus() {
  return texts("SELECT DISTINCT gpu FROM setups");
}

Result<std::vector<std::string>> Store::layouts() {
  return texts(kLayouts);
}

Result<std::vector<std::string>> Store::modes() {
  return texts("SELECT DISTINCT mode FROM setups");
}

Result<std::vector<std::string>> Store::precisions() {
  return texts("SELECT DISTINCT precision FROM setups");
}

Result<std::vector<std::string>> Store::cautions() {
  return texts("SELECT DISTINCT cautions FROM measurements");
}

Result<std::vector<SourceSummary>> Store::sources() {
  std::vector<SourceSummary> out;
  auto ok = database_->query(kSources, {}, [&](std::span<const DbValue> row) -> Result<void> {
    out.push_back({.layout = text_of(row[0]),
                   .file = text_of(row[1]),
                   .source = text_of(row[2]),
                   .licence = text_of(row[3]),
                   .protocol = text_of(row[4]),
                   .rows = count_of(row[5]),
                   .operations = count_of(row[6]),
                   .networks = count_of(row[7]),
                   .primary = count_of(row[8]),
                   .with_time = count_of(row[9]),
                   .with_power = count_of(row[10]),
                   .with_energy = count_of(row[11]),
                   .with_memory = count_of(row[12])});
    return {};
  });
  if (!ok) return tl::unexpected(std::move(ok).error().in(place_));
  // Databases sort texts by rules of their own.
  std::sort(out.begin(), out.end(), [](const SourceSummary& a, const SourceSummary& b) {
    return std::tie(a.layout, a.file, a.source, a.licence, a.protocol) <
           std::tie(b.layout, b.file, b.source, b.licence, b.protocol);
  });
  return out;
}

}  // namespace joulecast
