// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/sweep_options.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/verbs.h"

namespace joulecast::cli {

void define_sweep_options(CLI::App& app, SweepCommandOptions& options) {
  const auto flag = [&](const char* name, bool& out, const char* text) {
    app.add_flag(name, out, text)->option_text(" ");
  };
  app.add_option("PLAN", options.plan,
                 "a plan in TOML, or experiments of GPyJoules in YAML; with --result a folder, also of GPyJoules, or a "
                 "CSV table of runs")
      ->required()
      ->type_name(kFile);
  app.add_option("-o,--output", options.output, "folder of the runs, instead of the plan's")->type_name(kFolder);
  flag("-n,--dry-run", options.dry_run, "only check the settings, print the order of the runs and the time they take");
  flag("--retry-failed", options.retry_failed, "run again what failed; what it left is kept beside");
  app.add_option("--repetition", options.repetition, "only that repetition")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  flag("--slurm", options.slurm, "write a job array, a task a repetition, and submit it; with -n print it");
  flag("--result", options.result, "print what the runs in the folder or table say; nothing is run");
  add_form(app, options.form);
  flag("--latex", options.latex, "print tables for LaTeX");
  add_examples(app, {"joulecast sweep plan.toml --dry-run", "sudo joulecast sweep plan.toml",
                     "joulecast sweep --result runs --csv"});
}

void define_restore_options(CLI::App& app, RestoreOptions& options) {
  app.add_flag("-n,--dry-run", options.dry_run, "only say what would be put back")->option_text(" ");
  app.add_flag("--json", options.json, "print JSON")->option_text(" ");
  add_examples(app, {"joulecast restore --dry-run", "sudo joulecast restore"});
}

// The program itself never runs them: verbs.cpp sends them elsewhere.
Action define_sweep(CLI::App& app) {
  auto options = std::make_shared<SweepCommandOptions>();
  define_sweep_options(app, *options);
  return [options](Output&) { return Outcome(); };
}

Action define_restore(CLI::App& app) {
  auto options = std::make_shared<RestoreOptions>();
  define_restore_options(app, *options);
  return [options](Output&) { return Outcome(); };
}

}  // namespace joulecast::cli
