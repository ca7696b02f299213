// SPDX-License-Identifier: Apache-2.0
#include "store/import.h"

#include <fmt/format.h>

#include <unordered_map>

#include "dataset/audit.h"
#include "store/writer.h"

namespace joulecast {
namespace {

constexpr std::size_t kShownLines = 20;
// Reasons may hold names of others: beyond this many they are counted together.
constexpr std::size_t kShownReasons = 50;

void count_reason(std::map<std::string, std::size_t>& reasons, const std::string& reason) {
  const bool room = reasons.size() < kShownReasons || reasons.contains(reason);
  ++reasons[room ? reason : std::string("other reasons")];
}

// Rows are not kept in memory, so that a table may be larger than one that is; an import remembers about 40 bytes of
// each.
constexpr TableLimits kImportLimits{std::size_t{64} << 30U, 100'000'000};

// One table on its way into the store.
class TableImport {
 public:
  TableImport(StoreWriter& writer, ImportedTable& out) : writer_(writer), out_(out) {}

  Result<void> run() {
    JC_ASSIGN_OR_RETURN(const std::size_t before, writer_.flush());
    JC_ASSIGN_OR_RETURN(Table table, read_table(out_.path, sink(), kImportLimits));
    JC_RETURN_IF_ERROR(status_);
    JC_ASSIGN_OR_RETURN(const std::size_t after, writer_.flush());
    out_.added = after - before;
    out_.notes = std::move(table.notes);
    return {};
  }

 private:
  TableSink sink() {
    TableSink sink;
    sink.operation = [this](MeasuredOperation row) {
      auditor_.audit(row);
      add(measurement(row), row.from.line);
    };
    sink.network = [this](const MeasuredNetwork& row) { add(measurement(row), row.from.line); };
    sink.other = [this](const MeasuredOther& row) { add(measurement(row), row.from.line); };
    sink.unmapped = [this](UnmappedLine line) { unmapped(std::move(line)); };
    return sink;
  }

  void unmapped(UnmappedLine line) {
    if (line.code == ErrorCode::kUnsupported) return count_reason(out_.left_out, line.reason);
    ++out_.broken;
    if (out_.broken_lines.size() < kShownLines) out_.broken_lines.push_back(std::move(line));
  }

  void add(const Measurement& row, std::size_t line) {
    if (!status_) return;  // the database has failed; the rest of the table cannot change that
    if (auto ok = check_row(row); !ok) return unmapped({line, ok.error().text(), ErrorCode::kInvalidInput});
    ++out_.rows;
    count_cautions(row.text(Column::kCautions));
    status_ = writer_.add(row, seen_[identity_hash(row)]++);
  }

  // What goes in must come out again, as the struct it was.
  Result<void> check_row(const Measurement& row) {
    JC_RETURN_IF_ERROR(check_texts(row));
    return check_values(row);
  }

  void count_cautions(std::string_view list) {
    while (!list.empty()) {
      const std::size_t end = std::min(list.find(','), list.size());
      count_reason(out_.cautions, std::string(list.substr(0, end)));
      list.remove_prefix(std::min(end + 1, list.size()));
    }
  }

  StoreWriter& writer_;
  ImportedTable& out_;
  Auditor auditor_;
  Result<void> status_;
  std::unordered_map<RowKey, std::uint32_t> seen_;  // how often each measurement was in this table
};

Result<std::vector<ImportedTable>> recognise_all(const std::vector<std::string>& paths) {
  std::vector<ImportedTable> out;
  for (const std::string& path : paths) {
    JC_ASSIGN_OR_RETURN(const std::string_view layout, recognise_table(path));
    ImportedTable& table = out.emplace_back();
    table.path = path;
    table.layout = layout;
    table.skipped = no_measurements(layout);
  }
  return out;
}

}  // namespace

Result<std::vector<ImportedTable>> import_tables(Store& store, const std::vector<std::string>& paths,
                                                 const ImportProgress& progress) {
  JC_ASSIGN_OR_RETURN(std::vector<ImportedTable> tables, recognise_all(paths));
  JC_ASSIGN_OR_RETURN(StoreWriter writer, StoreWriter::begin(store));
  for (ImportedTable& table : tables) {
    if (table.skipped.empty()) JC_RETURN_IF_ERROR(TableImport(writer, table).run());
    progress(table);
  }
  JC_RETURN_IF_ERROR(writer.commit());
  return tables;
}

Result<std::vector<std::size_t>> merge_stores(Store& into, std::span<Store> from) {
  JC_ASSIGN_OR_RETURN(StoreWriter writer, StoreWriter::begin(into));
  std::vector<std::size_t> added;
  std::size_t before = 0;
  for (Store& store : from) {
    JC_RETURN_IF_ERROR(store.read({}, [&](const StoredRow& row) { return writer.add(row.row, row.occurrence); }));
    JC_ASSIGN_OR_RETURN(const std::size_t after, writer.flush());
    added.push_back(after - before);
    before = after;
  }
  JC_RETURN_IF_ERROR(writer.commit());
  return added;
}

}  // namespace joulecast
