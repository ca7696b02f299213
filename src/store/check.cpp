// SPDX-License-Identifier: Apache-2.0
// Whether a store holds what was put into it.
#include <fmt/format.h>

#include "store/schema.h"
#include "store/store.h"
#include "store/writer.h"

namespace joulecast {
namespace {

constexpr std::size_t kShownComplaints = 100;

void complain(StoreCheck& out, std::string text) {
  ++out.faults;
  if (out.complaints.size() < kShownComplaints) out.complaints.push_back(std::move(text));
}

void check_row(const StoredRow& stored, OperationPool& pool, StoreCheck& out) {
  ++out.rows;
  const Measurement& row = stored.row;
  if (!is_intact(stored)) {
    complain(out, fmt::format("{}: the row is not what its key says", place_of(row)));
  }
  for (std::size_t s = 0; s < std::size(schema::kShared); ++s) {
    if (home_id(row, schema::kShared[s].home) != stored.shared[s]) {
      complain(out, fmt::format("{}: its {} is not what its id says", place_of(row), schema::kShared[s].reference));
    }
  }
  auto usable = check_texts(row);
  if (usable) usable = deliver(row, pool, {});
  if (!usable) complain(out, fmt::format("{}: {}", place_of(row), usable.error().text()));
}

Result<void> check_references(Database& database, StoreCheck& out) {
  for (const schema::Shared& shared : schema::kShared) {
    const auto count = [&](const std::string& sql, std::string_view what) {
      return database.query(sql, {}, [&](std::span<const DbValue> row) -> Result<void> {
        const auto* number = std::get_if<std::int64_t>(&row[0]);
        if (number != nullptr && *number > 0) complain(out, fmt::format("{} {}", *number, what));
        return {};
      });
    };
    JC_RETURN_IF_ERROR(count(schema::dangling(shared), fmt::format("measurements without their {}", shared.reference)));
  }
  return {};
}

}  // namespace

Result<StoreCheck> Store::check() {
  StoreCheck out;
  JC_ASSIGN_OR_RETURN(const std::vector<std::string> own, database_->self_check());
  for (const std::string& complaint : own) complain(out, complaint);
  // What is damaged that much cannot be read row by row.
  if (!own.empty()) return out;
  JC_RETURN_IF_ERROR(check_references(*database_, out));
  OperationPool pool;
  JC_RETURN_IF_ERROR(read_unchecked({}, [&](const StoredRow& row) -> Result<void> {
    check_row(row, pool, out);
    return {};
  }));
  return out;
}

}  // namespace joulecast
