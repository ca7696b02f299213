// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/batch.h"
#include "cli/inspection.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "joulecast/import.h"

namespace joulecast::cli {
namespace {

struct InspectOptions {
  ModelsOptions models;
  InspectionRequest request;
  Form form;
};

tl::expected<Answer, Failure> inspect_one(const InspectOptions& options, const std::string& model) {
  JC_ASSIGN_OR_FAIL(const Binding asked, binding(options.request.shapes));
  JC_ASSIGN_OR_FAIL(Graph graph, import_model(model, options.models.framework, asked.shapes));
  JC_ASSIGN_OR_FAIL(const Inspection inspection, inspected(options.request, model, std::move(graph)));
  if (options.form.json) return Answer{inspection_json(inspection), {}, {}};
  if (!options.form.csv) return Answer{{}, inspection_text(inspection), {}};
  Answer out{{}, inspection_csv(inspection), {}};
  for (const Assumption& assumption : inspection.assumed) out.notes.push_back(assumption.text);
  out.notes.insert(out.notes.end(), inspection.notes.begin(), inspection.notes.end());
  return out;
}

Outcome run_inspect(const InspectOptions& options, Output& output) {
  JC_RETURN_IF_FAILURE(binding(options.request.shapes));  // before a file is read that may be large
  return answer_models(options.models.files, options.form, output,
                       [&](const std::string& model) { return inspect_one(options, model); });
}

}  // namespace

Action define_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  add_models(app, options->models);
  add_shapes(app, options->request.shapes);
  add_count(app, "--top", options->request.top, "how many of the largest tensors (5)")->option_text("N");
  app.add_flag("--as-written", options->request.as_written, "operators as the file has them")->option_text(" ");
  add_form(app, options->form);
  add_examples(app, {"joulecast inspect resnet50.onnx --batch 32",
                     "joulecast inspect bert.onnx --shapes input_ids:8x512 --json", "joulecast inspect models/ --csv"});
  return [options](Output& output) { return run_inspect(*options, output); };
}

}  // namespace joulecast::cli
