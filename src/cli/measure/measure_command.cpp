// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/channel_series.h"
#include "analysis/summary.h"
#include "base/program_folder.h"
#include "base/whole_file.h"
#include "cli/measure/calibrated.h"
#include "cli/measure/commands.h"
#include "cli/measure/progress_line.h"
#include "cli/measure/sensor_choice.h"
#include "cli/measure/summary_text.h"
#include "cli/version.h"
#include "measure/run_head.h"
#include "measure/session.h"

namespace joulecast::cli {
namespace {

// Beside the program in a build tree, in share in an install tree; empty where it is not.
std::string hook_folder() {
  for (const char* place : {"/hook", "/../../share/joulecast/hook", "/../share/joulecast/hook"}) {
    std::error_code ignored;
    std::filesystem::path path = std::filesystem::canonical(program_folder() + place, ignored);
    if (!ignored && std::filesystem::exists(path / "sitecustomize.py", ignored)) return path.string();
  }
  return {};
}

// "run-{rank}.jcrun": ranks of a job are started by one command line, and each needs a file of its own.
std::string with_rank(std::string path) {
  constexpr std::string_view kRank = "{rank}";
  for (std::size_t at = path.find(kRank); at != std::string::npos; at = path.find(kRank)) {
    path.replace(at, kRank.size(), own_rank());
  }
  return path;
}

SessionOptions session_options(const MeasureOptions& options, const std::vector<std::string>& command) {
  SessionOptions out;
  out.command = command;
  out.sensors = sensor_options(options.sensors);
  out.output = options.output ? std::optional(with_rank(*options.output)) : std::nullopt;
  out.existing = options.force ? Existing::kReplace : Existing::kRefuse;
  out.repeats = options.repeats;
  out.warmups = options.warmups;
  out.baseline_s = options.baseline_s;
  out.keep_going = options.keep_going;
  out.hook_folder = options.no_hook ? std::string() : hook_folder();
  out.tool_version = std::string(version());
  return out;
}

bool measured_anything(const RunSummary& summary) {
  for (const DeviceSummary& device : summary.devices) {
    if (device.energy_j) return true;
  }
  return false;
}

// What people have to know beside the figures.
// `played`: readings came from a recording.
void print_doubts(const SessionResult& result, const RunSummary& summary, bool played, Output& messages) {
  for (const std::string& doubt : summary.doubts) messages.note(printable(doubt));
  const std::vector<Channel>& channels = result.recording.channels;
  if (!measured_anything(summary) && std::any_of(channels.begin(), channels.end(), tells_energy)) {
    messages.note(played ? "no reading fell into the run: the recording that was played is shorter"
                         : "too few readings of power or energy fell into the run for a total");
  } else if (!measured_anything(summary)) {
    messages.note("nothing here measures power or energy; time is all there is");
    for (const Missing& missing : result.missing) messages.note(printable(sentence(missing)));
  } else if (!result.missing.empty()) {
    const bool one = result.missing.size() == 1;
    messages.note(fmt::format("{} {} not here; joulecast doctor says what and why", result.missing.size(),
                              one ? "kind of reading is" : "kinds of readings are"));
  }
}

Failure nothing_measured(const SessionResult& result, const MeasureOptions& options) {
  constexpr int kInterrupted = 130;
  if (result.stopped) {
    const bool baseline = options.baseline_s > 0;
    return {
        {ErrorCode::kInvalidInput, "measure: stopped before a run that counts was over: nothing was measured"},
        baseline ? fmt::format("--baseline is {:g} s of idleness before the command begins", options.baseline_s) : "",
        result.code == 0 ? kInterrupted : result.code};
  }
  return {{ErrorCode::kInvalidInput, "measure: nothing was measured: a warm-up failed"},
          "without -w the first run counts",
          result.code == 0 ? kFailure : result.code};
}

std::string text_of(const SessionResult& result, const RunSummary& summary, const MeasureOptions& options) {
  if (options.json) return json_text(summary_json(result.recording, summary));
  if (options.csv) return summary_csv(result.recording, summary);
  return options.quiet ? "" : summary_text(result.recording, summary);
}

// To its file; where it has none, or that cannot be written, among the messages.
Result<void> write_summary(const SessionResult& result, const RunSummary& summary, const MeasureOptions& options,
                           Output& messages) {
  const std::string text = text_of(result, summary, options);
  Result<void> written;
  if (options.summary) written = replace_file(*options.summary, text);
  if (!options.summary || !written) messages.write(text);
  return written;
}

// Among the messages: standard output is the command's.
Outcome report(const SessionResult& result, const MeasureOptions& options, Output& output) {
  Output messages(stderr, stderr);
  SummaryOptions choice;
  if (options.calibrated) {
    auto lines = stored_lines(result.recording);
    if (!lines) return tl::unexpected<Failure>(std::move(lines).error());
    choice.lines = *std::move(lines);
  }
  auto summary = summarize(result.recording, choice);
  const int failed = result.code == 0 ? kFailure : result.code;
  if (!summary && result.incomplete)
    return tl::unexpected<Failure>(Failure{*result.incomplete, "nothing was kept", failed});
  if (!summary) return tl::unexpected<Failure>(Error(summary.error()));
  for (std::string& note :
       options.calibrated ? calibration_notes(result.recording, *summary, choice.lines) : gain_notes(*summary)) {
    summary->doubts.push_back(std::move(note));
  }
  const Result<void> written = write_summary(result, *summary, options, options.json ? output : messages);
  if (!options.json && !options.csv && !options.quiet) {
    print_doubts(result, *summary, options.sensors.replay.has_value(), messages);
    if (result.runs < options.repeats) {
      messages.note(fmt::format("{} of {} runs: {}", result.runs, options.repeats,
                                result.stopped ? "the user stopped" : "one failed (-i goes on after it)"));
    }
  }
  if (!written) return tl::unexpected<Failure>(Failure{Error(written.error()), "the summary stands above", failed});
  if (result.incomplete) {
    return tl::unexpected<Failure>(Failure{*result.incomplete, "the recording has everything up to then", failed});
  }
  return messages.finish();
}

}  // namespace

Outcome measure_command(const MeasureOptions& options, const std::vector<std::string>& command, Output& output,
                        int& exit_code) {
  if (options.repeats == 0) return usage("measure: --repeat 0 measures nothing");
  SessionOptions session = session_options(options, command);
  ProgressLine line(options.progress);
  session.progress = [&](const Recorder& recorder, double seconds) { line.show(recorder, seconds); };
  session.heard = [&](const Recorder& recorder, const Event& event) { line.hear(recorder, event); };
  const auto result = joulecast::measure_command(session);
  line.clear();
  if (!result) {
    const bool invalid = result.error().code() == ErrorCode::kInvalidInput;
    const bool there = result.error().text().find("is there already") != std::string::npos;
    return tl::unexpected<Failure>(
        Failure{Error(result.error()), there ? "--force replaces it" : "", invalid ? kUsage : kFailure});
  }
  exit_code = result->code;
  if (result->not_started) {
    return tl::unexpected<Failure>(
        Failure{{ErrorCode::kNotFound, *result->not_started}, "the command was not started", result->code});
  }
  if (result->runs == 0) return tl::unexpected<Failure>(nothing_measured(*result, options));
  return report(*result, options, output);
}

}  // namespace joulecast::cli
