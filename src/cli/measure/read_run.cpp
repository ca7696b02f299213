// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/read_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "cli/measure/calibrated.h"
#include "cli/output.h"
#include "recording/import/gpyjoules.h"
#include "recording/import/import.h"

namespace joulecast::cli {
namespace {

std::string hint_for(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path + "/sweep.json", ignored)) {
    return "a folder of a sweep: joulecast sweep --result, or joulecast report";
  }
  return "recordings come from joulecast measure -o";
}

SummaryOptions summary_options(const ReadOptions& options, const std::vector<AppliedLine>& lines) {
  constexpr double kMilli = 1e-3;
  SummaryOptions out{options.idle_power_w, lines, {}};
  if (options.expected_interval_ms) out.expected_interval = Seconds{*options.expected_interval_ms * kMilli};
  return out;
}

tl::expected<ReadRun, Failure> read(const std::string& path, const ReadOptions& options) {
  auto recording = load_any(path);
  if (!recording) {
    return tl::unexpected<Failure>(Failure{std::move(recording).error(), hint_for(path)});
  }
  ReadRun run{path, *std::move(recording), {}, {}};
  if (options.calibrated) {
    auto lines = stored_lines(run.recording);
    if (!lines) return tl::unexpected<Failure>(std::move(lines).error());
    run.lines = *std::move(lines);
  }
  auto summary = summarize(run.recording, summary_options(options, run.lines));
  if (!summary) return tl::unexpected<Failure>(std::move(summary).error().in(path));
  run.summary = *std::move(summary);
  if (options.calibrated) {
    for (std::string& note : calibration_notes(run.recording, run.summary, run.lines))
      run.summary.doubts.push_back(std::move(note));
  }
  return run;
}

// A tree of another program's runs is all of them.
tl::expected<std::vector<std::string>, Failure> expanded(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      out.push_back(path);
      continue;
    }
    const auto runs = find_gpyjoules_runs(path);
    if (!runs) return tl::unexpected<Failure>(Error(runs.error()));
    // Of none load_any() says so.
    if (runs->empty()) out.push_back(path);
    for (const GpyjoulesRun& run : *runs) out.push_back(run.path);
  }
  return out;
}

}  // namespace

tl::expected<std::vector<ReadRun>, Failure> read_runs(const std::vector<std::string>& paths,
                                                      const ReadOptions& options) {
  const auto all = expanded(paths);
  if (!all) return tl::unexpected<Failure>(Failure(all.error()));
  std::vector<ReadRun> out;
  out.reserve(all->size());
  for (const std::string& path : *all) {
    auto one = read(path, options);
    if (!one) return tl::unexpected<Failure>(std::move(one).error());
    out.push_back(*std::move(one));
  }
  return out;
}

std::vector<std::string> paths_of(const std::vector<ReadRun>& runs) {
  std::vector<std::string> out;
  out.reserve(runs.size());
  for (const ReadRun& run : runs) out.push_back(run.path);
  return out;
}

std::vector<std::string> named_twice(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (auto path = paths.begin(); path != paths.end(); ++path) {
    std::error_code ignored;
    const auto same = std::find_if(paths.begin(), path, [&](const std::string& before) {
      return std::filesystem::equivalent(before, *path, ignored);
    });
    if (same != path)
      out.push_back(printable(fmt::format("{} is {} once more, and counts as another run", *path, *same)));
  }
  return out;
}

Outcome refuse_over_input(std::string_view verb, const std::string& output, const std::vector<std::string>& inputs) {
  std::error_code ignored;
  for (const std::string& input : inputs) {
    if (!input.empty() && std::filesystem::equivalent(input, output, ignored)) {
      return usage(fmt::format("{}: {} would be written over itself", verb, printable(output)), "-o another file");
    }
  }
  return {};
}

std::vector<RankRun> rank_runs(const std::vector<ReadRun>& runs) {
  std::vector<RankRun> out;
  out.reserve(runs.size());
  for (const ReadRun& run : runs) out.push_back({run.path, &run.recording, &run.summary});
  return out;
}

}  // namespace joulecast::cli
