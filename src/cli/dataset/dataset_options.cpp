// SPDX-License-Identifier: Apache-2.0
#include "cli/dataset/dataset_options.h"

#include <CLI/CLI.hpp>

#include "cli/verbs.h"

namespace joulecast::cli {
namespace {

CLI::App& subcommand(CLI::App& app, const char* name, const char* summary, DatasetOptions& options) {
  CLI::App& out = *app.add_subcommand(name, summary);
  out.set_help_flag("-h,--help", "this text");
  out.add_option("STORE", options.store, "file of SQLite, or postgresql://[USER@]HOST[:PORT]/DATABASE")
      ->required()
      ->type_name(kFile);
  return out;
}

void repeatable(CLI::App& app, const char* name, std::vector<std::string>& out, const char* description,
                const char* type = "NAME") {
  app.add_option(name, out, description)->type_name(type)->expected(1)->take_all();
}

void define_filter(CLI::App& app, DatasetOptions& options) {
  RowFilter& filter = options.filter;
  repeatable(app, "--layout", filter.layouts, "rows of this layout (this and others below: repeatable)");
  repeatable(app, "--file", filter.files, "rows of the table of this name");
  repeatable(app, "--gpu", filter.gpus, "rows of this GPU, in any of its spellings", kGpu);
  repeatable(app, "--mode", filter.modes, "inference or training");
  repeatable(app, "--precision", filter.precisions, "fp32, bf16, ...");
  repeatable(app, "--campaign", filter.campaigns, "rows of this campaign of a table");
  repeatable(app, "--operator", filter.operators, "operations of this operator");
  repeatable(app, "--without", filter.without_cautions, "no rows with this caution", "CAUTION");
  repeatable(app, "--with", options.with, "only rows with a reading of time, power, energy or memory", "WHAT");
  add_choice(app, "--kind", filter.kind, "operations or networks only", {"operation", "network"});
  app.add_option("--name", filter.name_contains, "rows whose name has these letters")->type_name("TEXT");
  app.add_flag("--primary", filter.primary_only, "only rows that no better run replaced")->option_text(" ");
  add_gpu_files(app, options.gpu_files);
}

void define_import(CLI::App& app, DatasetOptions& options) {
  CLI::App& out = subcommand(app, "import", "add tables of measurements, all or none", options);
  out.add_option("TABLE", options.tables, "tables, recognised by their header")->required()->type_name(kFile);
  out.add_flag("-q,--quiet", options.quiet, "no progress")->option_text(" ");
  add_form(out, options.form);
  add_examples(out, {"joulecast dataset import store.db mine.csv",
                     "joulecast dataset import postgresql://lab@db/gpus tables/*.csv"});
}

void define_show(CLI::App& app, DatasetOptions& options) {
  CLI::App& out = subcommand(app, "show", "show rows", options);
  add_count(out, "-n,--limit", options.limit, "at most that many rows")->capture_default_str();
  define_filter(out, options);
  add_form(out, options.form);
  add_examples(out, {"joulecast dataset show store.db --gpu a30 --operator conv --mode training",
                     "joulecast dataset show store.db --layout timm_benchmark --name resnet50 --json"});
}

void define_export(CLI::App& app, DatasetOptions& options) {
  CLI::App& out = subcommand(app, "export", "write rows as CSV that can be imported again", options);
  out.add_option("-o,--output", options.output, "file to write; - is standard output")
      ->type_name(kFile)
      ->capture_default_str();
  define_filter(out, options);
  add_examples(out, {"joulecast dataset export store.db --gpu h200-sxm -o h200.csv"});
}

}  // namespace

void define_dataset_options(CLI::App& app, DatasetOptions& options) {
  app.require_subcommand(1);
  define_import(app, options);
  add_form(subcommand(app, "list", "list what is in a store: tables, rows, licences", options), options.form);
  define_show(app, options);
  define_export(app, options);
  CLI::App& merge = subcommand(app, "merge", "add the rows of other stores", options);
  merge.add_option("FROM", options.from, "stores to take rows from")->required()->type_name(kFile);
  add_form(subcommand(app, "check", "verify that a store holds what was put into it", options), options.form);
}

// The program itself never runs it: verbs.cpp sends it elsewhere.
Action define_dataset(CLI::App& app) {
  auto options = std::make_shared<DatasetOptions>();
  define_dataset_options(app, *options);
  return [options](Output&) { return Outcome(); };
}

}  // namespace joulecast::cli
