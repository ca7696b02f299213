// SPDX-License-Identifier: Apache-2.0
#include "cli/program.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "cli/other_program.h"
#include "cli/version.h"
#include "gpu/names.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 80;
constexpr std::size_t kDescriptionColumn = 32;

std::string program_help() {
  std::string out =
      "joulecast predicts and measures time, power, energy and memory of deep\n"
      "learning on GPUs.\n\n"
      "Usage: joulecast VERB [OPTIONS]\n\nVerbs:\n";
  for (const Verb& verb : verbs()) out += fmt::format("  {:<16}{}\n", verb.name, verb.summary);
  out +=
      "\nOptions:\n"
      "  -h,--help     this text; after a verb, its options\n"
      "  --version     the program's version\n\n"
      "Examples:\n"
      "  joulecast inspect resnet50.onnx --batch 32\n"
      "  joulecast gpus a100\n\n"
      "Exit codes: 0 done, 1 failed, 2 the command makes no sense,\n"
      "3 done, but not all of it: some of several models or runs failed, or lines\n"
      "were not imported. Verbs that judge or learn say which rows they do not use.\n";
  return out;
}

Outcome unknown_verb(std::string_view name) {
  if (name.starts_with('-')) return usage(fmt::format("unknown option '{}'", name), "joulecast --help lists the verbs");
  std::vector<std::string_view> names;
  for (const Verb& verb : verbs()) names.push_back(verb.name);
  const std::string_view meant = nearest_name(name, names);
  return usage(fmt::format("unknown verb '{}'{}", name, meant.empty() ? "" : fmt::format("; did you mean {}?", meant)),
               "joulecast --help lists the verbs");
}

// CLI11 takes its arguments from the back of a vector.
Outcome parse(CLI::App& app, const Verb& verb, std::span<const std::string_view> arguments, bool& help) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    help = true;
  } catch (const CLI::ParseError& error) {
    return usage(fmt::format("{}: {}", verb.name, error.what()),
                 fmt::format("joulecast {} --help shows the options", verb.name));
  }
  return {};
}

// CLI11 lets descriptions run on beyond any width, and ends every group with empty lines, hidden ones too.
std::string help_text(const CLI::App& app) {
  std::string out;
  std::istringstream lines(app.help());
  bool empty_before = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() && std::exchange(empty_before, true)) continue;
    empty_before = line.empty();
    if (line.size() > kWidth) {
      const std::string description = line.substr(kDescriptionColumn);
      line.resize(kDescriptionColumn);
      line += wrapped(description, kWidth, kDescriptionColumn, kDescriptionColumn);
    }
    out += line + "\n";
  }
  return out;
}

bool asked_for(const CLI::App& app, const std::string& flag) {
  const CLI::Option* option = app.get_option_no_throw(flag);
  if (option != nullptr && option->count() > 0) return true;
  const auto subcommands = app.get_subcommands();
  return std::any_of(subcommands.begin(), subcommands.end(),
                     [&](const CLI::App* subcommand) { return asked_for(*subcommand, flag); });
}

// Where parsing stopped halfway, what it did not reach counts too, up to what is another command's.
bool asks_json(const CLI::App& app, bool parsed, std::span<const std::string_view> arguments) {
  const auto own = std::find(arguments.begin(), arguments.end(), "--");
  return asked_for(app, "--json") || (!parsed && std::find(arguments.begin(), own, "--json") != own);
}

Outcome run_verb(const Verb& verb, std::span<const std::string_view> arguments, Output& output) {
  CLI::App app;
  const Action action = define(verb, app);
  bool help = false;
  Outcome parsed = parse(app, verb, arguments, help);
  if (!help && asks_json(app, parsed.has_value(), arguments)) {
    if (verb.json_among_messages) output.join_results_to_messages();
    output.answer_in_json();
  }
  if (!parsed) return parsed;
  if (!help) return action(output);
  output.write(help_text(app));
  return {};
}

Outcome run_here_or_elsewhere(const Verb& verb, std::span<const std::string_view> arguments, Output& output) {
  const auto own = arguments.subspan(1);
  const std::string_view elsewhere = verb.elsewhere == nullptr ? std::string_view() : verb.elsewhere(own);
  if (!elsewhere.empty()) return run_elsewhere(elsewhere, arguments);
  return run_verb(verb, own, output);
}

// "help measure", as "measure --help".
Outcome help_of(std::string_view name, Output& output) {
  const Verb* verb = find_verb(name);
  if (verb == nullptr) return unknown_verb(name);
  return run_here_or_elsewhere(*verb, std::array{name, std::string_view("--help")}, output);
}

Outcome dispatch(std::span<const std::string_view> arguments, Output& output) {
  if (arguments.empty()) return usage("no verb", "joulecast --help lists them");
  const std::string_view first = arguments.front();
  if (first == "help" && arguments.size() > 2) return usage("help: of one verb", "joulecast help measure");
  if (first == "help" && arguments.size() == 2) return help_of(arguments[1], output);
  if (first == "--help" || first == "-h" || first == "help") {
    output.write(program_help());
    return {};
  }
  if (first == "--version") {
    output.write(version_text());
    return {};
  }
  const Verb* verb = find_verb(first);
  if (verb == nullptr) return unknown_verb(first);
  return run_here_or_elsewhere(*verb, arguments, output);
}

int end(Outcome outcome, Output& output) {
  if (const Outcome written = output.finish(); outcome && !written) outcome = written;
  if (outcome) return kSuccess;
  // Whoever closed the pipe has seen enough (joulecast gpus | head) and needs no message.
  if (!output.pipe_closed()) output.fail(outcome.error());
  return outcome.error().exit_code;
}

}  // namespace

Action define(const Verb& verb, CLI::App& app) {
  app.name(fmt::format("joulecast {}", verb.name));
  app.description(fmt::format("joulecast {}: {}\n", verb.name, verb.summary));
  app.set_help_flag("-h,--help", "this text");
  app.get_formatter()->column_width(kDescriptionColumn);
  app.get_formatter()->label("Positionals", "Arguments");
  Action action = verb.define(app);
  refuse_empty_names(app);
  take_one_word_each(app);
  return action;
}

int run(std::span<const std::string_view> arguments, Output& output) {
  return end(dispatch(arguments, output), output);
}

int run(const Verb& verb, std::span<const std::string_view> arguments, Output& output) {
  return end(run_verb(verb, arguments, output), output);
}

}  // namespace joulecast::cli
