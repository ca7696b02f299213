// SPDX-License-Identifier: Apache-2.0
#include "measure/session.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "measure/child.h"
#include "measure/mark_listener.h"
#include "measure/repeated_input.h"
#include "measure/run_head.h"
#include "power/gpu_choice.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr milliseconds kProgress{250};
constexpr const char* kMarks = "JOULECAST_MARKS";

double own_cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  constexpr double kMicro = 1e-6;
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * kMicro;
}

std::string text_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

class Session {
 public:
  Session(const SessionOptions& options, Found found, RecordingWriter writer)
      : options_(options),
        has_sensors_(!found.sensors.empty()),
        recorder_(std::move(found.sensors), std::move(writer)) {}

  Result<void> start();
  void run();
  Result<void> finish();
  // `whole`: the file has all of it.
  Result<Recording> recording(bool whole) const;

  [[nodiscard]] bool stopped() const { return stopped_; }

  int code = 0;
  std::optional<std::string> not_started;
  std::size_t runs = 0;

 private:
  bool run_once(const std::string& phase, std::size_t index, bool quiet);
  void pause(milliseconds time) { stopped_ = pause_for(time).has_value() || stopped_; }
  void mark(EventKind kind, const std::string& name, std::string details = {}) {
    take({monotonic_now(), kind, kRecorderTrack, name, std::move(details)});
  }
  void take(const Event& event) {
    recorder_.event(event);
    if (options_.heard) options_.heard(recorder_, event);
  }
  void tell_once_of_input();
  [[nodiscard]] ChildOptions child_options(bool quiet) const;
  [[nodiscard]] Json end_json() const;

  const SessionOptions& options_;
  bool has_sensors_;
  Recorder recorder_;
  std::unique_ptr<MarkListener> marks_;
  Json commands_ = Json::array();
  RepeatedInput input_{STDIN_FILENO};
  bool stopped_ = false, told_of_input_ = false;
  double cpu_before_ = own_cpu_seconds();
  MonotonicUs begun_ = monotonic_now();
};

Result<void> Session::start() {
  JC_ASSIGN_OR_RETURN(marks_, MarkListener::start([this](const Event& event) { take(event); }));
  recorder_.start();
  return {};
}

void Session::run() {
  if (has_sensors_) pause(kEdgeMargin);
  if (options_.baseline_s > 0) {
    mark(EventKind::kBegin, "baseline");
    pause(milliseconds(static_cast<std::int64_t>(options_.baseline_s * 1000)));
    mark(EventKind::kEnd, "baseline");
  }
  for (std::size_t i = 0; i < options_.warmups && !stopped_; ++i) {
    if (!run_once("warmup", i, true)) return;
  }
  for (std::size_t i = 0; i < options_.repeats && !stopped_; ++i) {
    if (!run_once("command", i, false) && !options_.keep_going) break;
  }
  if (has_sensors_ && !not_started) pause(kEdgeMargin);
}

ChildOptions Session::child_options(bool quiet) const {
  ChildOptions out;
  out.environment = marks_->environment();
  out.inherited = {marks_->child_descriptor()};
  out.quiet = quiet;
  if (!options_.hook_folder.empty()) {
    const auto before = process_environment("PYTHONPATH");
    const bool there = before && before->starts_with(options_.hook_folder);
    const std::string path = !before || before->empty() ? options_.hook_folder : options_.hook_folder + ":" + *before;
    out.environment.emplace_back("PYTHONPATH", there ? *before : path);
  }
  return out;
}

void Session::tell_once_of_input() {
  if (std::exchange(told_of_input_, true)) return;
  recorder_.note(
      "standard input is a pipe that an earlier run has read to its end: later ones find nothing in it; a file is read "
      "anew by each");
}

// False where the command failed.
bool Session::run_once(const std::string& phase, std::size_t index, bool quiet) {
  if (input_.begin_run() == RepeatedInput::Left::kNothing) tell_once_of_input();
  mark(EventKind::kBegin, phase, fmt::format("index={}", index));
  const MonotonicUs begun = monotonic_now();
  const auto child = start_child(options_.command, child_options(quiet));
  if (!child) {
    not_started = child.error().text;
    code = child.error().code;
    return false;
  }
  ChildWaiter waiter(*child);
  Waited waited;
  while (!waited.end && !waited.interrupted) {
    waited = waiter.wait(kProgress);
    if (options_.progress) options_.progress(recorder_, static_cast<double>(monotonic_now() - begun) * 1e-6);
  }
  mark(EventKind::kEnd, phase);
  stopped_ = stopped_ || waiter.asked_to_stop();
  constexpr int kInterrupted = 130;
  const int own = waited.end ? waited.end->code : kInterrupted;
  if (code == 0) code = own;
  if (!quiet) ++runs;
  if (waited.end && !quiet) {
    commands_.push_back({{"code", own},
                         {"user_s", waited.end->user_s},
                         {"system_s", waited.end->system_s},
                         {"max_rss_bytes", waited.end->max_rss_kb * 1024}});
  }
  return own == 0;
}

Json Session::end_json() const {
  return {{"code", code},
          {"commands", commands_},
          {"stopped", stopped_},
          {"marks", {{"refused", marks_->refused()}, {"lost", marks_->lost()}}},
          {"recorder",
           {{"cpu_s", own_cpu_seconds() - cpu_before_},
            {"time_s", static_cast<double>(monotonic_now() - begun_) * 1e-6},
            {"readings", recorder_.count()}}}};
}

Result<void> Session::finish() {
  marks_->stop();
  if (const auto refused = marks_->refused(); refused > 0) {
    recorder_.note(
        fmt::format("{} {} not taken: a mark is a line of begin, end or mark, a printable name and what belongs to it "
                    "(docs/formats/marks.md)",
                    refused, refused == 1 ? "mark was" : "marks were"));
  }
  return recorder_.finish(text_of(end_json()));
}

Result<Recording> Session::recording(bool whole) const {
  if (options_.output && whole) return load_recording(*options_.output);
  JC_ASSIGN_OR_RETURN(const std::string bytes, recorder_.writer().contents());
  return parse_recording(bytes);
}

}  // namespace

Result<SessionResult> measure_command(const SessionOptions& options) {
  const SignalsBlocked blocked;
  SessionResult result;
  // Said before a recording takes the place of an older one.
  if (auto missing = not_startable(options.command.front())) {
    result.code = missing->code;
    result.not_started = std::move(missing->text);
    return result;
  }
  JC_ASSIGN_OR_RETURN(Found found, find_sensors(options.sensors));
  result.missing = found.missing;
  result.doubts = found.doubts;
  JC_ASSIGN_OR_RETURN(RecordingWriter writer, options.output
                                                  ? RecordingWriter::create(*options.output, options.existing)
                                                  : RecordingWriter::in_memory());
  writer.head(text_of(run_head(options.command, found, options.tool_version)));
  for (const std::string& doubt : found.doubts) writer.note(doubt);
  if (process_environment(kMarks)) {
    writer.note(
        "measured inside another joulecast measure, which hears nothing of the phases here; its time and energy have "
        "this "
        "run in them");
  }
  Session session(options, std::move(found), std::move(writer));
  JC_RETURN_IF_ERROR(session.start());
  session.run();
  if (auto done = session.finish(); !done) result.incomplete = done.error();
  result.code = session.code;
  result.not_started = session.not_started;
  if (result.not_started && options.output) {
    std::error_code ignored;
    std::filesystem::remove(*options.output, ignored);
  }
  result.runs = session.runs;
  result.stopped = session.stopped();
  JC_ASSIGN_OR_RETURN(result.recording, session.recording(!result.incomplete));
  return result;
}

}  // namespace joulecast
