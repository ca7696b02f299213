// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/program_folder.h"
#include "cli/measure/sweep_commands.h"
#include "cli/measure/sweep_text.h"
#include "cli/numbers.h"
#include "cli/other_program.h"
#include "measure/child.h"
#include "measure/slurm.h"
#include "measure/sweep.h"
#include "measure/sweep_gpus.h"
#include "measure/sweep_load.h"
#include "measure/sweep_slurm.h"
#include "power/local_rank.h"
#include "power/privilege.h"

namespace joulecast::cli {
namespace {

Failure failure_of(Error error, const SweepCommandOptions& options) {
  const bool invalid_plan = error.code() == ErrorCode::kInvalidInput;
  const bool denied = error.text().find("no permission") != std::string::npos;
  std::string hint;
  if (denied) hint = fmt::format("nothing was left changed; sudo joulecast sweep {}", options.plan);
  return Failure{std::move(error), hint, invalid_plan ? kUsage : kFailure};
}

// This program, as `joulecast` found it.
std::vector<std::string> measure_words() {
  return {program_folder() + "/joulecast-measure", "measure"};
}

SweepOptions sweep_options(const SweepCommandOptions& options, const SweepPlan& plan, Output& messages) {
  SweepOptions out;
  out.plan = plan;
  if (!options.output.empty()) out.plan.output = options.output;
  out.measure = measure_words();
  out.retry_failed = options.retry_failed;
  if (options.repetition > 0) out.repetition = options.repetition;
  out.say = [&messages](const std::string& line) { messages.write(printable(line) + "\n"); };
  return out;
}

// What the run itself would refuse is refused here, in the same words. Else what was looked at, a line; empty where
// there is nothing to look at.
Result<std::string> checked(const SweepPlan& plan, const std::vector<SweepRun>& runs) {
  JC_RETURN_IF_ERROR(check_sweep_folder(plan));
  const auto found = find_sweep_gpus(plan, runs);
  const bool no_gpu =
      !found && (found.error().code() == ErrorCode::kNotFound || found.error().code() == ErrorCode::kDevice);
  if (!found && !no_gpu) return tl::unexpected<Error>(Error(found.error()));
  if (!changes_settings(runs)) return std::string();
  if (no_gpu) return fmt::format("no GPU to check the settings on: {}\n", printable(found.error().text()));
  std::vector<std::string> names;
  for (const NvmlGpu& gpu : found->gpus)
    names.push_back(fmt::format("{} ({})", gpu.id(), printable(gpu.identity.name)));
  return fmt::format("checked: {} {} these settings in range{}\n", fmt::join(names, ", "),
                     names.size() == 1 ? "has" : "have",
                     may_change_settings() ? "" : "; setting them takes rights that this process lacks (sudo)");
}

std::string outlook_text(const SweepPlan& plan, const SweepOutlook& out) {
  std::string text;
  for (std::size_t i = 0; i < out.open.size(); ++i) {
    const SweepRun& run = out.open[i];
    const std::string group = run.group();
    text += fmt::format("{:>4}  {}{}{}  (repetition {})\n", i + 1, printable(group), group.empty() ? "" : ", ",
                        run.settings.text(), run.repetition);
  }
  const double idle = (plan.baseline_s + plan.cooldown_s) * static_cast<double>(out.open.size());
  text += fmt::format("{} into {}", counted(out.open.size(), "run"), printable(plan.output));
  if (out.finished + out.failed > 0) text += fmt::format(", {} there already", out.finished + out.failed);
  if (out.seconds) {
    text += fmt::format(", about {}", duration_text(*out.seconds));
  } else {
    text += fmt::format(", {} of pauses and baselines, and the time of the command (expected_s in the plan)",
                        duration_text(idle));
  }
  return text + (plan.cooldown_c ? ", cooling down not counted\n" : "\n");
}

Outcome print_outlook(const SweepOptions& sweep, const SweepCommandOptions& options, Output& output) {
  const auto folder = SweepFolder::find(sweep.plan);
  if (!folder) return tl::unexpected<Failure>(failure_of(folder.error(), options));
  const SweepOutlook out = outlook(sweep, *folder);
  const auto check = checked(sweep.plan, out.open);
  if (!check) return tl::unexpected<Failure>(failure_of(check.error(), options));
  output.write(outlook_text(sweep.plan, out) + *check);
  return {};
}

Outcome print_result(const std::string& folder, const SweepCommandOptions& options, Output& output) {
  auto loaded = load_any_sweep(folder);
  if (!loaded) return tl::unexpected<Failure>(std::move(loaded).error());
  Output messages(stderr, stderr);
  for (const std::string& why : loaded->left_out) messages.note("left out: " + printable(why));
  for (const std::string& doubt : loaded->doubts) messages.note(printable(doubt));
  auto groups = judge_sweep(loaded->runs);
  if (!groups) {
    const char* hint = loaded->left_out.empty() ? "" : "the notes say why each was left out";
    return tl::unexpected<Failure>(Failure{Error(groups.error()), hint});
  }
  auto parameters = compare_parameters(loaded->runs);
  if (!parameters) return tl::unexpected<Failure>(std::move(parameters).error());
  if (*parameters && !options.form.json) groups->push_back(**parameters);
  if (options.form.json) {
    output.write(json_text(sweep_json(*groups, *parameters, *loaded)));
  } else if (options.form.csv) {
    output.write(sweep_csv(*groups));
  } else if (options.latex) {
    output.write(sweep_latex(*groups));
  } else {
    // Tables of one line each would say nothing.
    output.write(sweep_text(*parameters ? std::vector{**parameters} : *groups));
  }
  return {};
}

Outcome submit(std::vector<SweepPlan> plans, const SweepCommandOptions& options, Output& output) {
  if (options.repetition > 0) return usage("sweep: --slurm and --repetition: a job array has all of them");
  SlurmSweep sweep{{}, joulecast_program(), options.plan, {}};
  if (!options.output.empty()) {
    plans.front().output = options.output;
    sweep.options.insert(sweep.options.end(), {"--output", options.output});
  }
  if (options.retry_failed) sweep.options.emplace_back("--retry-failed");
  sweep.plans = std::move(plans);
  const std::string script = slurm_script(sweep);
  if (options.dry_run) {
    output.write(script);
    return {};
  }
  std::string path;
  for (const SweepPlan& plan : sweep.plans) {
    auto folder = SweepFolder::find(plan);
    if (!folder) return tl::unexpected<Failure>(failure_of(folder.error(), options));
    if (const auto made = folder->make(); !made) return tl::unexpected<Failure>(failure_of(made.error(), options));
    if (path.empty()) path = folder->path() + "/sweep.sbatch";
  }
  std::ofstream file(path);
  file << script;
  file.close();
  if (!file) return tl::unexpected<Failure>(Error{ErrorCode::kIo, fmt::format("{}: cannot be written", path)});
  const auto said = submit_to_slurm(path);
  if (!said) return tl::unexpected<Failure>(Error(said.error()));
  output.write(printable(*said) + "\n");
  return {};
}

Outcome check_repetition(const std::vector<SweepPlan>& plans, const SweepCommandOptions& options) {
  const auto has = [&](const SweepPlan& plan) { return options.repetition <= plan.repetitions; };
  if (std::any_of(plans.begin(), plans.end(), has)) return {};
  return usage(
      fmt::format("sweep: --repetition {}, but the plan has {}", options.repetition, plans.front().repetitions));
}

Outcome run_one(const SweepOptions& sweep, const SweepCommandOptions& options, std::size_t& failed) {
  const auto end = run_sweep(sweep);
  if (!end) return tl::unexpected<Failure>(failure_of(end.error(), options));
  failed += end->failed;
  sweep.say(fmt::format("{} done, {} failed, {} there already", counted(end->done, "run"), end->failed, end->skipped));
  if (!end->stopped) return {};
  return tl::unexpected<Failure>(Failure{{ErrorCode::kDevice, "stopped; all settings are as they were found"},
                                         fmt::format("joulecast sweep {} goes on", options.plan),
                                         code_of_signal(*end->stopped)});
}

Outcome run_and_tell(const SweepOptions& sweep, const SweepCommandOptions& options, std::size_t& failed,
                     Output& output) {
  if (auto done = run_one(sweep, options, failed); !done || options.repetition > 0) return done;  // one task has a part
  auto told = print_result(sweep.plan.output, options, output);
  if (told || failed == 0) return told;
  sweep.say(told.error().error.text());  // that runs failed is what matters
  return {};
}

Outcome sweep_plans(const std::vector<SweepPlan>& plans, const SweepCommandOptions& options, Output& output) {
  JC_RETURN_IF_FAILURE(check_repetition(plans, options));
  if (options.slurm) return submit(plans, options, output);
  Output messages(stderr, stderr);
  std::size_t failed = 0;
  for (const SweepPlan& plan : plans) {
    const SweepOptions sweep = sweep_options(options, plan, messages);
    if (plans.size() > 1) messages.write(fmt::format("{}:\n", printable(plan.name)));
    for (const std::string& name : unfilled_places(plan)) {
      messages.note(fmt::format("{{{0}}} in the command stays as it is: the plan has no parameter '{0}'", name));
    }
    Outcome done;
    if (options.dry_run) {
      done = print_outlook(sweep, options, output);
    } else {
      done = run_and_tell(sweep, options, failed, output);
    }
    if (!done) return done;
  }
  if (failed == 0) return {};
  return tl::unexpected<Failure>(Failure{{ErrorCode::kDevice, counted(failed, "run") + " failed"},
                                         "their logs are beside the recordings; --retry-failed runs them again",
                                         kIncomplete});
}

// What is only planned or submitted has no result to print in another form.
Outcome check_form(const SweepCommandOptions& options) {
  const int forms = options.form.json + options.form.csv + options.latex;
  if (forms > 1) return usage("sweep: one of --json, --csv and --latex");
  if (forms == 0 || options.result || !(options.dry_run || options.slurm)) return {};
  return usage(fmt::format("sweep: {} prints text alone: --json, --csv and --latex are for results",
                           options.dry_run ? "--dry-run" : "--slurm"),
               "--result prints what runs say");
}

// A table; of one recording reading it says what to do.
bool has_runs(const std::string& path) {
  return path.ends_with(".csv") || path.ends_with(".jcrun");
}

}  // namespace

Outcome sweep_command(const SweepCommandOptions& options, Output& output) {
  JC_RETURN_IF_FAILURE(check_form(options));
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(options.plan, ignored);
  if (options.result && (folder || has_runs(options.plan))) return print_result(options.plan, options, output);
  if (folder) return usage(fmt::format("sweep: {} is a folder", options.plan), "--result prints what its runs say");
  auto plans = read_plans(options.plan);
  if (!plans) {
    return tl::unexpected<Failure>(
        Failure{std::move(plans).error(), "docs/formats/sweep-plan.md has the keys of a plan", kUsage});
  }
  for (SweepPlan& plan : *plans) {
    if (!plan.gpus) plan.gpus = process_environment("JOULECAST_GPU");
  }
  if (!options.output.empty() && plans->size() > 1)
    return usage("sweep: --output, but the plan has several experiments");
  if (!options.result) return sweep_plans(*plans, options, output);
  for (const SweepPlan& plan : *plans) {
    const std::string place = options.output.empty() ? plan.output : options.output;
    if (auto printed = print_result(place, options, output); !printed) return printed;
  }
  return {};
}

}  // namespace joulecast::cli
