// SPDX-License-Identifier: Apache-2.0
// Chrome's trace events, as Perfetto and chrome://tracing open them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "recording/export/exporters.h"
#include "recording/export/timeline.h"
#include "recording/export/trace_file.h"

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;

// Beyond the process ids of Linux (at most 2^22) and the numbers that PyTorch gives to GPUs, to share a file with both.
constexpr std::int64_t kProcess = 0x40000000;
constexpr std::int64_t kNanosecondsOfMicrosecond = 1000;
// PyTorch's profiler counts from the begin of a quarter of a year, so that times keep their digits as doubles; the same
// begin lets two files be opened beside each other.
constexpr std::int64_t kQuarterOfYear = 7'889'238'000'000;
// Times since 1970 are above this, times since a start of anything below: 2001 in microseconds.
constexpr double kSinceEpoch = 1e15;

std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

// What is worth a curve, and what to call it.
struct Curve {
  Signal signal;
  std::string_view name, unit;
};
constexpr std::array kCurves{
    Curve{Signal::kPower, "power", "W"},
    Curve{Signal::kPowerLimit, "power limit", "W"},
    Curve{Signal::kSmClock, "SM clock", "MHz"},
    Curve{Signal::kMemoryClock, "memory clock", "MHz"},
    Curve{Signal::kMemoryUsed, "memory used", "MiB"},
    Curve{Signal::kTemperature, "temperature", "C"},
    Curve{Signal::kUtilization, "utilization", "%"},
    Curve{Signal::kMemoryUtilization, "memory utilization", "%"},
};

double scale_of(std::string_view unit) {
  constexpr double kMega = 1e6;
  constexpr double kMebi = 1048576;
  constexpr double kPercent = 0.01;
  return unit == "MHz" ? kMega : unit == "MiB" ? kMebi : unit == "%" ? kPercent : 1;
}

class TraceExport {
 public:
  TraceExport(const RunSource& run, std::int64_t base_us, const Put& put)
      : run_(run), base_us_(base_us), clock_(run.outline().clocks), put_(put) {}

  // All events, with commas between them.
  void write() {
    name_rows();
    phases();
    counters();
  }
  [[nodiscard]] bool any() const { return any_; }

 private:
  void event(std::string_view text) {
    put_(any_ ? ",\n" : "\n");
    put_(text);
    any_ = true;
  }
  void named(std::string_view what, std::int64_t thread, const std::string& name) {
    event(fmt::format(R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":{}}}}})", what, kProcess, thread,
                      quoted(name)));
  }
  // Of a run without a wall clock its own begin is 0.
  [[nodiscard]] std::int64_t time(MonotonicUs at) const {
    return clock_.known() ? clock_.utc(at) - base_us_ : at - run_.span().begin;
  }
  // Phases of one name and track are nested always, those of different names need not be: a row for each.
  std::int64_t row_of(const Event& event) const { return rows_.at({event.track, event.name}); }

  void name_rows();
  void phases();
  void counters();

  const RunSource& run_;
  std::int64_t base_us_;
  UtcClock clock_;
  const Put& put_;
  bool any_ = false;
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> rows_;
};

void TraceExport::name_rows() {
  named("process_name", 0, "joulecast");
  for (const Event& event : run_.outline().events) {
    const auto [at, added] = rows_.emplace(std::pair(event.track, event.name), rows_.size() + 1);
    if (added) named("thread_name", at->second, "phase " + event.name);
  }
}

void TraceExport::phases() {
  std::vector<Event> events = run_.outline().events;
  std::stable_sort(events.begin(), events.end(), [](const Event& a, const Event& b) { return a.time < b.time; });
  OpenPhases open;
  const auto line = [&](char kind, const Event& event, MonotonicUs at, std::string_view more) {
    this->event(fmt::format(R"({{"ph":"{}","cat":"phase","name":{},"pid":{},"tid":{},"ts":{}{}}})", kind,
                            quoted(event.name), kProcess, row_of(event), time(at), more));
  };
  for (const Event& event : events) {
    const std::string details =
        event.details.empty() ? "" : fmt::format(R"(,"args":{{"details":{}}})", quoted(event.details));
    if (event.kind == EventKind::kMark) {
      line('i', event, event.time, R"(,"s":"p")" + details);
    } else if (event.kind == EventKind::kBegin) {
      if (open.begin(event)) line('B', event, event.time, details);
    } else if (const Event* begin = open.end(event)) {
      line('E', *begin, event.time, "");
    }
  }
  // What nobody ended ends with the recording.
  for (auto begin = open.open().rbegin(); begin != open.open().rend(); ++begin) line('E', **begin, run_.span().end, "");
}

void TraceExport::counters() {
  std::vector<std::string> heads;
  std::vector<double> factors;  // 0 where there is no curve
  std::map<std::string, std::size_t> devices;
  for (const Channel& channel : run_.outline().channels) {
    const auto device = devices.emplace(channel.device, devices.size()).first->second;
    const auto* const curve =
        std::find_if(kCurves.begin(), kCurves.end(), [&](const Curve& one) { return one.signal == channel.signal; });
    factors.push_back(curve == kCurves.end() ? 0 : info(channel.signal).step / scale_of(curve->unit));
    heads.emplace_back();
    if (curve == kCurves.end()) continue;
    // Perfetto puts the argument's name, the unit, behind the counter's.
    heads.back() = fmt::format(R"({{"ph":"C","name":{},"pid":{},"tid":{},"args":{{"{}":)",
                               quoted(fmt::format("{} {} ({})", channel.device, curve->name, channel.source)), kProcess,
                               device, curve->unit);
  }
  run_.each([&](std::uint32_t channel, std::span<const Reading> readings) {
    if (factors[channel] == 0) return;
    for (const Reading& reading : readings) {
      event(fmt::format("{}{:.10g}}},\"ts\":{}}}", heads[channel],
                        static_cast<double>(reading.value) * factors[channel], time(reading.time)));
    }
  });
}

Result<std::int64_t> base_of(const TraceFile& trace) {
  if (trace.base_ns) return *trace.base_ns / kNanosecondsOfMicrosecond;
  if (trace.first_us && *trace.first_us < kSinceEpoch) {
    return invalid("does not say when its time 0 was (baseTimeNanoseconds), so nothing can be put beside it");
  }
  return 0;
}

Result<void> merge(const RunSource& run, const std::string& path, const Put& put) {
  JC_ASSIGN_OR_RETURN(const MappedFile file, MappedFile::open(path));
  const auto trace = scan_trace(file.text());
  if (!trace) return tl::unexpected<Error>(Error(trace.error()).in(path));
  const UtcClock clock(run.outline().clocks);
  if (!clock.known())
    return invalid("the recording has no wall-clock time, so it cannot be put beside another's events");
  const auto base = base_of(*trace);
  if (!base) return tl::unexpected<Error>(Error(base.error()).in(path));
  const auto at = [&](MonotonicUs time) { return static_cast<double>(clock.utc(time) - *base); };
  if (trace->first_us && (*trace->first_us > at(run.span().end) || *trace->last_us < at(run.span().begin))) {
    return invalid(fmt::format("{}: nothing in it is of the time of the recording: it begins {:+.0f} s from it", path,
                               (*trace->first_us - at(run.span().begin)) * 1e-6));
  }
  put(file.text().substr(0, trace->insert_at));
  TraceExport(run, *base, put).write();
  if (!trace->empty) put(",");
  put(file.text().substr(trace->insert_at));
  return {};
}

}  // namespace

Result<void> export_trace(const RunSource& run, const ExportOptions& options, const Put& put) {
  if (options.merge) return merge(run, *options.merge, put);
  const UtcClock clock(run.outline().clocks);
  std::int64_t base_us = 0;
  if (clock.known()) base_us = clock.utc(run.span().begin) / kQuarterOfYear * kQuarterOfYear;
  put("{\"displayTimeUnit\":\"ms\",");
  if (clock.known()) put(fmt::format("\"baseTimeNanoseconds\":{},", base_us * kNanosecondsOfMicrosecond));
  put("\"traceEvents\":[");
  TraceExport(run, base_us, put).write();
  put("\n]}\n");
  return {};
}

}  // namespace joulecast
