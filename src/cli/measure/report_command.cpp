// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/charts.h"
#include "cli/measure/commands.h"
#include "cli/measure/read_run.h"
#include "cli/version.h"
#include "measure/run_head.h"
#include "measure/sweep_load.h"
#include "power/sensor.h"
#include "report/page.h"

namespace joulecast::cli {
namespace {

bool to_standard_output(const ReportOptions& options) {
  return !options.output || *options.output == "-";
}

Outcome check_place(const ReportOptions& options) {
  if (to_standard_output(options)) {
    if (::isatty(STDOUT_FILENO) == 1) return usage("report: a page is nothing for a terminal", "-o report.html");
    return {};
  }
  JC_RETURN_IF_FAILURE(refuse_over_input("report", *options.output, options.runs));
  std::error_code ignored;
  if (options.force || !std::filesystem::exists(*options.output, ignored)) return {};
  return usage(fmt::format("report: {} is there already", *options.output), "--force replaces it");
}

struct Named {
  std::vector<std::string> runs;
  std::vector<report::SweepView> sweeps;
};

// A folder is a sweep's, or one of another program's recordings.
tl::expected<Named, Failure> sort_out(const std::vector<std::string>& paths) {
  Named out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      out.runs.push_back(path);
      continue;
    }
    auto loaded = load_any_sweep(path);
    if (!loaded && loaded.error().code() == ErrorCode::kNotFound) {
      out.runs.push_back(path);
      continue;
    }
    if (!loaded) return tl::unexpected<Failure>(std::move(loaded).error().in(path));
    auto groups = judge_sweep(loaded->runs);
    if (!groups) return tl::unexpected<Failure>(std::move(groups).error().in(path));
    if (auto parameters = compare_parameters(loaded->runs); parameters && *parameters) {
      groups->push_back(**std::move(parameters));
    }
    out.sweeps.push_back({path, *std::move(loaded), *std::move(groups)});
  }
  return out;
}

std::string made(const std::vector<ReadRun>& runs, const std::vector<report::SweepView>& sweeps,
                 std::optional<std::string> draw) {
  std::vector<std::unique_ptr<report::RunView>> views;
  report::PageContent content;
  for (const ReadRun& run : runs) {
    views.push_back(std::make_unique<report::RunView>(run.path, run.recording, run.summary));
    content.runs.push_back(views.back().get());
  }
  for (const report::SweepView& sweep : sweeps) content.sweeps.push_back(&sweep);
  content.job = sum_of_ranks(rank_runs(runs));
  return report::page(content, {"joulecast " + std::string(version()), iso_utc(utc_now()), std::move(draw)});
}

}  // namespace

Outcome report_command(const ReportOptions& options, Output& output) {
  JC_RETURN_IF_FAILURE(check_place(options));
  std::optional<std::string> draw = options.no_charts ? std::nullopt : drawing_script();
  if (!draw && !options.no_charts) return tl::unexpected<Failure>(no_drawing_script());
  const auto named = sort_out(options.runs);
  if (!named) return tl::unexpected<Failure>(Failure(named.error()));
  auto read = read_runs(named->runs);
  if (!read) return tl::unexpected<Failure>(std::move(read).error());
  for (const std::string& why : read->left_out) output.note("left out: " + printable(why));
  for (const std::string& remark : named_twice(options.runs)) output.note(remark);
  if (const auto why = rank_named_twice(rank_runs(read->runs))) output.note(printable(*why));
  const std::string html = made(read->runs, named->sweeps, std::move(draw));
  if (!to_standard_output(options)) return write_page(*options.output, html);
  output.write(html);
  return {};
}

}  // namespace joulecast::cli
