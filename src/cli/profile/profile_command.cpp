// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/program_folder.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/profile/profile_commands.h"
#include "cli/version.h"
#include "profile/campaign.h"

namespace joulecast::cli {
namespace {

// A large network's training step takes minutes to compile.
constexpr Seconds kPatienceOfCompilers{900};

// Set by signals: the window at hand is finished, a second one ends us at once. Nothing is lost either way.
std::atomic<int> stops = 0;

void ask_to_stop(int signal) {
  if (++stops > 1) {
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
    fmt::print(stderr, "{}{}{}", terminal_ ? "\r" : "", line, terminal_ ? "\033[K" : "\n");
  }
  void clear() const {
    if (terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  double last_ = 0;
};

tl::expected<std::string, Failure> runner_program(const std::string& runner) {
  if (runner.find('/') != std::string::npos) {
    if (::access(runner.c_str(), X_OK) == 0) return runner;
    return usage(fmt::format("--runner: {} cannot be run", printable(runner)),
                 "torch, python-torch, onnxruntime, or the path of a runner");
  }
  const std::string name = "joulecast-run-" + runner;
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
  if (!runner) return tl::unexpected(std::move(runner).error());
  out.runner = {std::move(*runner)};
  out.folder = folder_of(options);
  out.device = options.gpu == "cpu" ? "cpu" : "cuda:0";
  out.gpu = !options.name.empty() ? options.name : options.gpu;
  if (options.gpu != "cpu") out.sensors.gpus = options.gpu;
  out.threads = options.threads;
  out.runtime = options.runtime;
  out.protocol.target = options.target;
  if (options.window_s) out.protocol.window = Seconds{*options.window_s};
  if (options.span_s) out.span = Seconds{*options.span_s};
  if (options.runtime == name(Runtime::kPytorchCompiled)) out.protocol.patience = kPatienceOfCompilers;
  if (options.patience_s) out.protocol.patience = Seconds{*options.patience_s};
  out.order.seed = options.seed;
  out.order.noisy = options.noisy;
  out.order.retry_failed = options.retry_failed;
  out.order.by_gain = !options.budget.empty();
  out.tool_version = version();
  out.stop = [] { return stops > 0; };
  return out;
}

Outcome check_numbers(const ProfileOptions& options) {
  constexpr double kShortest = 0.1;
  if (options.window_s && *options.window_s < kShortest) {
    return usage("--window: under 100 ms time is not proportional to the work", "--window 0.1, or more");
  }
  if (options.patience_s && !(*options.patience_s > 0)) return usage("--patience must be above 0", "--patience 120");
  if (!(options.target > 0) || !(options.noisy > 0))
    return usage("--target and --noisy must be above 0", "--target 0.01");
  if (!options.budget.empty() && !parse_seconds(options.budget)) {
    return usage(fmt::format("--for: '{}' is no time", printable(options.budget)), "90s, 30m or 1.5h");
  }
  if (!options.shard.empty() && !profile::parse_shard(options.shard))
    return usage(fmt::format("--shard: '{}' is no part", printable(options.shard)),
                 "--shard 3/8 is the third of eight");
  if (options.slurm > 0 && !options.shard.empty())
    return usage("profile: --slurm and --shard: a job array has all of them", "--slurm 8");
  return {};
}

Json result_json(const profile::CampaignResult& result, const std::string& folder) {
  return {{"schema", "joulecast.profile/1"}, {"folder", folder},    {"measured", result.measured},
          {"failed", result.failed},         {"left", result.left}, {"runner_restarts", result.restarts},
          {"stopped", result.stopped}};
}

void print(const profile::CampaignResult& result, const ProfileOptions& options, Output& output) {
  if (options.json) return output.write(json_text(result_json(result, options.output)));
  output.write(fmt::format("measured {}, failed {}, left {}{}\n", result.measured, result.failed, result.left,
                           result.stopped.empty() ? "" : ": " + result.stopped));
  output.write(fmt::format("rows: {}/measurements.csv\n", options.output));
}

Json case_json(const profile::PlannedCase& planned) {
  Json out = {{"id", planned.id},
              {"mode", std::string(name(planned.request.mode))},
              {"precision", std::string(name(planned.request.precision))}};
  if (planned.network.empty()) {
    out["operator"] = planned.operation.op;
    out["operands"] = planned.operation.operands;
    out["attributes"] = planned.operation.attributes;
  } else {
    out["network"] = planned.network;
    out["batch"] = planned.batch ? Json(*planned.batch) : Json(nullptr);
  }
  return out;
}

void print_plan(const profile::Plan& plan, const ProfileOptions& options, Output& output) {
  std::size_t networks = 0, optimizers = 0;
  for (const auto& planned : plan.cases()) {
    networks += planned.network.empty() ? 0 : 1;
    optimizers += planned.request.work == profile::Work::kOptimizer ? 1 : 0;
  }
  const std::size_t operations = plan.cases().size() - networks - optimizers;
  if (options.json) {
    Json cases = Json::array();
    for (const auto& planned : plan.cases()) cases.push_back(case_json(planned));
    output.write(json_text({{"schema", "joulecast.profile-plan/1"},
                            {"operations", operations},
                            {"optimizers", optimizers},
                            {"networks", networks},
                            {"cases", cases}}));
    return;
  }
  const std::string steps = optimizers > 0 ? fmt::format("{} steps of optimizers, ", optimizers) : "";
  output.write(fmt::format("{} operations, {}{} whole networks\n", operations, steps, networks));
}

}  // namespace

Outcome profile_command(const ProfileOptions& options, Output& output) {
  const Stopwatch since;
  JC_RETURN_IF_FAILURE(check_numbers(options));
  auto plan = plan_of(options, output);
  if (!plan) return tl::unexpected(std::move(plan).error());
  for (const std::string& note : plan->notes()) output.note(note);
  if (options.slurm > 0) return submit_command(options, output);
  if (options.dry_run) {
    print_plan(*plan, options, output);
    return {};
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
  auto result = run_campaign(*plan, *campaign);
  if (!options.quiet) progress.clear();
  if (!result) return tl::unexpected<Failure>(std::move(result).error());
  print(*result, options, output);
  return merge_and_store(options, output);
}

}  // namespace joulecast::cli
