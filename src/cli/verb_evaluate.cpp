// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/evaluation_text.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "evaluate/evaluate.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

struct EvaluateVerb {
  std::string table, graphs, pack, rows;
  std::vector<std::string> gpu_files, layouts;
  Form form;
};

// Every judged row as CSV, a quantity a line.
class RowFile {
 public:
  explicit RowFile(const std::string& path) : out_(path) {
    out_ << "line,subject,gpu,mode,precision,batch,support,quantity,measured,found,lo,hi,baseline,gpu_busy_s,"
            "host_busy_s\r\n";
  }
  void add(const JudgedRow& row) {
    add(row, "time", row.time, row.baseline);
    add(row, "power", row.power, {});
    add(row, "energy", row.energy, {});
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
    out_ << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", r.line, csv_field(r.subject),
                        csv_field(r.gpu), name(r.mode), name(r.precision), r.batch, r.support, what, q->measured,
                        q->found, q->lo, q->hi, baseline ? fmt::format("{}", *baseline) : "",
                        network ? fmt::format("{}", r.gpu_busy) : "", network ? fmt::format("{}", r.host_busy) : "");
  }
  std::ofstream out_;
};

Error cannot_write(const std::string& path) {
  return {ErrorCode::kIo, fmt::format("{}: cannot be written", path)};
}

// Before anything is opened for writing.
Outcome check_paths(const EvaluateVerb& options) {
  std::error_code none;
  if (!options.graphs.empty() && !std::filesystem::is_directory(options.graphs, none)) {
    return tl::unexpected<Failure>(
        Error{ErrorCode::kNotFound, fmt::format("--graphs: '{}' is no folder", options.graphs)});
  }
  if (!options.rows.empty() && std::filesystem::equivalent(options.rows, options.table, none))
    return usage("--rows: the table itself would be overwritten");
  return {};
}

Outcome run_evaluate(const EvaluateVerb& options, ReadRows read, Output& output) {
  const auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(catalogue.error());
  const auto pack = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!pack) return tl::unexpected<Failure>(pack.error());
  if (auto ok = check_paths(options); !ok) return ok;
  std::optional<RowFile> rows;
  if (!options.rows.empty()) rows.emplace(options.rows);
  if (rows && !rows->good()) return tl::unexpected<Failure>(cannot_write(options.rows));
  const auto row = [&](const JudgedRow& judged) {
    if (rows) rows->add(judged);
  };
  const auto reader = [&](const std::string& table, const TableSink& sink) {
    return read(table, options.layouts, sink);
  };
  const auto evaluation =
      evaluate_table(options.table, *pack, *catalogue, {.graphs = options.graphs, .row = row, .read = reader});
  if (!evaluation) return tl::unexpected<Failure>(evaluation.error());
  if (rows && !rows->close()) return tl::unexpected<Failure>(cannot_write(options.rows));
  output.write(options.form.json  ? evaluation_json(options.table, *evaluation)
               : options.form.csv ? evaluation_csv(*evaluation)
                                  : evaluation_text(*evaluation));
  const bool judged =
      std::any_of(evaluation->groups.begin(), evaluation->groups.end(), [](const auto& g) { return g.n > 0; });
  if (!judged) {
    return tl::unexpected<Failure>(Error{ErrorCode::kInvalidInput, options.table + ": no row could be judged"});
  }
  return {};
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
  app.add_option("TABLE", options->table, "table of measurements, recognised by its header, or a store of them")
      ->required()
      ->type_name(kFile);
  app.add_option("--layout", options->layouts, "of a store: only rows of this layout (repeatable)")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--graphs", options->graphs, "for tables of networks: folder with MODEL.onnx for every model")
      ->type_name("DIR");
  app.add_option("--pack", options->pack, "predictor pack instead of the shipped one")->type_name(kFile);
  app.add_option("--rows", options->rows, "also write every row with its prediction to this CSV file")
      ->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  add_examples(app, {"joulecast evaluate heidelberg_operations.csv",
                     "joulecast evaluate heidelberg_networks.csv --graphs zoo/ --json"});
  return [options, read](Output& output) { return run_evaluate(*options, read, output); };
}

}  // namespace joulecast::cli
