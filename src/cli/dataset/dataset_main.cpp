// SPDX-License-Identifier: Apache-2.0
// joulecast-dataset: what `joulecast` becomes for everything that needs a database.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/dataset/commands.h"
#include "cli/program.h"
#include "store/read_rows.h"

namespace joulecast::cli {
namespace {

Outcome run_subcommand(std::string_view name, const DatasetOptions& options, Output& output) {
  if (name == "import") return import_command(options, output);
  if (name == "list") return list_command(options, output);
  if (name == "show") return show_command(options, output);
  if (name == "export") return export_command(options, output);
  if (name == "merge") return merge_command(options, output);
  return check_command(options, output);
}

Action dataset(CLI::App& app) {
  auto options = std::make_shared<DatasetOptions>();
  define_dataset_options(app, *options);
  return [options, &app](Output& output) {
    return run_subcommand(app.get_subcommands().front()->get_name(), *options, output);
  };
}

Action evaluate(CLI::App& app) {
  return define_evaluate_with(app, read_rows);
}

// The same words for people as in `joulecast`, other actions.
Verb verb_here(const Verb& verb) {
  return {verb.name, verb.summary, verb.name == "dataset" ? dataset : evaluate};
}

}  // namespace
}  // namespace joulecast::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string_view> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const auto* verb = arguments.empty() ? nullptr : joulecast::cli::find_verb(arguments.front());
  if (verb == nullptr || (verb->name != "dataset" && verb->name != "evaluate")) {
    fmt::print(stderr, "joulecast-dataset: part of joulecast; use joulecast dataset\n");
    return joulecast::cli::kUsage;
  }
  joulecast::cli::Output output(stdout, stderr);
  return joulecast::cli::run(joulecast::cli::verb_here(*verb), std::span(arguments).subspan(1), output);
}
