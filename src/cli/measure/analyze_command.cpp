// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/ranks.h"
#include "analysis/summary.h"
#include "cli/measure/analyze_parts.h"
#include "cli/measure/commands.h"
#include "cli/measure/read_run.h"
#include "cli/measure/summary_text.h"
#include "cli/numbers.h"
#include "cli/table.h"

namespace joulecast::cli {
namespace {

Json ranks_json(const RankSum& sum) {
  return {{"ranks", sum.ranks},
          {"time_s", json_number(sum.time_s)},
          {"energy_j", sum.energy_j ? json_number(*sum.energy_j) : Json(nullptr)},
          {"gpus", sum.gpus},
          {"warnings", sum.doubts}};
}

std::string ranks_text(const RankSum& sum) {
  std::string out = fmt::format("{} ranks of one job: {}, {} GPUs", sum.ranks, with_prefix(sum.time_s, "s"), sum.gpus);
  if (sum.energy_j) {
    out += fmt::format(", {} ({})", with_prefix(*sum.energy_j, "J"), with_prefix(*sum.energy_j / sum.time_s, "W"));
  }
  return out + "\n";
}

bool asks_iterations(const AnalyzeOptions& options) {
  return options.iterations > 0 || !options.per_iteration.empty();
}

// Notes go to `notes`.
Outcome print(const ReadRun& run, const AnalyzeOptions& options, std::vector<std::string>& notes, Output& output) {
  output.write(summary_text(run.recording, run.summary));
  output.write(method_text(run.summary));
  if (!options.phase.empty()) output.write(phase_list(run.recording, run.summary, options.phase) + "\n");
  if (options.sampling) output.write(sampling_text(run.recording) + "\n");
  if (options.steady) {
    const SteadyRuns steady = steady_runs(run, options.idle_power_w);
    output.write(steady_text(steady));
    notes.insert(notes.end(), steady.notes.begin(), steady.notes.end());
  }
  if (asks_iterations(options)) {
    const auto accounts = iteration_accounts(run, options);
    if (!accounts) return tl::unexpected<Failure>(Failure(accounts.error()));
    output.write(iterations_text(*accounts));
  }
  notes.insert(notes.end(), run.summary.doubts.begin(), run.summary.doubts.end());
  return {};
}

tl::expected<Json, Failure> run_json(const ReadRun& run, const AnalyzeOptions& options) {
  Json out = summary_json(run.recording, run.summary);
  out["file"] = run.path;
  out["calibrated"] = options.calibrated;
  if (options.steady) out["steady"] = steady_json(steady_runs(run, options.idle_power_w));
  if (asks_iterations(options)) {
    const auto accounts = iteration_accounts(run, options);
    if (!accounts) return tl::unexpected<Failure>(Failure(accounts.error()));
    out["per_iteration"] = iterations_json(*accounts);
  }
  return out;
}

Outcome check_phase(const std::vector<ReadRun>& runs, const std::string& phase) {
  std::set<std::string> names;
  for (const ReadRun& run : runs) {
    for (const Phase& one : phases_of(run.recording).phases) names.insert(one.name);
  }
  if (phase.empty() || names.contains(phase)) return {};
  return usage(fmt::format("analyze: no phase '{}' in the recording", phase),
               names.empty() ? "it has no phases" : fmt::format("it has {}", fmt::join(names, ", ")));
}

Outcome print_json(const ReadRuns& read, const std::optional<RankSum>& sum, const AnalyzeOptions& options,
                   Output& output) {
  Json all = Json::array();
  for (const ReadRun& run : read.runs) {
    auto one = run_json(run, options);
    if (!one) return tl::unexpected<Failure>(std::move(one).error());
    all.push_back(*std::move(one));
  }
  Json out{{"schema", "joulecast.analysis/1"}, {"runs", std::move(all)}, {"left_out", read.left_out}};
  if (sum) out["job"] = ranks_json(*sum);
  output.write(json_text(out));
  return {};
}

struct RunNotes {
  std::string path;
  std::vector<std::string> notes;
};

// What several runs have to say is said once.
std::vector<std::string> notes_of_all(const std::vector<RunNotes>& runs) {
  std::vector<std::string> out;
  if (runs.size() == 1) return runs.front().notes;
  std::map<std::string, std::vector<std::string>> paths;  // by what is said
  std::vector<std::string> order;
  for (const RunNotes& run : runs) {
    for (const std::string& note : run.notes) {
      if (paths[note].empty()) order.push_back(note);
      if (paths[note].empty() || paths[note].back() != run.path) paths[note].push_back(run.path);
    }
  }
  for (const std::string& note : order) {
    const std::size_t count = paths[note].size();
    out.push_back(
        count == runs.size() ? fmt::format("all {} runs: {}", count, note)
        : count == 1         ? fmt::format("{}: {}", paths[note].front(), note)
                     : fmt::format("{} and {} more of {} runs: {}", paths[note].front(), count - 1, runs.size(), note));
  }
  return out;
}

Outcome print_text(const std::vector<ReadRun>& runs, const std::optional<RankSum>& sum, const AnalyzeOptions& options,
                   Output& output) {
  std::vector<RunNotes> notes;
  for (const ReadRun& run : runs) {
    if (runs.size() > 1) output.write(fmt::format("{}:\n", printable(run.path)));
    notes.push_back({run.path, {}});
    JC_RETURN_IF_FAILURE(print(run, options, notes.back().notes, output));
  }
  for (const std::string& note : notes_of_all(notes)) output.note(printable(note));
  if (!sum) return {};
  output.write(ranks_text(*sum));
  for (const std::string& doubt : sum->doubts) output.note(printable(doubt));
  return {};
}

}  // namespace

Outcome analyze_command(const AnalyzeOptions& options, Output& output) {
  if (options.output != "-") JC_RETURN_IF_FAILURE(refuse_over_input("analyze", options.output, options.runs));
  const auto read = read_runs(options.runs, {options.idle_power_w, options.calibrated, options.expected_interval_ms});
  if (!read) return tl::unexpected<Failure>(read.error());
  const std::vector<ReadRun>& runs = read->runs;
  for (const std::string& why : read->left_out) output.note("left out: " + printable(why));
  for (const std::string& remark : named_twice(paths_of(runs))) output.note(remark);
  JC_RETURN_IF_FAILURE(check_phase(runs, options.phase));
  JC_RETURN_IF_FAILURE(check_phase(runs, options.per_iteration));
  if (!options.fit_calibration.empty()) return fit_calibration_command(runs, options, output);
  if (options.curves) {
    JC_RETURN_IF_FAILURE(write_curves(runs, options, output));
    if (options.output == "-") return {};
  }
  const auto sum = sum_of_ranks(rank_runs(runs));
  if (const auto why = rank_named_twice(rank_runs(runs))) output.note(printable(*why));
  return options.json ? print_json(*read, sum, options, output) : print_text(runs, sum, options, output);
}

}  // namespace joulecast::cli
