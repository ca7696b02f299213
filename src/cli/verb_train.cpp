// SPDX-License-Identifier: Apache-2.0
// Fitting needs XGBoost, whose library alone costs more at every start than a prediction: a program of its own does it.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "base/program_folder.h"
#include "cli/options.h"
#include "cli/verbs.h"

namespace joulecast::cli {
namespace {

struct TrainVerb {
  std::vector<std::string> tables;
  std::string out = "joulecast.jcpack";
  std::string without, without_gpu, calibration;
  bool quiet = false, quick = false;
};

// In a build tree beside this program, in an install tree in libexec.
std::string trainer() {
  const std::string folder = program_folder();
  for (const char* place : {"/joulecast-train", "/../libexec/joulecast/joulecast-train"}) {
    std::string path = folder + place;
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  return {};
}

Outcome run_train(const TrainVerb& options) {
  const std::string program = trainer();
  if (program.empty()) {
    return tl::unexpected<Failure>(Failure{{ErrorCode::kNotFound, "joulecast-train is not installed"},
                                           "it is built where XGBoost is: libxgboost-dev"});
  }
  std::vector<std::string> words{program, options.out, options.quiet ? "quiet" : "progress"};
  if (options.quick) words.emplace_back("--quick");
  const std::pair<const char*, const std::string*> valued[] = {{"--without", &options.without},
                                                               {"--without-gpu", &options.without_gpu},
                                                               {"--calibration", &options.calibration}};
  for (const auto& [name, value] : valued) {
    if (!value->empty()) words.insert(words.end(), {name, *value});
  }
  words.insert(words.end(), options.tables.begin(), options.tables.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  return tl::unexpected<Failure>(
      Error{ErrorCode::kIo, fmt::format("{}: {}", program, std::strerror(errno))});  // NOLINT(concurrency-mt-unsafe)
}

}  // namespace

Action define_train(CLI::App& app) {
  auto options = std::make_shared<TrainVerb>();
  app.add_option("TABLE", options->tables, "tables of measured operations, recognised by their header")
      ->required()
      ->type_name(kFile);
  app.add_option("-o,--output", options->out, "the pack to write")->type_name(kFile)->capture_default_str();
  app.add_option("--without", options->without, "operations to leave out, one a line as evaluate --rows prints them")
      ->type_name(kFile);
  app.add_option("--without-gpu", options->without_gpu, "a GPU to leave out")->type_name("GPU");
  app.add_option("--calibration", options->calibration, "interval factors that tools/accuracy/families.py found")
      ->type_name(kFile);
  app.add_flag("--quick", options->quick, "no cross-validation: the same models, but no held-out figures in the report")
      ->option_text(" ");
  app.add_flag("-q,--quiet", options->quiet, "no progress")->option_text(" ");
  add_examples(app, {"joulecast train heidelberg_operations.csv aic_*.csv -o my.jcpack",
                     "joulecast predict net.onnx --gpu a30 --pack my.jcpack"});
  return [options](Output&) { return run_train(*options); };
}

}  // namespace joulecast::cli
