// SPDX-License-Identifier: Apache-2.0
#include "store/writer.h"

#include <fmt/format.h>

#include "base/check.h"
#include "store/schema.h"

namespace joulecast {
namespace {

// Rows that go to the database at once, and ids that are remembered: they bound the memory of an import.
constexpr std::size_t kBatch = 4096;
constexpr std::size_t kKnown = 200'000;

DbValue value(const Measurement::Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return std::string_view(*text);
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return *integer;
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  return {};
}

void append_cells(const Measurement& row, ColumnHome home, std::vector<DbValue>& out) {
  for (const Column column : schema::columns_of(home)) out.push_back(value(row.cell(column)));
}

// RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t more = lead < 0x80 ? 0 : lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if ((lead >= 0x80 && lead < 0xC2) || lead > 0xF4 || i + more >= text.size()) return false;
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      const unsigned char least = k > 1 ? 0x80 : lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
      const unsigned char most = k > 1 ? 0xBF : lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
      if (next < least || next > most) return false;
    }
    i += more + 1;
  }
  return true;
}

}  // namespace

Result<void> check_texts(const Measurement& row) {
  for (const Column column : all_columns()) {
    const std::string& text = row.text(column);
    if (text.size() > kMaxCellText) {
      return invalid(fmt::format("column '{}' is longer than {} bytes", info(column).name, kMaxCellText));
    }
    if (text.find('\0') != std::string::npos || !is_utf8(text)) {
      return invalid(fmt::format("column '{}' is no UTF-8 text", info(column).name));
    }
  }
  return {};
}

// Row by row: the ids of what it shares and its key.
struct StoreWriter::Batch {
  std::vector<std::int64_t> ids[3];
};

void StoreWriter::Ended::operator()(Database* database) const {
  (void)database->execute("ROLLBACK");  // where even that fails, closing the connection does it
}

Result<StoreWriter> StoreWriter::begin(Store& store) {
  StoreWriter writer(store);
  auto begun = store.database().begin_write();
  if (!begun) return tl::unexpected(std::move(begun).error().in(store.place()));
  writer.open_.reset(&store.database());
  return writer;
}

StoreWriter::~StoreWriter() = default;

Result<void> StoreWriter::add(const Measurement& row, std::int64_t occurrence) {
  JC_CHECK(open_ != nullptr, "a row after commit");
  rows_.push_back(row);
  occurrences_.push_back(occurrence);
  if (rows_.size() < kBatch) return {};
  JC_RETURN_IF_ERROR(flush());
  return {};
}

Result<void> StoreWriter::insert_shared(const Batch& batch) {
  for (std::size_t s = 0; s < std::size(schema::kShared); ++s) {
    const schema::Shared& shared = schema::kShared[s];
    const auto columns = schema::shared_columns(shared);
    DbRows out{shared.table, columns, {}};
    if (known_[s].size() > kKnown) known_[s].clear();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!known_[s].insert(batch.ids[s][i]).second) continue;
      out.values.emplace_back(batch.ids[s][i]);
      append_cells(rows_[i], shared.home, out.values);
    }
    if (!out.values.empty()) JC_RETURN_IF_ERROR(store_->database().insert_new(out));
  }
  return {};
}

Result<std::size_t> StoreWriter::flush() {
  Batch batch;
  for (std::size_t s = 0; s < std::size(schema::kShared); ++s) {
    for (const Measurement& row : rows_) batch.ids[s].push_back(home_id(row, schema::kShared[s].home));
  }
  JC_RETURN_IF_ERROR(insert_shared(batch));
  const auto columns = schema::measurement_columns();
  DbRows out{schema::kMeasurements, columns, {}};
  out.values.reserve(rows_.size() * columns.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const RowKey key = row_key(identity_hash(rows_[i]), occurrences_[i]);
    out.values.insert(out.values.end(), {key.high, key.low, occurrences_[i]});
    for (const auto& ids : batch.ids) out.values.emplace_back(ids[i]);
    append_cells(rows_[i], ColumnHome::kRow, out.values);
  }
  if (!rows_.empty()) {
    JC_ASSIGN_OR_RETURN(const std::size_t added, store_->database().insert_new(out));
    inserted_ += added;
  }
  rows_.clear();
  occurrences_.clear();
  return inserted_;
}

Result<void> StoreWriter::commit() {
  JC_RETURN_IF_ERROR(flush());
  JC_RETURN_IF_ERROR(store_->database().execute("COMMIT"));
  (void)open_.release();  // NOLINT(bugprone-unused-return-value): the database is the store's
  return {};
}

}  // namespace joulecast
