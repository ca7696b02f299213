// SPDX-License-Identifier: Apache-2.0
#include "profile/campaign.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>
#include <utility>

#include "measure/held_settings.h"
#include "measure/recorder.h"
#include "measure/run_head.h"
#include "measure/sweep_gpus.h"
#include "profile/other_work.h"
#include "profile/power_tap.h"
#include "profile/processor.h"
#include "profile/program_text.h"
#include "profile/runner.h"
#include "profile/sensor_span.h"

namespace joulecast::profile {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kFailuresInARow = 5;
constexpr double kMicrosecond = 1e-6;

// The first device with sensors; processors before GPUs where a processor works.
std::string device_with_sensors(const Found& found, const std::string& device) {
  const std::string kind = device == "cpu" ? "cpu" : "gpu";
  for (const MeasuredDevice& one : found.devices) {
    if (one.kind == kind) return one.id;
  }
  return {};
}

std::string label_of(const Found& found, const std::string& id) {
  for (const MeasuredDevice& one : found.devices) {
    if (one.id == id) return one.name;
  }
  return {};
}

std::string name_in_rows(const CampaignOptions& options, const std::string& label) {
  return options.gpu.empty() && options.name_of ? options.name_of(label) : options.gpu;
}

// Glibc maps large blocks anew each time, whose pages then have to be cleared, until others of that size were freed:
// what ran before would decide how long an operation takes. So all of them come from a heap that keeps its pages.
// Whoever has set one of these himself knows better.
RunnerProcess::Environment steady_heap() {
  constexpr std::pair<const char*, const char*> kSettings[] = {{"MALLOC_MMAP_MAX_", "0"},
                                                               {"MALLOC_TRIM_THRESHOLD_", "1099511627776"}};
  RunnerProcess::Environment out;
  for (const auto& [name, value] : kSettings) {
    if (std::getenv(name) == nullptr) out.emplace_back(name, value);  // NOLINT(concurrency-mt-unsafe)
  }
  return out;
}

// CUDA's first GPU is then the one with that device's sensors, where NVML knows one.
RunnerProcess::Environment environment_for(const Found& found, const std::string& id) {
  RunnerProcess::Environment out = steady_heap();
  for (const MeasuredDevice& one : found.devices) {
    if (one.id == id && one.kind == "gpu" && one.details.contains("uuid")) {
      out.emplace_back("CUDA_VISIBLE_DEVICES", one.details["uuid"].get<std::string>());
      break;
    }
  }
  return out;
}

// CUDA would run on one slice, and rows say what a whole GPU takes.
Result<void> refuse_slices(const Found& found, const std::string& id) {
  for (const MeasuredDevice& one : found.devices) {
    if (one.id != id || !one.details.contains("mig_devices")) continue;
    return unsupported(
        fmt::format("{}: is cut into slices (MIG): one of them would be timed, and the sensors are the "
                    "whole GPU's; nvidia-smi -mig 0 makes it whole",
                    id));
  }
  return {};
}

// The sensors of one start of a campaign, recorded.
class Log {
 public:
  static Result<std::unique_ptr<Log>> start(Found found, const CampaignOptions& options, const std::string& path) {
    const std::string device = device_with_sensors(found, options.device);
    JC_ASSIGN_OR_RETURN(RecordingWriter writer, RecordingWriter::create(path, Existing::kRefuse));
    const Json head = run_head({"joulecast", "profile"}, found, options.tool_version);
    writer.head(head.dump(-1, ' ', false, Json::error_handler_t::replace));
    return std::unique_ptr<Log>(new Log(std::move(found), std::move(writer), device, head));
  }

  void begin(const PlannedCase& planned) {
    const MonotonicUs now = monotonic_now();
    tap_->begin(now);
    recorder_.event({now, EventKind::kBegin, kRecorderTrack, "case " + planned.id, {}});
  }
  void end(const PlannedCase& planned) {
    recorder_.event({monotonic_now(), EventKind::kEnd, kRecorderTrack, "case " + planned.id, {}});
  }

  // Counters step ten times a second: the last edge is waited for.
  [[nodiscard]] PowerFinding finding(const CaseTiming& timing) const {
    constexpr std::chrono::milliseconds kLongest{500}, kOften{5};
    for (std::chrono::milliseconds waited{0}; waited < kLongest && !tap_->reaches(timing.windows.back().end_us);
         waited += kOften) {
      std::this_thread::sleep_for(kOften);
    }
    return tap_->finding(timing);
  }
  [[nodiscard]] std::string not_held(const CaseTiming& timing, const GpuSettings& wanted) const {
    return tap_->not_held(timing, wanted);
  }
  // What the power sensor needs; absent where none tells.
  [[nodiscard]] std::optional<SensorSpan> span() const { return tap_->span(); }
  [[nodiscard]] const std::string& label() const { return label_; }
  [[nodiscard]] const RunnerProcess::Environment& environment() const { return environment_; }
  Result<void> finish() { return recorder_.finish("{}"); }

 private:
  Log(Found found, RecordingWriter writer, const std::string& device, const Json& head)
      : label_(label_of(found, device)),
        environment_(environment_for(found, device)),
        recorder_(std::move(found.sensors), std::move(writer)) {
    tap_ = std::make_unique<PowerTap>(recorder_.channels(), nlohmann::json(head), device);
    recorder_.listen([tap = tap_.get()](std::size_t channel, const Reading& reading) { tap->add(channel, reading); });
    recorder_.start();
  }

  std::string label_;
  RunnerProcess::Environment environment_;
  std::unique_ptr<PowerTap> tap_;  // outlives the recorder, whose threads tell it until they are joined
  Recorder recorder_;
};

std::size_t count_failed(const Plan& plan, const std::map<std::string, CaseResult>& results) {
  return static_cast<std::size_t>(std::count_if(plan.cases().begin(), plan.cases().end(), [&](const auto& planned) {
    const auto at = results.find(planned.id);
    return at != results.end() && !at->second.measured;
  }));
}

class Campaign {
 public:
  Campaign(const Plan& plan, const CampaignOptions& options)
      : plan_(plan), options_(options), protocol_(options.protocol), order_(options.order) {}

  Result<CampaignResult> run();

 private:
  Result<void> hold_settings();
  Result<void> put_back();
  Result<void> open();
  void choose_span();
  // Without one where the campaign was stopped meanwhile.
  Result<void> start_runner();
  Result<void> measure(const PlannedCase& planned);
  std::optional<CaseResult> result_of(const PlannedCase& planned);
  void take(const PlannedCase& planned, CaseTiming timing, CaseResult& result) const;
  [[nodiscard]] std::string not_held(const PlannedCase& planned, const CaseTiming& timing) const;
  void tell(const PlannedCase& planned) const;
  [[nodiscard]] std::string reason_to_stop() const;
  [[nodiscard]] double elapsed_s() const { return static_cast<double>(monotonic_now() - begun_) * kMicrosecond; }

  const Plan& plan_;
  const CampaignOptions& options_;
  Protocol protocol_;
  OrderOptions order_;
  std::optional<Journal> journal_;
  std::unique_ptr<Guardian> guardian_;
  HeldSettings held_;
  std::unique_ptr<Log> log_;
  std::unique_ptr<RunnerProcess> runner_;
  std::optional<Bench> bench_;  // once a runner was ready
  std::int64_t threads_ = 0;    // of the runner, as it says; 0 for all processors
  CampaignResult out_;
  std::size_t total_ = 0, failures_in_a_row_ = 0;
  MonotonicUs begun_ = monotonic_now();
};

Result<void> Campaign::start_runner() {
  JC_ASSIGN_OR_RETURN(runner_,
                      RunnerProcess::start(options_.runner, journal_->path("runner.log"), log_->environment()));
  auto hello =
      runner_->request(hello_line(options_), options_.patience_at_start, [this] { return !reason_to_stop().empty(); });
  if (const std::string why = reason_to_stop(); !hello && !why.empty()) {
    out_.stopped = why + ", before the runner was ready";
    runner_.reset();
    return {};
  }
  if (!hello) return tl::unexpected<Error>(not_ready(*runner_, hello.error(), options_.runner.front()));
  JC_RETURN_IF_ERROR(check_runtime(*hello, options_));
  bench_ = Bench{
      name_in_rows(options_, log_->label()), log_->label(), hello->text("runtime"), hello->text("software"),
      fmt::format("joulecast profile: windows of {:g} s, at least {} and {:.2g} s, until the standard error is under "
                  "{:g} %",
                  protocol_.window.value(), protocol_.least_windows, protocol_.span.value(), 100 * protocol_.target)};
  if (const auto threads = hello->integer("threads"); threads && options_.device == "cpu") {
    threads_ = *threads;
    bench_->software += fmt::format(", {} {}", *threads, *threads == 1 ? "thread" : "threads");
  }
  return {};
}

// Why the settings were not those that were set, now or at some moment of the case; empty where they were.
std::string Campaign::not_held(const PlannedCase& planned, const CaseTiming& timing) const {
  std::string now = held_.not_held(planned.settings);
  return now.empty() ? log_->not_held(timing, planned.settings) : now;
}

void Campaign::take(const PlannedCase& planned, CaseTiming timing, CaseResult& result) const {
  PowerFinding found = log_->finding(timing);
  if (const std::string lost = not_held(planned, timing); !lost.empty()) {
    result.reason = "the setting did not last: " + lost;
    return;
  }
  result.measured = true;
  result.timing = std::move(timing);
  result.power = std::move(found.power);
  result.doubts = std::move(found.doubts);
  result.slowed_by = std::move(found.slowed_by);
}

// None where the campaign stopped before the case had its windows: it is left for the next start.
std::optional<CaseResult> Campaign::result_of(const PlannedCase& planned) {
  CaseResult result;
  result.id = planned.id;
  result.subject = subject_of(planned);
  result.started = iso_utc(utc_now());
  log_->begin(planned);
  std::optional<OtherWork> others;
  if (options_.device == "cpu") others.emplace(runner_->pid(), threads_);
  auto timing = time_case(*runner_, planned.request, protocol_, [&] {
    if (others) others->look();
    return !reason_to_stop().empty();
  });
  if (others) others->look();
  if (timing && !usable(*timing, protocol_)) {
    log_->end(planned);
    return std::nullopt;
  }
  if (timing) {
    if (others) result.beside = others->since(timing->windows.front().begin_us);
    take(planned, std::move(*timing), result);
  } else {
    result.reason = timing.error().text();
    // What it left of the device's context is not to be trusted, unless it said no before it touched it.
    if (timing.error().code() != ErrorCode::kUnsupported) runner_.reset();
  }
  log_->end(planned);
  return result;
}

Result<void> Campaign::measure(const PlannedCase& planned) {
  if (!runner_) {
    ++out_.restarts;
    JC_RETURN_IF_ERROR(start_runner());
    if (!runner_) return {};
  }
  tell(planned);
  JC_RETURN_IF_ERROR(held_.set(planned.settings));
  const std::optional<CaseResult> result = result_of(planned);
  if (!result) {
    out_.stopped = reason_to_stop();
    return {};
  }
  JC_RETURN_IF_ERROR(journal_->add(*result));
  ++(result->measured ? out_.measured : out_.failed);
  if (!result->beside.empty()) ++out_.shared;
  if (!result->measured) ++out_.reasons[result->reason];
  failures_in_a_row_ = result->measured ? 0 : failures_in_a_row_ + (runner_ ? 0 : 1);
  if (failures_in_a_row_ == kFailuresInARow) {
    return tl::unexpected<Error>(
        Error{ErrorCode::kDevice,
              fmt::format("the runner failed {} times in a row; the last time: {}", kFailuresInARow, result->reason)});
  }
  return {};
}

void Campaign::tell(const PlannedCase& planned) const {
  if (!options_.progress) return;
  CampaignProgress progress{
      out_.measured + out_.failed, out_.failed, total_, label(planned), elapsed_s(), std::nullopt};
  if (progress.done > 0) {
    const double a_case = progress.elapsed_s / static_cast<double>(progress.done);
    double left = a_case * static_cast<double>(total_ - progress.done);
    if (options_.budget) left = std::min(left, std::max(options_.budget->value() - progress.elapsed_s, 0.0));
    progress.remaining_s = left;
  }
  options_.progress(progress);
}

std::string Campaign::reason_to_stop() const {
  if (options_.stop && options_.stop()) return "stopped";
  if (options_.budget && elapsed_s() >= options_.budget->value()) return "the time is over";
  return {};
}

// Before NVML is opened for the sensors, and before threads run: the guardian is a fork.
Result<void> Campaign::hold_settings() {
  std::vector<GpuSettings> wanted;
  for (const PlannedCase& planned : plan_.cases()) {
    if (!planned.settings.empty()) wanted.push_back(planned.settings);
  }
  if (wanted.empty()) return {};
  JC_ASSIGN_OR_RETURN(guardian_, Guardian::start());
  JC_RETURN_IF_ERROR(put_back_leftovers({}));
  JC_ASSIGN_OR_RETURN(const SweepGpus gpus, find_gpus_to_set(options_.sensors.gpus, wanted));
  JC_RETURN_IF_ERROR(check_nobody_else_sets(gpus.gpus));
  JC_ASSIGN_OR_RETURN(held_, HeldSettings::take(gpus.gpus, gpus.found, *guardian_, "profile " + options_.folder));
  return {};
}

Result<void> Campaign::put_back() {
  JC_RETURN_IF_ERROR(held_.put_back());
  if (guardian_) guardian_->dismiss();
  return {};
}

void Campaign::choose_span() {
  if (options_.span) {
    protocol_.span = *options_.span;
  } else if (const auto needed = log_->span()) {
    protocol_.span = Seconds{std::max(protocol_.span.value(), needed->span.value())};
  }
  order_.case_s = protocol_.span.value() + protocol_.shortest_warmup.value();
  order_.iterations = static_cast<double>(protocol_.least_windows);
}

// The folder is the device's: which one that is the sensors' driver says.
Result<void> Campaign::open() {
  JC_ASSIGN_OR_RETURN(Found found, find_sensors(options_.sensors));
  const std::string device = device_with_sensors(found, options_.device);
  JC_RETURN_IF_ERROR(refuse_slices(found, device));
  JC_ASSIGN_OR_RETURN(Journal journal,
                      Journal::open(options_.folder, campaign_text(options_, label_of(found, device))));
  journal_.emplace(std::move(journal));
  JC_ASSIGN_OR_RETURN(log_, Log::start(std::move(found), options_, journal_->next_log()));
  return {};
}

Result<CampaignResult> Campaign::run() {
  JC_RETURN_IF_ERROR(hold_settings());
  JC_RETURN_IF_ERROR(open());
  choose_span();
  if (order_.by_gain && options_.expect) order_.expected = options_.expect(log_->label());
  const std::vector<std::size_t> order = todo(plan_, journal_->results(), order_);
  total_ = order.size();
  if (!order_.retry_failed) out_.failed_before = count_failed(plan_, journal_->results());
  JC_RETURN_IF_ERROR(start_runner());
  Result<void> going;
  for (const std::size_t i : order) {
    if (out_.stopped.empty()) out_.stopped = reason_to_stop();
    if (!out_.stopped.empty()) break;
    going = measure(plan_.cases()[i]);
    if (!going) break;
  }
  runner_.reset();
  const Result<void> restored = put_back();
  // Whatever happened, what was measured becomes rows; only a runner that was ready says of what software.
  if (bench_ || journal_->results().empty())
    JC_RETURN_IF_ERROR(journal_->write_measurements(plan_, bench_.value_or(Bench{})));
  out_.rows = journal_->has_measurements();
  JC_RETURN_IF_ERROR(log_->finish());
  if (!going) return tl::unexpected<Error>(std::move(going).error());
  JC_RETURN_IF_ERROR(restored);
  for (const std::size_t i : todo(plan_, journal_->results(), order_)) {
    ++out_.left;
    const auto at = journal_->results().find(plan_.cases()[i].id);
    if (at != journal_->results().end() && at->second.measured) ++out_.noisy;
  }
  if (out_.left == 0 && !(options_.stop && options_.stop())) out_.stopped.clear();  // the time was enough
  return std::move(out_);
}

}  // namespace

Result<RunnerProcess::Environment> runner_environment(const CampaignOptions& options) {
  JC_ASSIGN_OR_RETURN(const Found found, find_sensors(options.sensors));
  return environment_for(found, device_with_sensors(found, options.device));
}

std::string hello_line(const CampaignOptions& options) {
  return fmt::format("hello protocol=1 device={} threads={}{}\n", escaped(options.device), options.threads,
                     options.runtime.empty() ? "" : " runtime=" + escaped(options.runtime));
}

Error not_ready(const RunnerProcess& runner, const Error& error, const std::string& program) {
  const bool answered = error.code() != ErrorCode::kIo && error.code() != ErrorCode::kTimeout;
  const std::string words = answered ? "" : runner.last_words();
  return Error{error.code(), words.empty() ? error.text() : fmt::format("{}: {}", error.text(), words)}.in(program);
}

// Keys that a runner does not know it passes over: what it says it runs is what counts.
Result<void> check_runtime(const Reply& hello, const CampaignOptions& options) {
  if (options.runtime.empty() || hello.text("runtime") == options.runtime) return {};
  return unsupported(
      fmt::format("{}: has no runtime {}, but {}", options.runner.front(), options.runtime, hello.text("runtime")));
}

// What is usual is left out, so that folders from before there was a choice go on.
std::string campaign_text(const CampaignOptions& options, const std::string& label) {
  Json json = {{"schema", "joulecast.campaign/1"},
               {"gpu", name_in_rows(options, label)},
               {"device", options.device},
               {"threads", options.threads}};
  const std::string machine = options.device == "cpu" ? processor_name() : label;
  if (!machine.empty()) json["label"] = machine;
  const std::string runner =
      options.runner.empty() ? "" : std::filesystem::path(options.runner.front()).filename().string();
  if (!runner.empty() && runner != "joulecast-run-torch") json["runner"] = runner;
  if (options.shards != 1) json["shards"] = options.shards;
  if (!options.runtime.empty() && options.runtime != name(Runtime::kPytorchEager)) json["runtime"] = options.runtime;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Journal> open_folder(const CampaignOptions& options) {
  JC_ASSIGN_OR_RETURN(const Found found, find_sensors(options.sensors));
  return Journal::open(options.folder,
                       campaign_text(options, label_of(found, device_with_sensors(found, options.device))));
}

Result<FolderLook> look_into_folder(const CampaignOptions& options) {
  FolderLook out;
  std::optional<std::string> what;
  if (const auto found = find_sensors(options.sensors)) {
    const std::string device = device_with_sensors(*found, options.device);
    JC_RETURN_IF_ERROR(refuse_slices(*found, device));
    what = campaign_text(options, label_of(*found, device));
  } else {
    out.not_compared = found.error().text();
  }
  JC_ASSIGN_OR_RETURN(out.results, Journal::look(options.folder, what));
  return out;
}

Result<CampaignResult> run_campaign(const Plan& plan, const CampaignOptions& options) {
  return Campaign(plan, options).run();
}

std::string label(const PlannedCase& planned) {
  if (!planned.network.empty()) return fmt::format("{} batch {}", planned.network, planned.batch.value_or(1));
  return fmt::format("{} {}", planned.operation.op, planned.operation.operands);
}

}  // namespace joulecast::profile
