// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/read_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/measure/calibrated.h"
#include "cli/output.h"
#include "recording/import/gpyjoules.h"
#include "recording/import/import.h"

namespace joulecast::cli {
namespace {

// Its first line, of cells.
bool looks_like_csv(const std::string& path) {
  constexpr std::string_view kRecording = "JCRUN";
  std::ifstream file(path, std::ios::binary);
  std::string line(4096, '\0');
  file.read(line.data(), static_cast<std::streamsize>(line.size()));
  line.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  line.resize(std::min(line.find_first_of("\r\n"), line.size()));
  return !line.starts_with(kRecording) && line.find(',') != std::string::npos && line.find('\0') == std::string::npos;
}

std::string hint_for(const std::string& path) {
  std::error_code ignored;
  if (looks_like_csv(path)) {
    return "of CSV, logs are read of nvidia-smi --query-gpu=timestamp,index,power.draw,... --format=csv";
  }
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
  for (std::string& note :
       options.calibrated ? calibration_notes(run.recording, run.summary, run.lines) : gain_notes(run.summary)) {
    run.summary.doubts.push_back(std::move(note));
  }
  return run;
}

class Reading {
 public:
  explicit Reading(const ReadOptions& options) : options_(options) {}

  Outcome add(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_directory(path, ignored) ? add_tree(path) : add_one(path);
  }
  ReadRuns done() && { return std::move(out_); }

 private:
  Outcome add_tree(const std::string& folder) {
    const auto tree = find_gpyjoules_runs(folder);
    if (!tree) return tl::unexpected<Failure>(Error(tree.error()));
    if (tree->runs.empty() || tree->runs.front().path == folder) return add_one(folder);
    out_.left_out.insert(out_.left_out.end(), tree->unread.begin(), tree->unread.end());
    std::optional<Failure> first;
    const std::size_t before = out_.runs.size();
    for (const GpyjoulesRun& run : tree->runs) {
      auto one = read(run.path, options_);
      if (one) {
        out_.runs.push_back(*std::move(one));
        continue;
      }
      out_.left_out.push_back(one.error().error.text());
      if (!first) first = std::move(one).error();
    }
    if (first && out_.runs.size() == before) return tl::unexpected<Failure>(*std::move(first));
    return {};
  }
  Outcome add_one(const std::string& path) {
    auto one = read(path, options_);
    if (!one) return tl::unexpected<Failure>(std::move(one).error());
    out_.runs.push_back(*std::move(one));
    return {};
  }

  const ReadOptions& options_;
  ReadRuns out_;
};

}  // namespace

tl::expected<ReadRuns, Failure> read_runs(const std::vector<std::string>& paths, const ReadOptions& options) {
  Reading reading(options);
  for (const std::string& path : paths) {
    if (auto added = reading.add(path); !added) return tl::unexpected<Failure>(std::move(added).error());
  }
  return std::move(reading).done();
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
