// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/options.h"
#include "cli/output.h"
#include "cli/prediction_options.h"
#include "cli/recommendation.h"
#include "cli/verbs.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast::cli {
namespace {

struct RecommendVerb {
  ModelOptions model;
  RecommendationRequest request;
  std::size_t top = 10;
  std::string pack;
  std::vector<std::string> gpu_files;
  bool json = false;
};

Outcome run_recommend(const RecommendVerb& options, Output& output) {
  JC_ASSIGN_OR_FAIL(const Catalogue catalogue, load_catalogue(options.gpu_files));
  JC_ASSIGN_OR_FAIL(const Binding asked, binding({.batch = {}, .shapes = options.request.prediction.shapes}));
  JC_ASSIGN_OR_FAIL(Graph graph, import_model(options.model.file, options.model.framework, asked.shapes));
  JC_ASSIGN_OR_FAIL(const std::string pack,
                    options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack));
  JC_ASSIGN_OR_FAIL(const Predictor predictor, Predictor::open(pack));
  JC_ASSIGN_OR_FAIL(const Recommendation found,
                    recommended(options.request, options.model.file, simplify(std::move(graph)),
                                {.catalogue = catalogue, .predictor = predictor}));
  output.write(options.json ? found.json() : found.text(options.top));
  if (options.json) return {};
  for (const std::string& text : few(found.left_out)) output.note(text);
  return {};
}

}  // namespace

Action define_recommend(CLI::App& app) {
  auto options = std::make_shared<RecommendVerb>();
  add_model(app, options->model);
  add_workload(app, options->request.prediction);
  add_choice(app, "--best", options->request.best, "what of an example is to be least (default energy)",
             {"energy", "time", "edp"});
  add_choice(app, "--choose", options->request.choose, "which settings of the GPU may be changed (default limit)",
             {"limit", "clock", "both", "none"});
  app.add_option("--within", options->request.within_s, "seconds that a batch may take")->type_name("S");
  app.add_option("--slowdown", options->request.slowdown_percent,
                 "percent that a batch may take longer than at the default setting")
      ->type_name("PERCENT");
  add_measured(app, options->request.prediction.settings);
  add_count(app, "--top", options->top, "rows of the table, 0 for all (default 10)");
  app.add_option("--pack", options->pack, "predictor pack instead of the shipped one")->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  app.add_flag("--json", options->json, "print JSON")->option_text(" ");
  add_examples(app, {"joulecast recommend resnet50.onnx --gpu a30 --slowdown 10",
                     "joulecast recommend resnet50.onnx --batch 1,8,32,128 --within 0.05",
                     "joulecast recommend bert.onnx --gpu a100,h100 --best edp --choose both"});
  return [options](Output& output) { return run_recommend(*options, output); };
}

}  // namespace joulecast::cli
