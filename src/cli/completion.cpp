// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <set>

#include "cli/options.h"
#include "cli/program.h"
#include "cli/verbs.h"
#include "joulecast/gpu.h"

namespace joulecast::cli {
namespace {

std::vector<std::string> gpu_ids() {
  std::vector<std::string> out;
  for (const Gpu& gpu : Catalogue::shipped().all()) out.emplace_back(gpu.id);
  return out;
}

CompletedOption completed(const CLI::Option& option) {
  CompletedOption out{option.get_snames(), option.get_lnames(), option.get_description(), Values::kNone, {}};
  const std::string type = option.get_type_name();
  if (option.get_items_expected_max() == 0) return out;
  out.values = Values::kAnything;
  if (type == kFile || type == kModel) out.values = Values::kFiles;
  if (type == kGpu || type.find('|') != std::string::npos) {
    out.values = Values::kWords;
    out.words = type == kGpu ? gpu_ids() : CLI::detail::split(type, '|');
  }
  return out;
}

// Every way to write the option, dashes included.
std::vector<std::string> spellings(const CompletedOption& option) {
  std::vector<std::string> out;
  for (const std::string& name : option.short_names) out.push_back("-" + name);
  for (const std::string& name : option.long_names) out.push_back("--" + name);
  return out;
}

bool is_positional(const CompletedOption& option) {
  return option.short_names.empty() && option.long_names.empty();
}

std::string joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, " "));
}

// Within single quotes of a shell.
std::string shell_text(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out;
}

// The command that fills COMPREPLY with the values of an option.
std::string bash_reply(const CompletedOption& option) {
  switch (option.values) {
    case Values::kWords:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", joined(option.words));
    case Values::kFiles:
      return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Values::kWordThenFiles:
      return fmt::format(
          "if [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W '{}' -- \"$cur\")); else "
          "COMPREPLY=($(compgen -f -- \"$cur\")); fi",
          joined(option.words));
    case Values::kNone:
    case Values::kAnything:
      break;
  }
  return "COMPREPLY=()";
}

std::string bash_verb(const CompletedVerb& verb) {
  std::string values;
  std::string names;
  std::string positional = "    COMPREPLY=()\n";
  for (const CompletedOption& option : verb.options) {
    if (is_positional(option)) {
      positional = fmt::format("    {}\n", bash_reply(option));
      continue;
    }
    names += " " + joined(spellings(option));
    if (option.values == Values::kNone) continue;
    values += fmt::format("    {}) {}; return ;;\n", fmt::join(spellings(option), "|"), bash_reply(option));
  }
  std::string out = fmt::format("_joulecast_{}() {{\n", verb.name);
  if (!values.empty()) out += "  case \"$prev\" in\n" + values + "  esac\n";
  return out +
         fmt::format(
             "  if [[ \"$cur\" == -* ]]; then\n    COMPREPLY=($(compgen -W '{}' -- \"$cur\"))\n  else\n{}  fi\n}}\n",
             names.substr(1), positional);
}

std::string zsh_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':') out.push_back('\\');
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string zsh_values(const CompletedOption& option) {
  switch (option.values) {
    case Values::kNone:
      return {};
    case Values::kWords:
      return fmt::format(":value:({})", joined(option.words));
    case Values::kWordThenFiles:
      return fmt::format(":subcommand:({})' \\\n      '*:file:_files", joined(option.words));
    case Values::kFiles:
      return ":file:_files";
    case Values::kAnything:
      break;
  }
  return ":value:";
}

std::string zsh_verb(const CompletedVerb& verb) {
  std::string out = fmt::format("    {}) _arguments", verb.name);
  for (const CompletedOption& option : verb.options) {
    if (is_positional(option)) {
      out += fmt::format(" \\\n      '1{}'", zsh_values(option));
      continue;
    }
    for (const std::string& name : spellings(option)) {
      out += fmt::format(" \\\n      '*{}[{}]{}'", name, zsh_text(option.description), zsh_values(option));
    }
  }
  return out + " ;;\n";
}

std::string fish_option(const std::string& verb, const CompletedOption& option) {
  std::string out = fmt::format("complete -c joulecast -n '__fish_seen_subcommand_from {}'", verb);
  for (const std::string& name : option.short_names) out += " -s " + name;
  for (const std::string& name : option.long_names) out += " -l " + name;
  const bool named = !is_positional(option);
  if (named && option.values != Values::kNone) out += " -r";
  if (option.values == Values::kFiles || option.values == Values::kWordThenFiles) out += " -F";
  if (option.values == Values::kWordThenFiles) out += fmt::format(" -a '{}'", joined(option.words));
  if (option.values == Values::kWords) out += fmt::format(" -f -a '{}'", joined(option.words));
  if (option.values == Values::kAnything) out += " -f";
  return out + fmt::format(" -d '{}'\n", shell_text(option.description));
}

// Subcommands are the verb's first word; their options are offered together.
void add_subcommands(const CLI::App& app, std::vector<CompletedOption>& options) {
  CompletedOption names;
  names.values = Values::kWordThenFiles;
  std::set<std::string> seen;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.words.push_back(subcommand->get_name());
    for (const CLI::Option* option : subcommand->get_options()) {
      CompletedOption entry = completed(*option);
      if (!is_positional(entry) && seen.insert(option->get_name()).second) options.push_back(std::move(entry));
    }
  }
  if (!names.words.empty()) options.push_back(std::move(names));
}

}  // namespace

std::vector<CompletedVerb> completed_verbs() {
  std::vector<CompletedVerb> out;
  for (const Verb& verb : verbs()) {
    CLI::App app;
    define(verb, app);
    CompletedVerb& entry = out.emplace_back();
    entry.name = verb.name;
    entry.summary = verb.summary;
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_group().empty()) entry.options.push_back(completed(*option));
    }
    add_subcommands(app, entry.options);
  }
  return out;
}

std::string bash_completion(const std::vector<CompletedVerb>& verbs) {
  std::string out = "# joulecast for bash: source <(joulecast completion bash)\n";
  std::string names;
  std::string cases;
  for (const CompletedVerb& verb : verbs) {
    out += bash_verb(verb);
    names += verb.name + " ";
    cases += fmt::format("    {0}) _joulecast_{0} ;;\n", verb.name);
  }
  return out +
         fmt::format(
             "_joulecast() {{\n  local cur=\"${{COMP_WORDS[COMP_CWORD]}}\" prev=\"${{COMP_WORDS[COMP_CWORD-1]}}\"\n"
             "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
             "    COMPREPLY=($(compgen -W '{}--help --version' -- \"$cur\"))\n    return\n  fi\n"
             "  COMPREPLY=()\n  case \"${{COMP_WORDS[1]}}\" in\n{}  esac\n}}\n"
             "complete -o filenames -F _joulecast joulecast\n",
             names, cases);
}

std::string zsh_completion(const std::vector<CompletedVerb>& verbs) {
  std::string out =
      "#compdef joulecast\n# joulecast for zsh: source <(joulecast completion zsh), after compinit\n"
      "_joulecast() {\n  local -a verbs\n  verbs=(\n";
  for (const CompletedVerb& verb : verbs) out += fmt::format("    '{}:{}'\n", verb.name, zsh_text(verb.summary));
  out +=
      "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n"
      "  shift words\n  (( CURRENT-- ))\n  case $words[1] in\n";
  for (const CompletedVerb& verb : verbs) out += zsh_verb(verb);
  return out + "  esac\n}\ncompdef _joulecast joulecast\n";
}

std::string fish_completion(const std::vector<CompletedVerb>& verbs) {
  std::string out = "# joulecast for fish: joulecast completion fish | source\ncomplete -c joulecast -f\n";
  for (const CompletedVerb& verb : verbs) {
    out += fmt::format("complete -c joulecast -n __fish_use_subcommand -a {} -d '{}'\n", verb.name,
                       shell_text(verb.summary));
  }
  for (const CompletedVerb& verb : verbs) {
    for (const CompletedOption& option : verb.options) out += fish_option(verb.name, option);
  }
  return out;
}

}  // namespace joulecast::cli
