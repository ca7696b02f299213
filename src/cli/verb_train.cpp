// SPDX-License-Identifier: Apache-2.0
// Fitting needs XGBoost, whose library alone costs more at every start than a prediction: a program of its own does it.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <set>
#include <vector>

#include "cli/options.h"
#include "cli/other_program.h"
#include "cli/verbs.h"
#include "joulecast/predict.h"

namespace joulecast::cli {
namespace {

struct TrainVerb {
  std::vector<std::string> tables, layouts;
  std::string out = "joulecast.jcpack";
  std::string without, without_gpu, calibration, stratum_rows;
  std::string protocol = "ours", estimator, pack, graphs;
  std::vector<std::string> gpu_files;
  bool quiet = false, quick = false, json = false, calibrate = false;
};

constexpr const char* kNeeds = "it is built where XGBoost is: libxgboost-dev";

// What would be passed over in silence: held-out rows would be learnt from.
Outcome refuse(std::initializer_list<std::pair<const char*, bool>> given, std::string_view with) {
  for (const auto& [option, there] : given) {
    if (there) return usage(fmt::format("{} does not go with {}", option, with), "leave one of them out");
  }
  return {};
}

// Judges and writes no pack.
Outcome run_thesis(const TrainVerb& options) {
  JC_RETURN_IF_FAILURE(refuse({{"-o", options.out != TrainVerb().out},
                               {"--without", !options.without.empty()},
                               {"--without-gpu", !options.without_gpu.empty()},
                               {"--calibration", !options.calibration.empty()},
                               {"--stratum-rows", !options.stratum_rows.empty()},
                               {"--gpu-file", !options.gpu_files.empty()},
                               {"--quick", options.quick}},
                              "--protocol thesis"));
  std::vector<std::string> words{"--protocol", "thesis", options.quiet ? "quiet" : "progress",
                                 options.json ? "json" : "text", options.estimator.empty() ? "all" : options.estimator};
  for (const std::string& layout : options.layouts) words.insert(words.end(), {"--layout", layout});
  words.insert(words.end(), options.tables.begin(), options.tables.end());
  return become("joulecast-train", std::move(words), kNeeds);
}

// GPUs of the user's own, in what joulecast-train takes.
void add_gpu_words(const TrainVerb& options, std::vector<std::string>& words) {
  if (const std::string folder = user_folder(); !folder.empty()) words.insert(words.end(), {"--gpu-folder", folder});
  for (const std::string& file : options.gpu_files) words.insert(words.end(), {"--gpu-file", file});
}

// Corrects a pack instead of fitting one.
Outcome run_calibrate(const TrainVerb& options) {
  JC_RETURN_IF_FAILURE(refuse({{"--without", !options.without.empty()},
                               {"--without-gpu", !options.without_gpu.empty()},
                               {"--estimator", !options.estimator.empty()},
                               {"--protocol", options.protocol != "ours"},
                               {"--stratum-rows", !options.stratum_rows.empty()},
                               {"--quick", options.quick},
                               {"--json", options.json}},
                              "--calibrate"));
  if (options.tables.empty() && options.calibration.empty())
    return usage("TABLE is required", "or with --calibrate interval factors: --calibration FILE");
  std::error_code none;
  if (!options.graphs.empty() && !std::filesystem::is_directory(options.graphs, none)) {
    return tl::unexpected<Failure>(
        Error{ErrorCode::kNotFound, fmt::format("--graphs: '{}' is no folder", options.graphs)});
  }
  const auto pack = options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack);
  if (!pack) return tl::unexpected<Failure>(pack.error());
  std::vector<std::string> words{"--calibrate", options.out, *pack, options.quiet ? "quiet" : "progress"};
  add_gpu_words(options, words);
  if (!options.graphs.empty()) words.insert(words.end(), {"--graphs", options.graphs});
  if (!options.calibration.empty()) words.insert(words.end(), {"--calibration", options.calibration});
  for (const std::string& layout : options.layouts) words.insert(words.end(), {"--layout", layout});
  words.insert(words.end(), options.tables.begin(), options.tables.end());
  return become("joulecast-train", std::move(words), kNeeds);
}

// Its rows would count twice.
Outcome check_once(const std::vector<std::string>& tables) {
  std::set<std::filesystem::path> seen;
  for (const std::string& table : tables) {
    std::error_code none;
    const std::filesystem::path found = std::filesystem::weakly_canonical(table, none);
    if (!seen.insert(none ? std::filesystem::path(table) : found).second)
      return usage(fmt::format("'{}' is named twice", table), "leave one of them out");
  }
  return {};
}

Outcome run_train(const TrainVerb& options) {
  JC_RETURN_IF_FAILURE(check_once(options.tables));
  if (options.calibrate) return run_calibrate(options);
  if (options.tables.empty()) return usage("TABLE is required", "joulecast train --help");
  if (!options.pack.empty()) return usage("a pack is fitted anew", "--pack goes with --calibrate");
  if (!options.graphs.empty()) return usage("only operations are fitted on", "--graphs goes with --calibrate");
  if (options.protocol == "thesis") return run_thesis(options);
  if (options.estimator == "all")
    return usage("a pack has one estimator", "--estimator all goes with --protocol thesis");
  if (options.json) return usage("a pack is no JSON", "--json goes with --protocol thesis");
  std::vector<std::string> words{options.out, options.quiet ? "quiet" : "progress"};
  if (options.quick) words.emplace_back("--quick");
  add_gpu_words(options, words);
  for (const std::string& layout : options.layouts) words.insert(words.end(), {"--layout", layout});
  const std::pair<const char*, const std::string*> valued[] = {{"--without", &options.without},
                                                               {"--without-gpu", &options.without_gpu},
                                                               {"--calibration", &options.calibration},
                                                               {"--estimator", &options.estimator},
                                                               {"--stratum-rows", &options.stratum_rows}};
  for (const auto& [name, value] : valued) {
    if (!value->empty()) words.insert(words.end(), {name, *value});
  }
  words.insert(words.end(), options.tables.begin(), options.tables.end());
  return become("joulecast-train", std::move(words), kNeeds);
}

}  // namespace

Action define_train(CLI::App& app) {
  auto options = std::make_shared<TrainVerb>();
  app.add_option("TABLE", options->tables, "tables of measurements, recognised by their header, or stores of them")
      ->type_name(kFile);
  app.add_option("-o,--output", options->out, "the pack to write; the same command goes on where it was interrupted")
      ->type_name(kFile)
      ->capture_default_str();
  app.add_option("--layout", options->layouts, "of a store: only rows of this layout (repeatable)")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  app.add_option("--without", options->without,
                 "operations to leave out, one a line as the column subject of evaluate --rows has them")
      ->type_name(kFile);
  app.add_option("--without-gpu", options->without_gpu, "a GPU to leave out")->type_name("GPU");
  app.add_option(
         "--calibration", options->calibration,
         "interval factors that tools/accuracy/families.py and elsewhere.py found; with --calibrate no TABLE is needed "
         "then")
      ->type_name(kFile);
  auto* calibrate = app.add_flag("--calibrate", options->calibrate,
                                 "correct a pack by a few measurements on a GPU, instead of fitting one anew");
  calibrate->option_text(" ");
  app.add_option("--pack", options->pack, "with --calibrate: the pack to correct (default: the shipped one)")
      ->type_name(kFile);
  app.add_option("--graphs", options->graphs,
                 "with --calibrate: folder with MODEL.onnx for every model of tables of networks, which are used then "
                 "beside operations")
      ->type_name("DIR");
  add_gpu_files(app, options->gpu_files);
  add_choice(app, "--estimator", options->estimator,
             "what is fitted: ours, which are boosted trees; physics, the bound without trees; or forests in their "
             "place. With "
             "--protocol thesis: what is judged",
             {"ours", "physics", "boosting", "random-forest", "extra-trees", "all"});
  add_choice(app, "--protocol", options->protocol,
             "thesis: no pack is written; the thesis' tables 5.1 to 5.4 are made again with these measurements, its "
             "estimators on its features and raw targets, beside its figures and beside ours",
             {"ours", "thesis"});
  app.add_flag("--json", options->json, "with --protocol thesis: print JSON")->option_text(" ");
  app.add_option(
         "--stratum-rows", options->stratum_rows,
         "at most so many rows of operations that were measured alike, instead of the limits that published tables "
         "have; all of your own are used")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000'000).description(""));
  app.add_flag("--quick", options->quick, "no cross-validation: the same models, but no held-out figures in the report")
      ->option_text(" ");
  app.add_flag("-q,--quiet", options->quiet, "no progress")->option_text(" ");
  add_examples(app, {"joulecast train heidelberg_operations.csv zeus_power_limit_sweep.csv",
                     "joulecast train measurements.db -o my.jcpack", "joulecast pack my.jcpack",
                     "joulecast predict net.onnx --gpu a30 --pack my.jcpack",
                     "joulecast train --calibrate ten_rows.csv -o my.jcpack",
                     "joulecast train --calibrate networks.csv --graphs zoo/ -o my.jcpack",
                     "joulecast train --protocol thesis heidelberg_operations.csv"});
  return [options](Output&) { return run_train(*options); };
}

}  // namespace joulecast::cli
