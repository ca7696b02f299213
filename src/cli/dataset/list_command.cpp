// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "cli/dataset/commands.h"
#include "cli/json.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

std::string json(const std::string& store, const std::vector<SourceSummary>& sources) {
  Json list = Json::array();
  for (const SourceSummary& s : sources) {
    list.push_back({{"layout", s.layout},
                    {"file", s.file},
                    {"source", s.source},
                    {"licence", s.licence},
                    {"protocol", s.protocol},
                    {"rows", s.rows},
                    {"operations", s.operations},
                    {"networks", s.networks},
                    {"primary", s.primary},
                    {"with_time", s.with_time},
                    {"with_power", s.with_power},
                    {"with_energy", s.with_energy},
                    {"with_memory", s.with_memory}});
  }
  return json_text({{"schema", "joulecast.dataset-list/1"}, {"store", store}, {"sources", std::move(list)}});
}

std::string csv(const std::vector<SourceSummary>& sources) {
  std::string out =
      "layout,file,rows,operations,networks,primary,with_time,with_power,with_energy,with_memory,source,licence,"
      "protocol\n";
  for (const SourceSummary& s : sources) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_field(s.layout), csv_field(s.file), s.rows,
                       s.operations, s.networks, s.primary, s.with_time, s.with_power, s.with_energy, s.with_memory,
                       csv_field(s.source), csv_field(s.licence), csv_field(s.protocol));
  }
  return out;
}

std::string text(const std::vector<SourceSummary>& sources) {
  using Align = Table::Align;
  Table table({{"layout", Align::kLeft, 26},
               {"file", Align::kLeft, 30},
               {"rows", Align::kRight},
               {"time", Align::kRight},
               {"power", Align::kRight},
               {"energy", Align::kRight},
               {"memory", Align::kRight},
               {"licence", Align::kLeft, 24}});
  std::size_t rows = 0;
  for (const SourceSummary& s : sources) {
    rows += s.rows;
    table.add({printable(s.layout), printable(s.file), std::to_string(s.rows), std::to_string(s.with_time),
               std::to_string(s.with_power), std::to_string(s.with_energy), std::to_string(s.with_memory),
               printable(s.licence)});
  }
  return fmt::format("{}\n{} rows of {} tables\n", table.text(), rows, sources.size());
}

}  // namespace

Outcome list_command(const DatasetOptions& options, Output& output) {
  auto store = Store::open(options.store, Access::kRead);
  if (!store) return tl::unexpected<Failure>(store.error());
  const auto sources = store->sources();
  if (!sources) return tl::unexpected<Failure>(sources.error());
  output.write(options.form.json ? json(store->place(), *sources) : options.form.csv ? csv(*sources) : text(*sources));
  return {};
}

}  // namespace joulecast::cli
