// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/program_folder.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/profile/profile_commands.h"
#include "cli/version.h"
#include "measure/child.h"
#include "profile/campaign.h"

namespace joulecast::cli {
namespace {

// A large network's training step takes minutes to compile.
constexpr Seconds kPatienceOfCompilers{900};

// Set by signals: the window at hand is finished, a second one ends us at once. Nothing is lost either way.
std::atomic<int> stops = 0;
std::atomic<int> stopped_by = 0;  // the first of them

void ask_to_stop(int signal) {
  if (stops == 0) stopped_by = signal;
  // A terminal that is closed may say so twice, by the kernel and by the shell.
  if (++stops > 1 && signal != SIGHUP) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
}

// On a terminal the line is written over; elsewhere one line a case would be too much, and none too little.
class Progress {
 public:
  void show(const profile::CampaignProgress& now) {
    constexpr double kSeldom = 30;
    if (!terminal_ && now.done > 0 && now.elapsed_s - last_ < kSeldom) return;
    last_ = now.elapsed_s;
    const std::string left = now.remaining_s ? fmt::format(", about {} left", duration_text(*now.remaining_s)) : "";
    const std::string failed = now.failed > 0 ? fmt::format(", {} failed", now.failed) : "";
    std::string line = fmt::format("{} of {}{}{}: {}", now.done, now.total, failed, left, printable(now.now));
    constexpr std::size_t kWidth = 79;
    if (line.size() > kWidth) line.resize(kWidth);
    put(fmt::format("{}{}{}", terminal_ ? "\r" : "", line, terminal_ ? "\033[K" : "\n"));
  }
  void clear() const {
    if (terminal_) put("\r\033[K");
  }

 private:
  // To a terminal that is gone too, which fmt::print() would throw for.
  static void put(const std::string& text) { (void)std::fputs(text.c_str(), stderr); }

  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  double last_ = 0;
};

std::string runner_name(const std::string& runner) {
  return "joulecast-run-" + runner;
}

tl::expected<std::string, Failure> runner_program(const std::string& runner) {
  if (runner.find('/') != std::string::npos) {
    if (::access(runner.c_str(), X_OK) == 0) return runner;
    return usage(fmt::format("--runner: {} cannot be run", printable(runner)),
                 "torch, python-torch, onnxruntime, or the path of a runner");
  }
  const std::string name = runner_name(runner);
  const std::string own = program_folder();
  for (const char* place : {"", "/../libexec/joulecast", "/../runner"}) {
    std::string path = fmt::format("{}{}/{}", own, place, name);
    if (::access(path.c_str(), X_OK) == 0) return path;
  }
  const std::string hint =
      runner == "torch"
          ? "pip install torch, then cmake -S src/profile/runners/torch -B build/runner and cmake --build build/runner"
          : "torch, python-torch, onnxruntime, or the path of a runner";
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kNotFound, fmt::format("no runner '{}' here", printable(runner))}, hint});
}

// A shard has its own in the campaign's.
std::string folder_of(const ProfileOptions& options) {
  const auto shard = profile::parse_shard(options.shard);
  return shard ? profile::shard_folder(options.output, *shard) : options.output;
}

// "cpu" is the processor; anything else is a GPU, and the runner's first among those that are visible.
tl::expected<profile::CampaignOptions, Failure> campaign_options(const ProfileOptions& options) {
  profile::CampaignOptions out;
  auto runner = runner_program(options.runner);
  if (runner) {
    out.runner = {std::move(*runner)};
  } else if (options.dry_run && runner.error().error.code() == ErrorCode::kNotFound) {
    out.runner = {runner_name(options.runner)};  // only to be compared
  } else {
    return tl::unexpected(std::move(runner).error());
  }
  out.folder = folder_of(options);
  out.device = options.gpu == "cpu" ? "cpu" : "cuda:0";
  out.gpu = options.name.empty() && options.gpu == "cpu" ? options.gpu : options.name;
  auto catalogue = load_catalogue(options.gpu_files);
  if (!catalogue) return tl::unexpected<Failure>(std::move(catalogue).error());
  out.name_of = [catalogue = std::make_shared<Catalogue>(std::move(*catalogue)),
                 asked = options.gpu](const auto& label) {
    const auto gpu = catalogue->find(label);
    return gpu ? std::string((*gpu)->id) : label.empty() ? asked : label;
  };
  if (options.gpu != "cpu") out.sensors.gpus = options.gpu;
  out.threads = options.threads;
  if (const auto shard = profile::parse_shard(options.shard)) out.shards = shard->count;
  out.runtime = options.runtime;
  out.protocol.target = options.target;
  if (options.window_s) out.protocol.window = Seconds{*options.window_s};
  if (options.span_s) out.span = Seconds{*options.span_s};
  if (options.runtime == name(Runtime::kPytorchCompiled)) out.protocol.patience = kPatienceOfCompilers;
  if (options.patience_s) out.protocol.patience = out.patience_at_start = Seconds{*options.patience_s};
  out.order.seed = options.seed;
  out.order.noisy = options.noisy;
  out.order.retry_failed = options.retry_failed;
  out.order.retry_shared = options.retry_shared;
  out.order.by_gain = !options.budget.empty();
  out.tool_version = version();
  out.stop = [] { return stops > 0; };
  return out;
}

// Of what is asked for: NaN is in no range.
bool in_range(const std::optional<double>& seconds, double shortest) {
  constexpr double kLongest = 1e6;
  return !seconds || (*seconds >= shortest && *seconds <= kLongest);
}

Outcome check_numbers(const ProfileOptions& options) {
  constexpr double kShortestWindow = 0.1, kShortest = 1e-3;
  if (!in_range(options.window_s, kShortestWindow)) {
    return usage("--window: from 100 ms on, under which time is not proportional to the work, to 1e6 s",
                 "--window 0.1, or more");
  }
  if (!in_range(options.patience_s, kShortest)) return usage("--patience: from 0.001 to 1e6 s", "--patience 120");
  if (!in_range(options.span_s, kShortest)) return usage("--span: from 0.001 to 1e6 s", "--span 2");
  const auto positive = [](double value) { return value > 0 && std::isfinite(value); };
  if (!positive(options.target) || !positive(options.noisy))
    return usage("--target and --noisy must be numbers above 0", "--target 0.01");
  if (!options.budget.empty() && !parse_seconds(options.budget)) {
    return usage(fmt::format("--for: '{}' is no time", printable(options.budget)), "90s, 30m or 1.5h");
  }
  if (!options.shard.empty() && !profile::parse_shard(options.shard))
    return usage(fmt::format("--shard: '{}' is no part", printable(options.shard)),
                 "--shard 3/8 is the third of eight");
  return {};
}

// What rows call the device. A processor has no name that the catalogue gives a GPU: rows would be that GPU's.
Outcome check_name(const ProfileOptions& options) {
  if (printable(options.name) != options.name)
    return usage(fmt::format("--name: '{}' has characters that no name has", printable(options.name)), "--name my-gpu");
  if (options.gpu != "cpu" || options.name.empty()) return {};
  const auto gpu = Catalogue::shipped().find(options.name);
  if (!gpu) return {};
  return usage(fmt::format("--name: {} is the GPU {} of the catalogue, and --gpu cpu measures the processor",
                           options.name, (*gpu)->name),
               "a name of your own, as --name my-cpu");
}

// Options that have no meaning beside each other, or none alone.
Outcome check_together(const ProfileOptions& options) {
  for (const std::string& option : options.sbatch) {
    if (printable(option) != option)
      return usage(fmt::format("--sbatch: '{}' is not one line of text", printable(option)), "one --sbatch an option");
  }
  if (options.slurm == 0 && !options.sbatch.empty()) return usage("--sbatch: only with --slurm", "--slurm 8");
  if (options.budget.empty() && !options.pack.empty()) return usage("--pack: only with --for", "--for 30m");
  if (options.validate && options.check_proportionality)
    return usage("--validate and --check-proportionality are two things to ask", "one after the other");
  if (options.slurm > 0 && !options.shard.empty())
    return usage("profile: --slurm and --shard: a job array has all of them", "--slurm 8");
  if (options.slurm > 0 && (options.validate || options.check_proportionality))
    return usage("--slurm: a job array measures", "--validate and --check-proportionality without --slurm");
  if (options.gpu.find(',') != std::string::npos || options.gpu == "all")
    return usage("--gpu: a campaign measures one GPU", "--shard 1/2 and --shard 2/2 with a GPU each, or --slurm");
  return {};
}

Json result_json(const profile::CampaignResult& result, const std::string& folder) {
  return {{"schema", "joulecast.profile/1"},
          {"folder", folder},
          {"measured", result.measured},
          {"failed", result.failed},
          {"reasons", result.reasons},
          {"failed_before", result.failed_before},
          {"left", result.left},
          {"noisy", result.noisy},
          {"shared", result.shared},
          {"stopped", result.stopped},
          {"rows", result.rows ? Json(folder + "/" + profile::kMeasurementsFile) : Json(nullptr)},
          {"runner_restarts", result.restarts}};
}

void print(const profile::CampaignResult& result, const ProfileOptions& options, Output& output) {
  if (options.json) return output.write(json_text(result_json(result, options.output)));
  const std::string noisy = result.noisy > 0 ? fmt::format(" ({} measured, but noisy)", result.noisy) : "";
  output.write(fmt::format("measured {}, failed {}, left {}{}{}\n", result.measured, result.failed, result.left, noisy,
                           result.stopped.empty() ? "" : ": " + result.stopped));
  if (result.shared > 0) {
    output.write(fmt::format("beside other work on the processor: {}; --retry-shared measures them again\n",
                             counted(result.shared, "case")));
  }
  if (result.failed_before > 0) {
    output.write(fmt::format("failed before and left alone: {}; --retry-failed measures them again\n",
                             counted(result.failed_before, "case")));
  }
  if (result.rows) output.write(fmt::format("rows: {}/{}\n", options.output, profile::kMeasurementsFile));
}

// What is measured, but only a runner that is ready says of what software the rows are.
Outcome check_rows(const profile::CampaignResult& result, const std::string& folder) {
  if (result.rows) return {};
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kTimeout, fmt::format("{}/{}: not written: the time was over before the runner was ready",
                                                printable(folder), profile::kMeasurementsFile)},
              "run it again, with a longer --for or without one",
              kIncomplete});
}

// The most frequent reasons.
Outcome check_failures(const profile::CampaignResult& result, const std::string& folder) {
  if (result.failed == 0) return {};
  constexpr std::size_t kShown = 3;
  std::vector<std::pair<std::size_t, std::string>> reasons;
  for (const auto& [reason, count] : result.reasons) reasons.emplace_back(count, printable(reason));
  std::stable_sort(reasons.begin(), reasons.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = fmt::format("{} of {} cases failed", result.failed, result.measured + result.failed);
  for (std::size_t i = 0; i < std::min(kShown, reasons.size()); ++i)
    text += fmt::format("{}{} x {}", i == 0 ? ": " : "; ", reasons[i].first, reasons[i].second);
  if (reasons.size() > kShown) text += fmt::format("; and {} other reasons", reasons.size() - kShown);
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kUnsupported, std::move(text)},
              fmt::format("each case's is in {}/cases.jsonl; --retry-failed measures them again", folder),
              kIncomplete});
}

// Models of a folder or a library that were passed over.
Outcome check_left_out(const profile::Plan& plan) {
  if (plan.left_out().empty()) return {};
  return tl::unexpected<Failure>(Failure{
      {ErrorCode::kUnsupported, fmt::format("{} could not be planned", counted(plan.left_out().size(), "model"))},
      "the others are; each one's reason stands above",
      kIncomplete});
}

// Of what the user stopped: its rows are written where a runner was ready, and the exit code says that there would have
// been more.
Outcome check_stopped(const profile::CampaignResult& result) {
  if (result.stopped.empty() || stopped_by == 0) return {};
  return tl::unexpected<Failure>(
      Failure{{ErrorCode::kDevice, fmt::format("stopped; {} left to measure{}", counted(result.left, "case"),
                                               result.rows ? "" : ", and measurements.csv is not written")},
              "the same command goes on",
              code_of_signal(stopped_by)});
}

// By id, how often the plan's networks have a case.
using Uses = std::map<std::string, std::int64_t>;

Json case_json(const profile::PlannedCase& planned, const Uses& uses) {
  Json out = {{"id", planned.id},
              {"mode", std::string(name(planned.request.mode))},
              {"precision", std::string(name(planned.request.precision))}};
  if (planned.network.empty()) {
    out["operator"] = planned.operation.op;
    out["operands"] = planned.operation.operands;
    out["attributes"] = planned.operation.attributes;
    const auto at = uses.find(planned.id);
    out["uses"] = at == uses.end() ? 0 : at->second;
  } else {
    out["network"] = planned.network;
    out["batch"] = planned.batch ? Json(*planned.batch) : Json(nullptr);
  }
  return out;
}

struct PlanCounts {
  std::size_t operations = 0, optimizers = 0, networks = 0;
  std::size_t left = 0;  // what the folder lacks, or has with too much noise
};

Json plan_json(const profile::Plan& plan, const PlanCounts& counts) {
  Uses uses;
  for (const auto& network : plan.networks()) {
    for (const auto& [id, count] : network.operations) uses[id] += count;
  }
  Json cases = Json::array();
  for (const auto& planned : plan.cases()) cases.push_back(case_json(planned, uses));
  return {{"schema", "joulecast.profile-plan/1"},
          {"operations", counts.operations},
          {"optimizers", counts.optimizers},
          {"networks", counts.networks},
          {"left", counts.left},
          {"cases", std::move(cases)}};
}

// What the folder has; absent where no campaign is there. It is refused as a start would refuse it. To count needs
// neither a runner nor the device: a folder may be looked into from a machine that only sees it.
tl::expected<std::optional<std::map<std::string, profile::CaseResult>>, Failure> measured_before(
    const ProfileOptions& options, Output& output) {
  auto campaign = campaign_options(options);
  if (!campaign) return tl::unexpected(std::move(campaign).error());
  if (campaign->runner.front().find('/') == std::string::npos)
    output.note(fmt::format("no runner '{}' here: to measure needs it", printable(options.runner)));
  auto found = profile::look_into_folder(*campaign);
  if (!found) return tl::unexpected(campaign_failure(std::move(found).error()));
  if (found->results && !found->results->empty() && !found->not_compared.empty()) {
    output.note(fmt::format("whether {} is of this device is not known here: {}", printable(campaign->folder),
                            printable(found->not_compared)));
  }
  return std::move(found->results);
}

// A folder that is not there yet lacks everything.
Outcome print_plan(const profile::Plan& plan, const ProfileOptions& options, Output& output) {
  const auto results = measured_before(options, output);
  if (!results) return tl::unexpected(results.error());
  PlanCounts counts;
  for (const auto& planned : plan.cases()) {
    const bool optimizer = planned.request.work == profile::Work::kOptimizer;
    ++(!planned.network.empty() ? counts.networks : optimizer ? counts.optimizers : counts.operations);
  }
  const profile::OrderOptions order{.seed = options.seed,
                                    .noisy = options.noisy,
                                    .retry_failed = options.retry_failed,
                                    .retry_shared = options.retry_shared};
  counts.left = todo(plan, results->value_or(std::map<std::string, profile::CaseResult>()), order).size();
  if (options.json) {
    output.write(json_text(plan_json(plan, counts)));
    return {};
  }
  const std::string steps = counts.optimizers > 0 ? counted(counts.optimizers, "optimizer step") + ", " : "";
  const std::string left =
      *results ? fmt::format("; {} of {} are left to measure", counts.left, plan.cases().size()) : "";
  output.write(fmt::format("{}, {}{}{}\n", counted(counts.operations, "operation"), steps,
                           counted(counts.networks, "whole network"), left));
  return {};
}

}  // namespace

Failure campaign_failure(Error error) {
  const bool other = error.text().find(profile::kOtherCampaign) != std::string::npos;
  return {std::move(error), other ? "-o names a folder of its own for what is measured here" : ""};
}

Outcome profile_command(const ProfileOptions& options, Output& output) {
  const Stopwatch since;
  JC_RETURN_IF_FAILURE(check_numbers(options));
  JC_RETURN_IF_FAILURE(check_together(options));
  JC_RETURN_IF_FAILURE(check_name(options));
  JC_RETURN_IF_FAILURE(check_predictor(options));
  auto plan = plan_of(options, output);
  if (!plan) return tl::unexpected(std::move(plan).error());
  for (const std::string& note : plan->notes()) output.note(note);
  for (const std::string& why : plan->left_out()) output.note("left out: " + why);
  if (options.slurm > plan->cases().size())
    return usage(
        fmt::format("--slurm {}: there are only {} to measure", options.slurm, counted(plan->cases().size(), "case")),
        "fewer shards");
  if (options.slurm > 0) return submit_command(options, output);
  if (options.dry_run) {
    JC_RETURN_IF_FAILURE(check_store(options));
    JC_RETURN_IF_FAILURE(print_plan(*plan, options, output));
    return check_left_out(*plan);
  }
  if (options.validate) return validate_command(*plan, options, output);
  auto campaign = campaign_options(options);
  if (!campaign) return tl::unexpected(std::move(campaign).error());
  if (options.check_proportionality) return proportionality_command(*plan, options, *campaign, output);
  if (!options.budget.empty()) {
    auto expect = expectations_of(*plan, options);
    if (!expect) return tl::unexpected(std::move(expect).error());
    campaign->expect = std::move(*expect);
    // What was spent until here, on making networks and reading them, is not there for measuring.
    campaign->budget = Seconds{std::max(*parse_seconds(options.budget) - since.seconds(), 0.0)};
  }
  Progress progress;
  if (!options.quiet) campaign->progress = [&](const profile::CampaignProgress& now) { progress.show(now); };
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  if (std::signal(SIGHUP, ask_to_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
  JC_RETURN_IF_FAILURE(check_store(options));
  auto result = run_campaign(*plan, *campaign);
  if (!options.quiet) progress.clear();
  if (!result) return tl::unexpected(campaign_failure(std::move(result).error()));
  print(*result, options, output);
  if (!result->rows) JC_RETURN_IF_FAILURE(check_stopped(*result));
  JC_RETURN_IF_FAILURE(check_rows(*result, folder_of(options)));
  JC_RETURN_IF_FAILURE(merge_and_store(options, output));
  JC_RETURN_IF_FAILURE(check_stopped(*result));
  JC_RETURN_IF_FAILURE(check_failures(*result, folder_of(options)));
  return check_left_out(*plan);
}

}  // namespace joulecast::cli
