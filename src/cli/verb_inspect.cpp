// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/inspection.h"
#include "cli/options.h"
#include "cli/verbs.h"
#include "joulecast/import.h"
#include "joulecast/passes.h"

namespace joulecast::cli {
namespace {

struct InspectOptions {
  std::string model;
  ShapeOptions shapes;
  std::size_t top = 5;
  bool as_written = false;
  Form form;
};

tl::expected<Inspection, Failure> inspect_model(const InspectOptions& options) {
  auto bound = binding(options.shapes);
  if (!bound) return tl::unexpected(std::move(bound).error());
  auto graph = import_model(options.model);
  if (!graph) return tl::unexpected<Failure>(std::move(graph).error());
  if (!options.as_written) *graph = simplify(std::move(*graph));
  auto assumed = assume_open_dimensions(*graph, *bound);
  if (!assumed) return tl::unexpected(std::move(assumed).error());
  auto types = infer_types(*graph, *bound);
  if (!types) return tl::unexpected<Failure>(std::move(types).error().in(options.model));
  Inspection out = inspect(*graph, *types, options.top);
  out.model = options.model;
  out.assumed = std::move(*assumed);
  return out;
}

Outcome run_inspect(const InspectOptions& options, Output& output) {
  const auto inspection = inspect_model(options);
  if (!inspection) return tl::unexpected(inspection.error());
  if (options.form.json) {
    output.write(inspection_json(*inspection));
  } else if (options.form.csv) {
    output.write(inspection_csv(*inspection));
    for (const Assumption& assumption : inspection->assumed) output.note(assumption.text);
    for (const std::string& note : inspection->notes) output.note(note);
  } else {
    output.write(inspection_text(*inspection));
  }
  return {};
}

}  // namespace

Action define_inspect(CLI::App& app) {
  auto options = std::make_shared<InspectOptions>();
  app.add_option("MODEL", options->model, "a model file; its weights are not read")
      ->required()
      ->type_name(kModel)
      ->option_text(" ");
  add_shapes(app, options->shapes);
  add_count(app, "--top", options->top, "how many of the largest tensors (5)")->option_text("N");
  app.add_flag("--as-written", options->as_written, "operators as the file has them")->option_text(" ");
  add_form(app, options->form);
  add_examples(app, {"joulecast inspect resnet50.onnx --batch 32",
                     "joulecast inspect bert.onnx --shapes input_ids:8x512 --json"});
  return [options](Output& output) { return run_inspect(*options, output); };
}

}  // namespace joulecast::cli
