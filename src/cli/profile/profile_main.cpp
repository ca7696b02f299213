// SPDX-License-Identifier: Apache-2.0
// joulecast-profile: what `joulecast profile` becomes, which reads models and needs sensors and runners.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <vector>

#include "cli/profile/profile_commands.h"
#include "cli/program.h"

namespace joulecast::cli {
namespace {

// What was typed, for a job that measures the same.
std::vector<std::string> words_of(const CLI::App& app) {
  constexpr std::string_view kOurs[] = {"--slurm", "--sbatch", "--dry-run", "--json"};
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (std::count(std::begin(kOurs), std::end(kOurs), name) > 0 || option->count() == 0) continue;
    if (option->get_expected_max() == 0) {
      out.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) {
      if (!option->get_positional()) out.push_back(name);
      out.push_back(value);
    }
  }
  return out;
}

Action profile_action(CLI::App& app) {
  auto options = std::make_shared<ProfileOptions>();
  define_profile_options(app, *options);
  return [options, &app](Output& output) {
    options->words = words_of(app);
    return profile_command(*options, output);
  };
}

}  // namespace
}  // namespace joulecast::cli

int main(int argc, char** argv) {
  using namespace joulecast::cli;
  std::signal(SIGPIPE, SIG_IGN);
  const std::vector<std::string_view> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const Verb* shown = arguments.empty() || arguments.front() != "profile" ? nullptr : find_verb("profile");
  if (shown == nullptr) {
    fmt::print(stderr, "joulecast-profile: part of joulecast; use joulecast profile\n");
    return kUsage;
  }
  Output output(stdout, stderr);
  return run(Verb{shown->name, shown->summary, profile_action}, std::span(arguments).subspan(1), output);
}
