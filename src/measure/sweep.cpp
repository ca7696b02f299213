// SPDX-License-Identifier: Apache-2.0
#include "measure/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "measure/child.h"
#include "measure/guardian.h"
#include "measure/held_settings.h"
#include "measure/process_session.h"
#include "measure/recorded_settings.h"
#include "measure/run_head.h"
#include "measure/sweep_claim.h"
#include "measure/sweep_gpus.h"
#include "power/gpu_choice.h"
#include "recording/recording.h"

namespace joulecast {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookAgain{1000};
constexpr const char* kVisible = "CUDA_VISIBLE_DEVICES";

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

milliseconds milliseconds_of(double seconds) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::duration<double>(seconds));
}

std::set<std::size_t> repetitions_of(const std::vector<SweepRun>& runs) {
  std::set<std::size_t> out;
  for (const SweepRun& run : runs) out.insert(run.repetition);
  return out;
}

class Series {
 public:
  // The claim is absent where the folder is still to be made.
  Series(const SweepOptions& options, SweepFolder folder, std::optional<SweepClaim> claim)
      : options_(options), folder_(std::move(folder)), claim_(std::move(claim)) {}
  Series(const Series&) = delete;
  Series& operator=(const Series&) = delete;
  ~Series() { folder_.unmake(); }  // where no run began, nothing is left

  Result<void> prepare(const std::vector<SweepRun>& runs, std::unique_ptr<Guardian> guardian);
  Result<SweepEnd> run(const std::vector<SweepRun>& runs);
  // Everything as it was found; the guardian tries again where that fails.
  Result<void> put_back();

 private:
  Result<void> make_folder(const std::vector<SweepRun>& runs);
  bool cool_down(SweepRecord& record);
  bool warm_up(const SweepRun& run);
  Result<void> one(const SweepRun& run, SweepEnd& end);
  [[nodiscard]] std::optional<double> temperature() const;
  [[nodiscard]] ChildOptions child_options() const;
  [[nodiscard]] std::string not_held(const SweepRun& run) const;
  std::optional<int> wait_for(const std::vector<std::string>& command, const ChildOptions& child, PassOn pass_on);
  [[nodiscard]] std::vector<std::string> measure_words(const SweepRun& run) const;
  void say(const std::string& line) const {
    if (options_.say) options_.say(line);
  }

  const SweepOptions& options_;
  SweepFolder folder_;
  std::optional<SweepClaim> claim_;
  std::unique_ptr<Guardian> guardian_;
  SweepGpus gpus_;
  HeldSettings held_;
  std::set<std::string> warm_;  // groups whose warm-ups are done
  std::optional<int> stopped_;  // the first signal that asked for it
};

Result<void> Series::make_folder(const std::vector<SweepRun>& runs) {
  JC_RETURN_IF_ERROR(folder_.make());
  if (claim_) return {};
  JC_ASSIGN_OR_RETURN(claim_, SweepClaim::take(folder_.path(), repetitions_of(runs)));
  return {};
}

Result<void> Series::prepare(const std::vector<SweepRun>& runs, std::unique_ptr<Guardian> guardian) {
  guardian_ = std::move(guardian);
  JC_ASSIGN_OR_RETURN(gpus_, find_sweep_gpus(options_.plan, runs));
  if (!changes_settings(runs)) return make_folder(runs);
  JC_RETURN_IF_ERROR(check_nobody_else_sets(gpus_.gpus));
  JC_RETURN_IF_ERROR(make_folder(runs));
  if (std::any_of(gpus_.found.begin(), gpus_.found.end(),
                  [](const FoundSettings& found) { return found.sm_lock_changes || found.memory_lock_changes; })) {
    say("NVML does not tell whether clocks are locked now: they will be unlocked in the end");
  }
  JC_ASSIGN_OR_RETURN(
      held_, HeldSettings::take(gpus_.gpus, gpus_.found, *guardian_, fmt::format("sweep {}", options_.plan.name)));
  return {};
}

Result<void> Series::put_back() {
  JC_RETURN_IF_ERROR(held_.put_back());
  guardian_->dismiss();
  return {};
}

// The warmest.
std::optional<double> Series::temperature() const {
  std::optional<double> out;
  for (const NvmlGpu& gpu : gpus_.gpus) {
    const auto celsius =
        ask<std::uint32_t>(gpu.library->nvmlDeviceGetTemperature, gpu.handle, nvml::TemperatureSensor::kGpu);
    if (celsius) out = std::max(out.value_or(*celsius), static_cast<double>(*celsius));
  }
  return out;
}

// False where the user wants out.
bool Series::cool_down(SweepRecord& record) {
  const SweepPlan& plan = options_.plan;
  const auto begin = std::chrono::steady_clock::now();
  // At least a moment: a Ctrl-C that came between two runs was no child's to hear.
  if (!stopped_) stopped_ = pause_for(std::max(milliseconds(1), milliseconds_of(plan.cooldown_s)));
  record.start_temperature_c = temperature();
  while (!stopped_ && plan.cooldown_c && record.start_temperature_c.value_or(0) > *plan.cooldown_c) {
    if (seconds_since(begin) > plan.cooldown_max_s) {
      record.cooled = false;
      say(fmt::format("still {:.0f} C after {:.0f} s of cooling, {:.0f} C wanted", *record.start_temperature_c,
                      seconds_since(begin), *plan.cooldown_c));
      break;
    }
    stopped_ = pause_for(kLookAgain);
    record.start_temperature_c = temperature();
  }
  return !stopped_;
}

ChildOptions Series::child_options() const {
  ChildOptions out;
  out.folder = options_.plan.working_directory;
  out.dies_with_us = true;
  out.own_session = true;
  // The command shall work on the GPU that is set and measured.
  if (options_.plan.gpus && !gpus_.shown.empty() && !process_environment(kVisible)) {
    out.environment.emplace_back(kVisible, fmt::format("{}", fmt::join(gpus_.shown, ",")));
  }
  return out;
}

// Its exit code; absent where the user wants out. Nothing it started goes on after it: the next run would be measured
// with that.
std::optional<int> Series::wait_for(const std::vector<std::string>& command, const ChildOptions& child,
                                    PassOn pass_on) {
  const auto process = start_child(command, child);
  if (!process) {
    say(process.error().text);
    return process.error().code;
  }
  guardian_->end_with_us(*process);
  ChildWaiter waiter(*process, pass_on);
  Waited waited;
  while (!waited.end && !waited.interrupted) waited = waiter.wait(kLookAgain);
  if (!stopped_) stopped_ = waiter.stop_signal();
  if (signal_session(*process, SIGTERM)) {
    if (!stopped_) say("the command left something running in the background: it is ended");
    await_session_end(*process, kEndGrace);
  }
  guardian_->end_with_us(0);
  if (stopped_ || !waited.end) return std::nullopt;
  return waited.end->code;
}

bool Series::warm_up(const SweepRun& run) {
  if (!warm_.insert(run.group()).second) return true;
  ChildOptions child = child_options();
  child.quiet = true;
  for (std::size_t i = 0; i < options_.plan.warmup && !stopped_; ++i) {
    if (const auto code = wait_for(run.command, child, PassOn::kAllToGroup); code.value_or(0) != 0) {
      say(fmt::format("a warm-up ended with exit code {}", *code));
    }
  }
  return !stopped_;
}

std::vector<std::string> Series::measure_words(const SweepRun& run) const {
  std::vector<std::string> words = options_.measure;
  words.insert(words.end(), {"--quiet", "-o", folder_.recording(run)});
  if (!gpus_.shown.empty()) words.insert(words.end(), {"--gpu", fmt::format("{}", fmt::join(gpus_.shown, ","))});
  if (options_.plan.baseline_s > 0) {
    words.insert(words.end(), {"--baseline", fmt::format("{:g}", options_.plan.baseline_s)});
  }
  words.emplace_back("--");
  words.insert(words.end(), run.command.begin(), run.command.end());
  return words;
}

// Now, or at some time while the command ran.
std::string Series::not_held(const SweepRun& run) const {
  std::string now = held_.not_held(run.settings);
  if (!now.empty() || run.settings.empty()) return now;
  const auto recording = load_recording(folder_.recording(run));
  return recording ? not_held_in(*recording, run.settings) : std::string();
}

Result<void> Series::one(const SweepRun& run, SweepEnd& end) {
  SweepRecord record{run, this_host(), 0, {}, 0, iso_utc(utc_now()), {}, true, gpus_.found};
  JC_RETURN_IF_ERROR(folder_.set_aside(run));
  if (!cool_down(record)) return {};
  JC_RETURN_IF_ERROR(held_.set(run.settings));
  if (!warm_up(run)) return {};
  const int log = ::open(folder_.log(run).c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (log < 0) return io_error(fmt::format("{}: cannot be written", folder_.log(run)));
  ChildOptions child = child_options();
  child.output = log;
  const auto begin = std::chrono::steady_clock::now();
  const auto code = wait_for(measure_words(run), child, PassOn::kAllToLeader);
  ::close(log);
  if (!code) return {};
  record.code = *code;
  record.wall_s = seconds_since(begin);
  record.not_held = not_held(run);
  const bool good = record.code == 0 && record.not_held.empty();
  ++(good ? end.done : end.failed);
  if (record.code != 0) say(fmt::format("{}: exit code {}; its output: {}", run.id(), *code, folder_.log(run)));
  if (!record.not_held.empty()) say(fmt::format("{}: the setting did not last: {}", run.id(), record.not_held));
  return folder_.finish(record);
}

Result<SweepEnd> Series::run(const std::vector<SweepRun>& runs) {
  SweepEnd end;
  for (std::size_t i = 0; i < runs.size() && !stopped_; ++i) {
    say(fmt::format("{}/{} {}", i + 1, runs.size(), runs[i].id()));
    JC_RETURN_IF_ERROR(one(runs[i], end));
  }
  end.stopped = stopped_;
  return end;
}

}  // namespace

SweepOutlook outlook(const SweepOptions& options, const SweepFolder& folder) {
  SweepOutlook out;
  double total = 0;
  std::size_t known = 0;
  for (const SweepRun& run : runs_of(options.plan)) {
    const RunState state = folder.state(run);
    if (state == RunState::kFinished) {
      total += folder.wall_s(run).value_or(0);
      ++known;
    }
    if (options.repetition && run.repetition != *options.repetition) continue;
    if (state == RunState::kOpen || (state == RunState::kFailed && options.retry_failed)) {
      out.open.push_back(run);
    } else {
      ++(state == RunState::kFailed ? out.failed : out.finished);
    }
  }
  const double each =
      known > 0 ? total / static_cast<double>(known) : options.plan.expected_s + options.plan.baseline_s;
  if (known > 0 || options.plan.expected_s > 0) {
    out.seconds = (each + options.plan.cooldown_s) * static_cast<double>(out.open.size());
  }
  return out;
}

Result<void> check_sweep_folder(const SweepPlan& plan) {
  std::error_code ignored;
  if (plan.working_directory.empty() || std::filesystem::is_directory(plan.working_directory, ignored)) return {};
  return invalid(fmt::format("working_directory: {}: no such folder", plan.working_directory));
}

Result<SweepEnd> run_sweep(const SweepOptions& options) {
  JC_RETURN_IF_ERROR(check_sweep_folder(options.plan));
  JC_ASSIGN_OR_RETURN(SweepFolder folder, SweepFolder::find(options.plan));
  std::optional<SweepClaim> claim;
  std::error_code ignored;
  if (std::filesystem::exists(folder.path(), ignored)) {  // else nobody is there yet
    JC_ASSIGN_OR_RETURN(claim, SweepClaim::take(folder.path(), repetitions_of(outlook(options, folder).open)));
  }
  const SweepOutlook open = outlook(options, folder);     // again: who had the claim before may have finished some
  JC_ASSIGN_OR_RETURN(auto guardian, Guardian::start());  // before NVML: put_back_leftovers() may open it
  if (changes_settings(open.open)) JC_RETURN_IF_ERROR(put_back_leftovers(options.say));
  const SignalsBlocked blocked;
  Series series(options, std::move(folder), std::move(claim));
  JC_RETURN_IF_ERROR(series.prepare(open.open, std::move(guardian)));
  Result<SweepEnd> end = series.run(open.open);
  const Result<void> restored = series.put_back();
  if (end) end->skipped = open.finished + open.failed;
  if (end && !restored) return tl::unexpected<Error>(Error(restored.error()));
  return end;
}

}  // namespace joulecast
