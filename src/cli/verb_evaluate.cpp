// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <optional>
#include <vector>

#include "cli/json.h"
#include "cli/options.h"
#include "cli/table.h"
#include "cli/verbs.h"
#include "evaluate/evaluate.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

struct EvaluateVerb {
  std::string table, graphs, pack, rows;
  std::vector<std::string> gpu_files;
  Form form;
};

Json optional_json(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json judgement_json(const Judgement& j) {
  return {{"n", j.figures.count},
          {"r2", optional_json(j.figures.r2)},
          {"mape", optional_json(j.figures.mape)},
          {"median_ape", optional_json(j.figures.median)},
          {"p90_ape", optional_json(j.figures.p90)},
          {"max_ape", optional_json(j.figures.max)},
          {"bias", optional_json(j.figures.bias)},
          {"coverage", optional_json(j.coverage)}};
}

std::string json(const EvaluateVerb& options, const Evaluation& e) {
  Json groups = Json::array();
  for (const EvaluationGroup& g : e.groups) {
    groups.push_back({{"gpu", g.gpu},
                      {"mode", name(g.mode)},
                      {"n", g.n},
                      {"unmapped", g.unmapped},
                      {"set_aside", g.set_aside},
                      {"time", judgement_json(g.time)},
                      {"power", judgement_json(g.power)},
                      {"energy", judgement_json(g.energy)}});
  }
  Json reasons = Json::object();
  for (const auto& [reason, count] : e.reasons) reasons[reason] = count;
  return json_text({{"schema", "joulecast.evaluation/1"},
                    {"table", options.table},
                    {"layout", e.layout},
                    {"level", kIntervalLevel},
                    {"fitted_on", e.fitted_on},
                    {"unread", e.unread},
                    {"unmapped_because", std::move(reasons)},
                    {"groups", std::move(groups)}});
}

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f}", *value * 100.0) : "-";
}
std::string number(const std::optional<double>& value) {
  return value ? fmt::format("{:.3f}", *value) : "-";
}

void add_rows(Table& table, const EvaluationGroup& g) {
  const std::pair<const char*, const Judgement*> quantities[] = {
      {"time", &g.time}, {"power", &g.power}, {"energy", &g.energy}};
  for (const auto& [what, j] : quantities) {
    if (j->figures.count == 0) continue;
    table.add({g.gpu, std::string(name(g.mode)), what, std::to_string(j->figures.count), number(j->figures.r2),
               percent(j->figures.mape), percent(j->figures.median), percent(j->figures.p90), percent(j->figures.max),
               percent(j->figures.bias), percent(j->coverage)});
  }
}

// The most frequent reasons; a table of a thousand networks has a thousand of them.
std::string reasons_text(const Evaluation& e) {
  constexpr std::size_t kShown = 8;
  std::vector<std::pair<std::size_t, std::string>> sorted;
  for (const auto& [reason, count] : e.reasons) sorted.emplace_back(count, reason);
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string out;
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i) {
    out += wrapped(fmt::format("{} rows: {}", sorted[i].first, printable(sorted[i].second)), 80, 2) + "\n";
  }
  if (sorted.size() > kShown)
    out += fmt::format("and {} further reasons: --json lists them all\n", sorted.size() - kShown);
  return out;
}

std::string text(const Evaluation& e) {
  using Align = Table::Align;
  Table table({{"GPU", Align::kLeft, 16},
               {"mode", Align::kLeft},
               {"what", Align::kLeft},
               {"n", Align::kRight},
               {"R2", Align::kRight},
               {"MAPE", Align::kRight},
               {"med", Align::kRight},
               {"p90", Align::kRight},
               {"max", Align::kRight},
               {"bias", Align::kRight},
               {"cov", Align::kRight}});
  std::string footer;
  for (const EvaluationGroup& g : e.groups) {
    add_rows(table, g);
    if (g.set_aside > 0)
      footer += fmt::format("{}, {}: {} rows set aside: not the primary runs of the table\n", g.gpu, name(g.mode),
                            g.set_aside);
    if (g.unmapped > 0)
      footer += fmt::format("{}, {}: {} rows could not be predicted\n", g.gpu, name(g.mode), g.unmapped);
  }
  footer += reasons_text(e);
  if (e.fitted_on) {
    footer +=
        wrapped(
            "the pack was fitted on a table of this layout: these are no held-out figures, docs/accuracy.md has them",
            80, 2) +
        "\n";
  }
  return fmt::format("{}: errors in percent, cov: inside the {:.0f} % interval\n\n{}{}{}", e.layout,
                     kIntervalLevel * 100, table.text(), footer.empty() ? "" : "\n", footer);
}

std::string csv(const Evaluation& e) {
  std::string out = "gpu,mode,quantity,n,r2,mape,median_ape,p90_ape,max_ape,bias,coverage\n";
  for (const EvaluationGroup& g : e.groups) {
    const std::pair<const char*, const Judgement*> quantities[] = {
        {"time", &g.time}, {"power", &g.power}, {"energy", &g.energy}};
    for (const auto& [what, j] : quantities) {
      out += fmt::format("{},{},{},{}", csv_field(g.gpu), name(g.mode), what, j->figures.count);
      for (const auto& value : {j->figures.r2, j->figures.mape, j->figures.median, j->figures.p90, j->figures.max,
                                j->figures.bias, j->coverage}) {
        out += value ? fmt::format(",{}", *value) : ",";
      }
      out += "\n";
    }
  }
  return out;
}

// Every judged row as CSV, a quantity a line.
class RowFile {
 public:
  explicit RowFile(const std::string& path) : out_(path) {
    out_ << "line,subject,gpu,mode,precision,batch,support,quantity,measured,found,lo,hi,baseline\n";
  }
  void add(const JudgedRow& row) {
    add(row, "time", row.time, row.baseline);
    add(row, "power", row.power, {});
    add(row, "energy", row.energy, {});
  }
  bool close() {
    out_.close();
    return !out_.fail();
  }

 private:
  void add(const JudgedRow& r, const char* what, const std::optional<JudgedQuantity>& q,
           std::optional<double> baseline) {
    if (!q) return;
    out_ << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", r.line, csv_field(r.subject), csv_field(r.gpu),
                        name(r.mode), name(r.precision), r.batch, r.support, what, q->measured, q->found, q->lo, q->hi,
                        baseline ? fmt::format("{}", *baseline) : "");
  }
  std::ofstream out_;
};

Outcome run_evaluate(const EvaluateVerb& options, Output& output) {
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto pack = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!pack) return tl::unexpected<Failure>(pack.error());
  std::optional<RowFile> rows;
  if (!options.rows.empty()) rows.emplace(options.rows);
  const auto row = [&](const JudgedRow& judged) {
    if (rows) rows->add(judged);
  };
  const auto evaluation = evaluate_table(options.table, *pack, *catalogue, {.graphs = options.graphs, .row = row});
  if (!evaluation) return tl::unexpected<Failure>(evaluation.error());
  if (rows && !rows->close()) return tl::unexpected<Failure>(Error{ErrorCode::kIo, options.rows + ": not written"});
  output.write(options.form.json  ? json(options, *evaluation)
               : options.form.csv ? csv(*evaluation)
                                  : text(*evaluation));
  const bool judged =
      std::any_of(evaluation->groups.begin(), evaluation->groups.end(), [](const auto& g) { return g.n > 0; });
  if (!judged) {
    return tl::unexpected<Failure>(Error{ErrorCode::kInvalidInput, options.table + ": no row could be judged"});
  }
  return {};
}

}  // namespace

Action define_evaluate(CLI::App& app) {
  auto options = std::make_shared<EvaluateVerb>();
  app.add_option("TABLE", options->table, "table of measurements, recognised by its header")
      ->required()
      ->type_name(kFile);
  app.add_option("--graphs", options->graphs, "for tables of networks: folder with MODEL.onnx for every model")
      ->type_name("DIR");
  app.add_option("--pack", options->pack, "predictor pack instead of the shipped one")->type_name(kFile);
  app.add_option("--rows", options->rows, "also write every row with its prediction to this CSV file")
      ->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  add_examples(app, {"joulecast evaluate heidelberg_operations.csv",
                     "joulecast evaluate heidelberg_networks.csv --graphs zoo/ --json"});
  return [options](Output& output) { return run_evaluate(*options, output); };
}

}  // namespace joulecast::cli
