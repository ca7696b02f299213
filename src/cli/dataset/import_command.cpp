// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <system_error>

#include "cli/dataset/commands.h"
#include "cli/json.h"
#include "cli/table.h"
#include "dataset/store_place.h"
#include "store/import.h"

namespace joulecast::cli {
namespace {

std::size_t total(const std::map<std::string, std::size_t>& counts) {
  std::size_t sum = 0;
  for (const auto& [key, count] : counts) sum += count;
  return sum;
}

Json counts_json(const std::map<std::string, std::size_t>& counts) {
  Json out = Json::object();
  for (const auto& [key, count] : counts) out[key] = count;
  return out;
}

std::string json(const std::vector<ImportedTable>& tables) {
  Json list = Json::array();
  for (const ImportedTable& table : tables) {
    Json broken = Json::array();
    for (const UnmappedLine& line : table.broken_lines)
      broken.push_back({{"line", line.line}, {"reason", line.reason}});
    list.push_back({{"table", table.path},
                    {"layout", table.layout},
                    {"holds_no_measurements", table.skipped.empty() ? Json(nullptr) : Json(table.skipped)},
                    {"rows", table.rows},
                    {"new", table.added},
                    {"broken", table.broken},
                    {"broken_lines", std::move(broken)},
                    {"left_out", counts_json(table.left_out)},
                    {"cautions", counts_json(table.cautions)},
                    {"notes", table.notes}});
  }
  return json_text({{"schema", "joulecast.import/1"}, {"tables", std::move(list)}});
}

std::string csv(const std::vector<ImportedTable>& tables) {
  std::string out = "table,layout,rows,new,broken,left_out\r\n";
  for (const ImportedTable& t : tables) {
    out +=
        fmt::format("{},{},{},{},{},{}\r\n", csv_field(t.path), t.layout, t.rows, t.added, t.broken, total(t.left_out));
  }
  return out;
}

// Below the table of figures: what has to be known about the rows.
std::string remarks(const ImportedTable& table) {
  std::vector<std::string> lines;
  if (!table.skipped.empty()) lines.push_back("no measurements: " + table.skipped);
  for (const std::string& note : table.notes) lines.push_back(note);
  for (const auto& [reason, count] : table.left_out) lines.push_back(fmt::format("{} left out: {}", count, reason));
  for (const auto& [word, count] : table.cautions) lines.push_back(fmt::format("{} with caution {}", count, word));
  if (lines.empty()) return {};
  std::string out = "\n" + table.path.substr(table.path.rfind('/') + 1) + ":\n";
  for (const std::string& line : lines) out += wrapped("  " + printable(line), 80, 4) + "\n";
  return out;
}

std::string text(const std::vector<ImportedTable>& tables) {
  using Align = Table::Align;
  Table out({{"table", Align::kLeft, 26},
             {"layout", Align::kLeft, 22},
             {"rows", Align::kRight},
             {"new", Align::kRight},
             {"broken", Align::kRight}});
  std::string below;
  for (const ImportedTable& t : tables) {
    out.add({t.path.substr(t.path.rfind('/') + 1), t.layout, std::to_string(t.rows), std::to_string(t.added),
             std::to_string(t.broken)});
    below += remarks(t);
  }
  return out.text() + below;
}

void report_broken(const ImportedTable& table, Output& output) {
  for (const UnmappedLine& line : table.broken_lines) {
    output.note(fmt::format("{}: line {}: {}", table.path, line.line, line.reason));
  }
  if (table.broken > table.broken_lines.size()) {
    output.note(fmt::format("{}: and {} further lines", table.path, table.broken - table.broken_lines.size()));
  }
}

}  // namespace

Outcome import_command(const DatasetOptions& options, Output& output) {
  std::error_code none;
  const bool was_there = is_database_url(options.store) || std::filesystem::exists(options.store, none);
  auto store = Store::open(options.store, Access::kWrite);
  if (!store) return tl::unexpected<Failure>(store.error());
  const auto progress = [&](const ImportedTable& table) {
    report_broken(table, output);
    if (!options.quiet) output.note(fmt::format("{}: {} rows, {} new", table.path, table.rows, table.added));
  };
  const auto tables = import_tables(*store, options.tables, progress);
  // A new store stays, for another process may be putting rows into it by now.
  if (!tables) {
    return tl::unexpected<Failure>(Failure{tables.error(), was_there
                                                               ? "nothing was imported; the store is as it was"
                                                               : "nothing was imported; the store is new and empty"});
  }
  output.write(options.form.json ? json(*tables) : options.form.csv ? csv(*tables) : text(*tables));
  std::size_t broken = 0;
  for (const ImportedTable& table : *tables) broken += table.broken;
  if (broken == 0) return {};
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kInvalidInput, fmt::format("{} broken line{} not imported; the rest {}", broken,
                                                     broken == 1 ? " was" : "s were", "is in the store")},
              {},
              kIncomplete});
}

}  // namespace joulecast::cli
