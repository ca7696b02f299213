// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

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
      "protocol\r\n";
  for (const SourceSummary& s : sources) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", csv_field(s.layout), csv_field(s.file), s.rows,
                       s.operations, s.networks, s.primary, s.with_time, s.with_power, s.with_energy, s.with_memory,
                       csv_field(s.source), csv_field(s.licence), csv_field(s.protocol));
  }
  return out;
}

// "Apache-2.0: aic_gemm, neusight_gemm"
std::string licences(const std::vector<SourceSummary>& sources) {
  std::map<std::string, std::set<std::string>> layouts;
  for (const SourceSummary& s : sources) {
    layouts[s.licence.empty() ? "licence not stated" : s.licence].insert(s.layout);
  }
  std::string out;
  for (const auto& [licence, names] : layouts) {
    out += wrapped(printable(fmt::format("{}: {}", licence, fmt::join(names, ", "))), 80, 2) + "\n";
  }
  return out;
}

std::string text(const std::vector<SourceSummary>& sources) {
  using Align = Table::Align;
  Table table({{"layout/file", Align::kLeft, 40},
               {"rows", Align::kRight},
               {"time", Align::kRight},
               {"power", Align::kRight},
               {"energy", Align::kRight},
               {"memory", Align::kRight}});
  std::size_t rows = 0;
  for (const SourceSummary& s : sources) {
    rows += s.rows;
    table.add({printable(s.layout + "/" + s.file), std::to_string(s.rows), std::to_string(s.with_time),
               std::to_string(s.with_power), std::to_string(s.with_energy), std::to_string(s.with_memory)});
  }
  return fmt::format("{}\n{} rows of {} table{}\n{}", table.text(), rows, sources.size(),
                     sources.size() == 1 ? "" : "s", licences(sources));
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
