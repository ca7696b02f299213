// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/evaluation_text.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "dataset/store_place.h"
#include "evaluate/evaluate.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

struct EvaluateVerb {
  std::string graphs, pack, rows;
  std::vector<std::string> tables, gpu_files, layouts;
  bool uncorrected = false;
  Form form;
};

// Every judged row as CSV, a quantity a line; of several tables with the table in front.
class RowFile {
 public:
  RowFile(const std::string& path, bool several) : several_(several), out_(path) {
    out_ << (several ? "table," : "")
         << "line,subject,group,gpu,mode,precision,batch,support,quantity,measured,found,lo,hi,spread,baseline,gpu_"
            "busy_s,"
            "host_busy_s,cautions,variant\r\n";
  }
  void begin(const std::string& table) {
    if (several_) before_ = csv_field(table) + ",";
  }
  void add(const JudgedRow& row) {
    add(row, "time", row.time, row.baseline);
    add(row, "power", row.power, {});
    add(row, "energy", row.energy, {});
    add(row, "memory", row.memory, {});
  }
  [[nodiscard]] bool good() const { return out_.good(); }
  bool close() {
    out_.close();
    return !out_.fail();
  }

 private:
  void add(const JudgedRow& r, const char* what, const std::optional<JudgedQuantity>& q,
           std::optional<double> baseline) {
    if (!q) return;
    const bool network = baseline && r.gpu_busy > 0.0;
    out_ << before_;
    out_ << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", r.line, csv_field(r.subject),
                        r.group, csv_field(r.gpu), name(r.mode), r.precision ? name(*r.precision) : "", r.batch,
                        r.support, what, q->measured, q->found, q->lo, q->hi, q->spread,
                        baseline ? fmt::format("{}", *baseline) : "", network ? fmt::format("{}", r.gpu_busy) : "",
                        network ? fmt::format("{}", r.host_busy) : "", csv_field(r.cautions), r.variant);
  }
  bool several_;
  std::string before_;
  std::ofstream out_;
};

Error cannot_write(const std::string& path) {
  return {ErrorCode::kIo, fmt::format("{}: cannot be written", path)};
}

// Before anything is opened for writing, and before minutes of work end at a name that was mistyped.
Outcome check_paths(const EvaluateVerb& options) {
  std::error_code none;
  if (!options.graphs.empty() && !std::filesystem::is_directory(options.graphs, none)) {
    return tl::unexpected<Failure>(
        Error{ErrorCode::kNotFound, fmt::format("--graphs: '{}' is no folder", options.graphs)});
  }
  for (const std::string& table : options.tables) {
    if (!options.rows.empty() && std::filesystem::equivalent(options.rows, table, none))
      return usage("--rows: the table itself would be overwritten");
    if (is_database_url(table) || std::filesystem::exists(table, none)) continue;
    return tl::unexpected<Failure>(
        Error{ErrorCode::kNotFound, fmt::format("{}: {}", table, std::generic_category().message(ENOENT))});
  }
  return {};
}

// Why nothing of a table that could be read was judged.
std::string nothing_judged(const Evaluation& e) {
  if (e.refused.rows() > 0) return refusal_text(e.refused.by_frequency().front());
  if (e.groups.empty()) return "no row";
  if (e.groups.front().variant == kSettingsVariant) return fmt::format("none but {}", kSettingsSetAside);
  return "none but rows that better runs replaced";
}

// The place is named already where the reader's message begins with it.
std::string without_place(const std::string& table, const std::string& message) {
  const std::string place = table + ": ";
  return message.starts_with(place) ? message.substr(place.size()) : message;
}

using Judged = std::pair<std::string, Result<Evaluation>>;  // a table and what became of it

TableEvaluation one_of_several(const Judged& judged) {
  const auto& [table, evaluation] = judged;
  if (!evaluation) return {table, {}, without_place(table, evaluation.error().text())};
  return {table, *evaluation, evaluation->judged() > 0 ? "" : nothing_judged(*evaluation)};
}

Outcome print_one(const Form& form, const Judged& judged, Output& output) {
  const auto& [table, evaluation] = judged;
  if (!evaluation) return tl::unexpected<Failure>(evaluation.error());
  output.write(form.json  ? evaluation_json(table, *evaluation)
               : form.csv ? evaluation_csv(*evaluation)
                          : evaluation_text(*evaluation));
  if (evaluation->judged() == 0)
    return tl::unexpected<Failure>(Error{ErrorCode::kInvalidInput, table + ": no row could be judged"});
  return {};
}

Outcome print_several(const Form& form, const std::vector<Judged>& judged, Output& output) {
  std::vector<TableEvaluation> tables;
  tables.reserve(judged.size());
  for (const Judged& one : judged) tables.push_back(one_of_several(one));
  output.write(form.json ? evaluations_json(tables) : form.csv ? evaluations_csv(tables) : evaluations_text(tables));
  bool any = false;
  for (const TableEvaluation& t : tables) {
    any = any || t.not_judged.empty();
    // The other forms have them among their results.
    if (form.csv && !t.not_judged.empty()) output.note(fmt::format("{}: not judged: {}", t.table, t.not_judged));
  }
  if (any) return {};
  return tl::unexpected<Failure>(
      Error{ErrorCode::kInvalidInput, fmt::format("none of {} tables could be judged", tables.size())});
}

tl::expected<std::vector<Judged>, Failure> judge_all(const EvaluateVerb& options, Evaluator& evaluator, ReadRows read) {
  std::optional<RowFile> rows;
  if (!options.rows.empty()) rows.emplace(options.rows, options.tables.size() > 1);
  if (rows && !rows->good()) return tl::unexpected<Failure>(cannot_write(options.rows));
  const auto row = [&](const JudgedRow& judged) {
    if (rows) rows->add(judged);
  };
  const auto reader = [&](const std::string& table, const TableSink& sink) {
    return read(table, options.layouts, sink);
  };
  std::vector<Judged> out;
  for (const std::string& table : options.tables) {
    if (rows) rows->begin(table);
    out.emplace_back(table, evaluator.judge(table, {.row = row, .read = reader}));
  }
  if (rows && !rows->close()) return tl::unexpected<Failure>(cannot_write(options.rows));
  return out;
}

Outcome run_evaluate(const EvaluateVerb& options, ReadRows read, Output& output) {
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto pack = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!pack) return tl::unexpected<Failure>(pack.error());
  if (auto ok = check_paths(options); !ok) return ok;
  auto evaluator =
      Evaluator::open(*pack, *catalogue, {.graphs = options.graphs, .use = {.corrections = !options.uncorrected}});
  if (!evaluator) return tl::unexpected<Failure>(evaluator.error());
  const auto judged = judge_all(options, *evaluator, read);
  if (!judged) return tl::unexpected<Failure>(judged.error());
  return judged->size() == 1 ? print_one(options.form, judged->front(), output)
                             : print_several(options.form, *judged, output);
}

}  // namespace

Action define_evaluate(CLI::App& app) {
  return define_evaluate_with(app, [](const std::string& place, const std::vector<std::string>& layouts,
                                      const TableSink& sink) {
    // A store would have been somebody else's to read.
    using Rows = Result<joulecast::Table>;
    return layouts.empty() ? read_table(place, sink) : Rows(invalid(fmt::format("{}: --layout is for stores", place)));
  });
}

Action define_evaluate_with(CLI::App& app, ReadRows read) {
  auto options = std::make_shared<EvaluateVerb>();
  app.add_option("TABLE", options->tables,
                 "tables of measurements, recognised by their header, or stores of them; of several, those that nobody "
                 "can judge are named and the others go on")
      ->required()
      ->type_name(kFile);
  app.add_option("--layout", options->layouts, "of a store: only rows of this layout (repeatable)")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option(
         "--graphs", options->graphs,
         "for tables of networks: folder with MODEL.onnx for every model, and MODEL_training.onnx where training runs "
         "another graph")
      ->type_name("DIR");
  app.add_option("--pack", options->pack, "predictor pack instead of the shipped one")->type_name(kFile);
  app.add_flag("--uncorrected", options->uncorrected,
               "predict as if the pack had no corrections of single GPUs (joulecast train --calibrate)");
  app.add_option("--rows", options->rows, "also write every row with its prediction to this CSV file")
      ->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  add_examples(app, {"joulecast evaluate heidelberg_operations.csv",
                     "joulecast evaluate heidelberg_networks.csv --graphs zoo/ --json",
                     "joulecast evaluate operations/*.csv networks/*.csv --graphs zoo/"});
  return [options, read](Output& output) { return run_evaluate(*options, read, output); };
}

}  // namespace joulecast::cli
