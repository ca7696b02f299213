// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <memory>

#include "cli/inspection.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "joulecast/import.h"

namespace joulecast::cli {
namespace {

struct InspectOptions {
  ModelOptions model;
  InspectionRequest request;
  Form form;
};

Outcome run_inspect(const InspectOptions& options, Output& output) {
  JC_RETURN_IF_FAILURE(binding(options.request.shapes));  // before a file is read that may be large
  JC_ASSIGN_OR_FAIL(Graph graph, import_model(options.model.file, options.model.framework));
  JC_ASSIGN_OR_FAIL(const Inspection inspection, inspected(options.request, options.model.file, std::move(graph)));
  if (options.form.json) {
    output.write(inspection_json(inspection));
  } else if (options.form.csv) {
    output.write(inspection_csv(inspection));
    for (const Assumption& assumption : inspection.assumed) output.note(assumption.text);
    for (const std::string& note : inspection.notes) output.note(note);
  } else {
    output.write(inspection_text(inspection));
  }
  return {};
}

}  // namespace

Action define_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  add_model(app, options->model);
  add_shapes(app, options->request.shapes);
  add_count(app, "--top", options->request.top, "how many of the largest tensors (5)")->option_text("N");
  app.add_flag("--as-written", options->request.as_written, "operators as the file has them")->option_text(" ");
  add_form(app, options->form);
  add_examples(app, {"joulecast inspect resnet50.onnx --batch 32",
                     "joulecast inspect bert.onnx --shapes input_ids:8x512 --json"});
  return [options](Output& output) { return run_inspect(*options, output); };
}

}  // namespace joulecast::cli
