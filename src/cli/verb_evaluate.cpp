// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/output_file.h"
#include "cli/evaluation_text.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "dataset/store_place.h"
#include "evaluate/evaluate.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

struct EvaluateVerb {
  std::string graphs, pack, rows, operations;
  std::vector<std::string> tables, gpu_files, layouts;
  bool uncorrected = false;
  Form form;
};

// Judged rows as CSV; of several tables with the table in front.
class JudgedFile {
 public:
  JudgedFile(const std::string& path, bool several, std::string_view head) : several_(several), out_(path) {
    out_ << (several ? "table," : "") << head << "\r\n";
  }
  void begin(const std::string& table) {
    if (several_) before_ = csv_field(table) + ",";
  }
  [[nodiscard]] bool good() const { return out_.good(); }
  bool close() {
    out_.close();
    return !out_.fail();
  }

 protected:
  void write(const std::string& line) { out_ << before_ << line << "\r\n"; }

 private:
  bool several_;
  std::string before_;
  std::ofstream out_;
};

// Every row, a quantity a line.
class RowFile : public JudgedFile {
 public:
  RowFile(const std::string& path, bool several)
      : JudgedFile(path, several,
                   "line,subject,group,gpu,mode,precision,batch,support,quantity,measured,found,lo,hi,spread,baseline,"
                   "gpu_busy_s,host_busy_s,cautions,variant,campaign") {}
  void add(const JudgedRow& row) {
    add(row, "time", row.time, row.baseline);
    add(row, "power", row.power, {});
    add(row, "energy", row.energy, {});
    add(row, "memory", row.memory, {});
  }

 private:
  void add(const JudgedRow& r, const char* what, const std::optional<JudgedQuantity>& q,
           std::optional<double> baseline) {
    if (!q) return;
    const bool network = baseline && r.gpu_busy > 0.0;
    write(fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}", r.line, csv_field(r.subject),
                      r.group, csv_field(r.gpu), name(r.mode), r.precision ? name(*r.precision) : "", r.batch,
                      r.support, what, q->measured, q->found, q->lo, q->hi, q->spread,
                      baseline ? fmt::format("{}", *baseline) : "", network ? fmt::format("{}", r.gpu_busy) : "",
                      network ? fmt::format("{}", r.host_busy) : "", csv_field(r.cautions), r.variant,
                      csv_field(r.campaign)));
  }
};

// What networks are made of, an operation a line.
class OperationFile : public JudgedFile {
 public:
  OperationFile(const std::string& path, bool several)
      : JudgedFile(path, several, "line,subject,gpu,mode,precision,batch,variant,operation,count,busy_s,energy_j") {}
  void add(const JudgedRow& r) {
    for (const OperationEstimate& operation : r.operations) {
      write(fmt::format("{},{},{},{},{},{},{},{},{},{},{}", r.line, csv_field(r.subject), csv_field(r.gpu),
                        name(r.mode), r.precision ? name(*r.precision) : "", r.batch, r.variant,
                        csv_field(operation.label), operation.count, operation.time.value(), operation.energy.value()));
    }
  }
};

// The files that were asked for.
struct JudgedFiles {
  std::optional<RowFile> rows;
  std::optional<OperationFile> operations;

  template <typename Visit>
  void each(Visit&& visit) {
    if (rows) visit(*rows);
    if (operations) visit(*operations);
  }
};

Error cannot_write(const std::string& path) {
  return {ErrorCode::kIo, fmt::format("{}: cannot be written", path)};
}

// Before anything is opened for writing, and before minutes of work end at a name that was mistyped.
Outcome check_paths(const EvaluateVerb& options, const std::string& pack) {
  std::error_code none;
  const auto place = [](const std::string& path) { return std::filesystem::absolute(path).lexically_normal(); };
  if (!options.rows.empty() && !options.operations.empty() && place(options.rows) == place(options.operations))
    return usage("--rows and --operations: the same file");
  if (!options.graphs.empty() && !std::filesystem::is_directory(options.graphs, none)) {
    return tl::unexpected<Failure>(
        Error{ErrorCode::kNotFound, fmt::format("--graphs: '{}' is no folder", options.graphs)});
  }
  std::vector<std::string> inputs = options.tables;
  inputs.insert(inputs.end(), options.gpu_files.begin(), options.gpu_files.end());
  inputs.push_back(pack);
  for (const auto& [option, path] : {std::pair{"--rows", &options.rows}, {"--operations", &options.operations}}) {
    if (path->empty()) continue;
    for (const auto& ok :
         {check_no_input(*path, inputs), check_not_in(*path, options.graphs), check_not_in(*path, user_folder())}) {
      if (!ok) return usage(fmt::format("{}: {}", option, ok.error().text()));
    }
  }
  for (const std::string& table : options.tables) {
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
  JudgedFiles files;
  const bool several = options.tables.size() > 1;
  if (!options.rows.empty()) files.rows.emplace(options.rows, several);
  if (files.rows && !files.rows->good()) return tl::unexpected<Failure>(cannot_write(options.rows));
  if (!options.operations.empty()) files.operations.emplace(options.operations, several);
  if (files.operations && !files.operations->good()) return tl::unexpected<Failure>(cannot_write(options.operations));
  const auto row = [&](const JudgedRow& judged) { files.each([&](auto& file) { file.add(judged); }); };
  const auto reader = [&](const std::string& table, const TableSink& sink) {
    return read(table, options.layouts, sink);
  };
  std::vector<Judged> out;
  for (const std::string& table : options.tables) {
    const std::string name = shown_place(table);
    files.each([&](auto& file) { file.begin(name); });
    out.emplace_back(name,
                     evaluator.judge(table, {.row = row, .operations = files.operations.has_value(), .read = reader}));
  }
  if (files.rows && !files.rows->close()) return tl::unexpected<Failure>(cannot_write(options.rows));
  if (files.operations && !files.operations->close()) return tl::unexpected<Failure>(cannot_write(options.operations));
  return out;
}

Outcome run_evaluate(const EvaluateVerb& options, ReadRows read, Output& output) {
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto pack = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!pack) return tl::unexpected<Failure>(pack.error());
  if (auto ok = check_paths(options, *pack); !ok) return ok;
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
  app.add_option("--operations", options->operations,
                 "also write what every judged network is made of to this CSV file")
      ->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  add_examples(app, {"joulecast evaluate heidelberg_operations.csv",
                     "joulecast evaluate heidelberg_networks.csv --graphs zoo/ --json",
                     "joulecast evaluate operations/*.csv networks/*.csv --graphs zoo/"});
  return [options, read](Output& output) { return run_evaluate(*options, read, output); };
}

}  // namespace joulecast::cli
