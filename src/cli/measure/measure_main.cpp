// SPDX-License-Identifier: Apache-2.0
// joulecast-measure: what `joulecast` becomes for everything that needs sensors or recordings.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/measure/commands.h"
#include "cli/measure/sweep_commands.h"
#include "cli/program.h"

namespace joulecast::cli {
namespace {

// The command's exit code, where one was run and nothing of ours went wrong.
int measured_exit_code = kSuccess;

// Where the command begins, `--` may stand.
tl::expected<std::vector<std::string>, Failure> command_of(const CLI::App& app) {
  std::vector<std::string> words = app.remaining();
  const bool dashes = !words.empty() && words.front() == "--";
  if (!dashes && !words.empty() && words.front().starts_with('-')) {
    return usage(fmt::format("measure: unknown option '{}'", words.front()),
                 "joulecast measure --help shows the options");
  }
  if (dashes) words.erase(words.begin());
  if (words.empty()) return usage("measure: no command", "joulecast measure -- COMMAND [ARGUMENTS]");
  return words;
}

Action measure(CLI::App& app) {
  auto options = std::make_shared<MeasureOptions>();
  define_measure_options(app, *options);
  return [options, &app](Output& output) -> Outcome {
    auto command = command_of(app);
    if (!command) return tl::unexpected<Failure>(std::move(command).error());
    return measure_command(*options, *command, output, measured_exit_code);
  };
}

template <typename Options, void (*define)(CLI::App&, Options&), Outcome (*run)(const Options&, Output&)>
Action verb(CLI::App& app) {
  auto options = std::make_shared<Options>();
  define(app, *options);
  return [options](Output& output) { return run(*options, output); };
}

Action mark(CLI::App& app) {
  auto options = std::make_shared<MarkOptions>();
  define_mark_options(app, *options);
  return [options](Output&) { return mark_command(*options); };
}

struct Own {
  std::string_view name;
  Action (*define)(CLI::App&);
  bool json_among_messages = false;
};
constexpr std::array kOwn{
    Own{"measure", measure, true},  // standard output is the command's
    Own{"analyze", verb<AnalyzeOptions, define_analyze_options, analyze_command>},
    Own{"export", verb<ExportRunOptions, define_export_options, export_run_command>},
    Own{"report", verb<ReportOptions, define_report_options, report_command>},
    Own{"watch", verb<WatchOptions, define_watch_options, watch_command>},
    Own{"doctor", verb<DoctorOptions, define_doctor_options, doctor_command>},
    Own{"mark", mark},
    Own{"sweep", verb<SweepCommandOptions, define_sweep_options, sweep_command>},
    Own{"restore", verb<RestoreOptions, define_restore_options, restore_command>},
};

// The same words for people as in `joulecast`, other actions.
const Own* find_own(std::string_view name) {
  const auto at = std::find_if(kOwn.begin(), kOwn.end(), [&](const Own& own) { return own.name == name; });
  return at == kOwn.end() ? nullptr : &*at;
}

}  // namespace
}  // namespace joulecast::cli

int main(int argc, char** argv) {
  using namespace joulecast::cli;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error of write(), as a full disk is
  const std::vector<std::string_view> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  const Verb* shown = arguments.empty() ? nullptr : find_verb(arguments.front());
  const Own* own = arguments.empty() ? nullptr : find_own(arguments.front());
  if (shown == nullptr || own == nullptr) {
    fmt::print(stderr, "joulecast-measure: part of joulecast; use joulecast measure\n");
    return kUsage;
  }
  Output output(stdout, stderr);
  const Verb verb{shown->name, shown->summary, own->define, nullptr, own->json_among_messages};
  const int code = run(verb, std::span(arguments).subspan(1), output);
  return code == kSuccess ? measured_exit_code : code;
}
