// SPDX-License-Identifier: Apache-2.0
#include "measure/meter.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "base/harmless.h"
#include "measure/run_head.h"

namespace joulecast {
namespace {

constexpr MonotonicUs kMarginUs = std::chrono::microseconds(kEdgeMargin).count();
constexpr std::size_t kLongestName = 256;

std::string details_of(Meter::Window window) {
  return fmt::format("id={}", window);
}

// Signals are the program's own: none is to end in a thread of ours.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

}  // namespace

Meter::Meter(Found found, RecordingWriter writer, const MeterOptions& options) : process_(::getpid()) {
  const std::string head = run_head(options.command, found, options.tool_version)
                               .dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  head_ = nlohmann::json::parse(head);
  notes_ = std::move(found.doubts);
  writer.head(head);
  for (const std::string& note : notes_) writer.note(note);
  recorder_ = std::make_unique<Recorder>(std::move(found.sensors), std::move(writer));
  channels_ = recorder_->channels();
  kept_ = RecentReadings(channels_.size());
  recorder_->listen([this](std::size_t channel, const Reading& reading) {
    const std::lock_guard lock(mutex_);
    kept_.add(channel, reading);
    trim(reading.time);
  });
}

Result<std::unique_ptr<Meter>> Meter::start(const MeterOptions& options) {
  JC_ASSIGN_OR_RETURN(Found found, find_sensors(options.sensors));
  JC_ASSIGN_OR_RETURN(RecordingWriter writer, options.output
                                                  ? RecordingWriter::create(*options.output, options.existing)
                                                  : RecordingWriter::nowhere());
  const bool reads = !found.sensors.empty();
  std::unique_ptr<Meter> meter(new Meter(std::move(found), std::move(writer), options));
  {
    const NoSignals in_new_threads;
    meter->recorder_->start();
  }
  if (reads) std::this_thread::sleep_for(kEdgeMargin);
  return meter;
}

Meter::~Meter() {
  if (::getpid() == process_) {
    (void)finish();
  } else {
    (void)recorder_.release();  // its threads are the parent's; nothing of them can be ended here
  }
}

Result<void> Meter::check_process() const {
  if (::getpid() == process_) return {};
  return unsupported("a meter measures in the process that opened it alone, not in one forked off");
}

void Meter::trim(MonotonicUs now) {
  while (!windows_.empty() && windows_.begin()->second.dropped) windows_.erase(windows_.begin());
  kept_.drop_before((windows_.empty() ? now : windows_.begin()->second.begin) - kMarginUs);
}

void Meter::mark(EventKind kind, MonotonicUs time, const std::string& name, Window window) {
  recorder_->event({time, kind, process_, name, details_of(window)});
}

Result<Meter::Window> Meter::begin(const std::string& name) {
  JC_RETURN_IF_ERROR(check_process());
  if (name.empty() || name.size() > kLongestName) {
    return invalid(fmt::format("the name of a window has 1 to {} bytes, not {}", kLongestName, name.size()));
  }
  Window window = 0;
  MonotonicUs now = 0;
  {
    const std::lock_guard lock(mutex_);
    window = next_++;
    now = monotonic_now();
    windows_[window] = {harmless_line(name), now, std::nullopt};
  }
  mark(EventKind::kBegin, now, name, window);
  return window;
}

Result<void> Meter::end(Window window) {
  const MonotonicUs now = monotonic_now();
  JC_RETURN_IF_ERROR(check_process());
  std::string name;
  {
    const std::lock_guard lock(mutex_);
    Marked& marked = windows_.at(window);
    if (marked.end) return invalid(fmt::format("window '{}' has ended already", marked.name));
    marked.end = now;
    marked.ended = ends_++;
    name = marked.name;
  }
  mark(EventKind::kEnd, now, name, window);
  return {};
}

std::vector<Event> Meter::events_of(Window window, const Marked& marked) const {
  std::vector<Event> out{{marked.begin, EventKind::kBegin, kRecorderTrack, "command", "index=0"}};
  for (const auto& [id, inner] : windows_) {
    const bool within = id > window && inner.end && inner.ended < marked.ended;
    if (!within || *inner.end > *marked.end) continue;
    out.push_back({inner.begin, EventKind::kBegin, process_, inner.name, details_of(id)});
    out.push_back({*inner.end, EventKind::kEnd, process_, inner.name, details_of(id)});
  }
  out.push_back({*marked.end, EventKind::kEnd, kRecorderTrack, "command", ""});
  std::stable_sort(out.begin(), out.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  return out;
}

Result<Recording> Meter::recording(Window window) {
  JC_RETURN_IF_ERROR(check_process());
  Recording out;
  std::unique_lock lock(mutex_);
  const Marked marked = windows_.at(window);
  if (!marked.end) return invalid(fmt::format("window '{}' has not ended yet", marked.name));
  while (!channels_.empty() && !finished_ && monotonic_now() < *marked.end + kMarginUs) {
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(*marked.end + kMarginUs - monotonic_now()));
    lock.lock();
  }
  out.head = head_;
  out.channels = channels_;
  out.readings = kept_.around(marked.begin - kMarginUs, *marked.end + kMarginUs);
  out.events = events_of(window, marked);
  out.clocks = {{monotonic_now(), utc_now()}};
  out.notes = notes_;
  out.damage.complete = true;
  return out;
}

void Meter::drop(Window window) {
  if (!check_process()) return;
  const std::lock_guard lock(mutex_);
  windows_.at(window).dropped = true;
}

std::size_t Meter::kept() {
  const std::lock_guard lock(mutex_);
  return kept_.count();
}

Result<void> Meter::finish() {
  JC_RETURN_IF_ERROR(check_process());
  const std::lock_guard alone(finishing_);
  if (finished_) return *finished_;
  Result<void> done = recorder_->finish(R"({"code":0})");
  const std::lock_guard lock(mutex_);
  finished_ = done;
  return done;
}

}  // namespace joulecast
