// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/batch.h"
#include "cli/options.h"
#include "cli/prediction_options.h"
#include "cli/verbs.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast::cli {
namespace {

struct PredictVerb {
  ModelsOptions models;
  PredictionRequest request;
  std::string pack;
  std::vector<std::string> gpu_files;
  Form form;
};

tl::expected<Answer, Failure> predict_one(const PredictVerb& options, const PredictionContext& context,
                                          const std::string& model) {
  JC_ASSIGN_OR_FAIL(const Binding asked, binding({.batch = {}, .shapes = options.request.shapes}));
  JC_ASSIGN_OR_FAIL(Graph graph, import_model(model, options.models.framework, asked.shapes));
  Answer out;
  JC_ASSIGN_OR_FAIL(const PredictionReport report,
                    predictions(options.request, model, simplify(std::move(graph)), context));
  out.notes = few(report.left_out());
  if (options.form.json) out.json = report.json();
  if (!options.form.json) out.text = options.form.csv ? report.csv() : report.text();
  if (options.form.csv) {
    for (const std::string& note : report.notes()) out.notes.push_back(note);
  }
  return out;
}

Outcome check_one_model(const PredictVerb& options) {
  const std::vector<std::string>& files = options.models.files;
  if (options.request.settings.measured.empty()) return {};
  if (files.size() == 1) {
    JC_ASSIGN_OR_FAIL(const std::vector<std::string> models, find_models(files.front()));
    if (models == files) return {};
  }
  return usage("--measured holds for one model", "name one file");
}

Outcome run_predict(const PredictVerb& options, Output& output) {
  JC_RETURN_IF_FAILURE(check_one_model(options));
  JC_ASSIGN_OR_FAIL(const Catalogue catalogue, load_catalogue(options.gpu_files));
  JC_RETURN_IF_FAILURE(check_gpus(options.request, catalogue));  // before a folder of models says it of each
  JC_ASSIGN_OR_FAIL(const std::string pack,
                    options.pack.empty() ? shipped_pack_path() : Result<std::string>(options.pack));
  JC_ASSIGN_OR_FAIL(const Predictor predictor, Predictor::open(pack));
  const PredictionContext context{.catalogue = catalogue, .predictor = predictor};
  return answer_models(options.models.files, options.form, output,
                       [&](const std::string& model) { return predict_one(options, context, model); });
}

}  // namespace

Action define_predict(CLI::App& app) {
  auto options = std::make_shared<PredictVerb>();
  add_models(app, options->models);
  add_workload(app, options->request);
  add_settings(app, options->request.settings);
  add_count(app, "--top", options->request.top, "the N operations that take longest");
  app.add_flag("--breakdown", options->request.breakdown, "every operation with its time and energy")->option_text(" ");
  app.add_option("--pack", options->pack, "predictor pack instead of the shipped one")->type_name(kFile);
  add_gpu_files(app, options->gpu_files);
  add_form(app, options->form);
  add_examples(app, {"joulecast predict resnet50.onnx --gpu a30 --batch 32",
                     "joulecast predict resnet50.onnx --gpu a100,h100 --batch 1,32 --mode training",
                     "joulecast predict resnet50.onnx --gpu a30 --sm-clock 600,900,1200,1440",
                     "joulecast predict bert.onnx --gpu t4 --shapes input_ids:8x128 --top 5",
                     "joulecast predict models/ --gpu a100 --csv"});
  return [options](Output& output) { return run_predict(*options, output); };
}

}  // namespace joulecast::cli
