// SPDX-License-Identifier: Apache-2.0
#include "profile/time_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/program_text.h"

namespace joulecast::profile {
namespace {

constexpr std::int64_t kMostIterations = 10'000'000;
constexpr double kMicrosecond = 1e-6;

class Timer {
 public:
  Timer(Runner& runner, const Protocol& protocol, const std::function<bool()>& over)
      : runner_(runner), protocol_(protocol), over_(over) {}

  [[nodiscard]] bool over() const { return over_ && over_(); }

  Result<TimedWindow> window(std::int64_t iterations) {
    const Seconds expected{10.0 * iteration_s_ * static_cast<double>(iterations)};
    JC_ASSIGN_OR_RETURN(const Reply reply,
                        runner_.request(fmt::format("run iterations={}\n", iterations), protocol_.patience + expected));
    const auto begin = reply.integer("begin_us"), end = reply.integer("end_us");
    const auto host = reply.real("host_s");
    if (!begin || !end || !host || *end < *begin) return invalid("the runner's window has no edges");
    TimedWindow out{iterations, *begin, std::max(*end, *begin + 1), *host, reply.real("device_s")};
    iteration_s_ = static_cast<double>(out.end_us - out.begin_us) * kMicrosecond / static_cast<double>(iterations);
    return out;
  }

  // Iterations that fill a window, from what the last one took.
  [[nodiscard]] std::int64_t filling(Seconds window) const {
    const double wanted = std::ceil(window.value() / iteration_s_);
    return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMostIterations)));
  }

  // Runs until two windows agree; the iterations that fill one.
  Result<std::int64_t> warm_up(bool& settled) {
    JC_RETURN_IF_ERROR(window(1));  // kernels are chosen and memory is taken at the first call
    for (const double share : {0.0, 0.01, 0.1}) {
      if (over()) break;
      const Seconds part = protocol_.window * share;
      if (share == 0 || iteration_s_ < part.value()) JC_RETURN_IF_ERROR(window(filling(part)));
    }
    double spent = 0, before = 0;
    while (!over()) {
      JC_ASSIGN_OR_RETURN(const TimedWindow one, window(filling(protocol_.window)));
      spent += static_cast<double>(one.end_us - one.begin_us) * kMicrosecond;
      const double now = one.iteration_s();
      settled = std::abs(now - before) <= protocol_.settled * now;
      before = now;
      if ((settled && spent >= protocol_.shortest_warmup.value()) || spent >= protocol_.longest_warmup.value()) {
        break;
      }
    }
    // A little more: what follows may be faster.
    constexpr double kReserve = 1.05;
    return filling(protocol_.window * kReserve);
  }

 private:
  Runner& runner_;
  const Protocol& protocol_;
  const std::function<bool()>& over_;
  double iteration_s_ = 0.001;
};

bool enough(const CaseTiming& timing, const Protocol& protocol) {
  if (!usable(timing, protocol)) return false;
  return timing.windows.size() >= protocol.most_windows || timing.error_s <= protocol.target * timing.mean_s;
}

Result<void> read_memory(Runner& runner, const Protocol& protocol, CaseTiming& timing) {
  JC_ASSIGN_OR_RETURN(const Reply memory, runner.request("memory\n", protocol.patience));
  timing.allocated_bytes = memory.integer("allocated_bytes");
  timing.reserved_bytes = memory.integer("reserved_bytes");
  return {};
}

std::string name_of(Work work) {
  if (work == Work::kOptimizer) return "optimizer";
  return work == Work::kNetwork ? "network" : "operation";
}

// A runner of before there were modules, or optimizers, does not know the word, and would measure nothing at all.
Result<void> check_words(const Reply& prepared, const CaseRequest& request) {
  if (request.work == Work::kOptimizer && prepared.text("kind") != name_of(request.work))
    return unsupported("this runner knows nothing of optimizers");
  if (prepared.text("module") == request.module) return {};
  return unsupported("this runner knows nothing of modules");
}

Result<CaseTiming> time_prepared(Runner& runner, const Reply& prepared, const Protocol& protocol,
                                 const std::function<bool()>& over) {
  CaseTiming timing;
  const auto copies = prepared.integer("copies"), distinct = prepared.integer("distinct_copies"),
             bytes = prepared.integer("weight_bytes");
  if (!copies || !distinct || !bytes) return invalid("the runner does not say where its copies of the weights lie");
  timing.copies = *copies;
  timing.weight_bytes = *bytes;
  if (*distinct != *copies) {
    return invalid("the runner's copies of the weights share memory");
  }
  Timer timer(runner, protocol, over);
  JC_ASSIGN_OR_RETURN(const std::int64_t iterations, timer.warm_up(timing.settled));
  while (!timer.over() && !enough(timing, protocol)) {
    JC_ASSIGN_OR_RETURN(TimedWindow window, timer.window(iterations));
    timing.windows.push_back(window);
    summarize(timing);
  }
  JC_RETURN_IF_ERROR(read_memory(runner, protocol, timing));
  return timing;
}

}  // namespace

std::string prepare_lines(const CaseRequest& request, const Protocol& protocol) {
  // A network and its optimizer have the weights once, as they have where they are used.
  const bool copied = request.work == Work::kOperation;
  return fmt::format("prepare kind={} mode={} precision={} input_gradient={} copies_bytes={} copies_most={}{}\n{}end\n",
                     name_of(request.work), name(request.mode), name(request.precision), request.input_gradient ? 1 : 0,
                     copied ? protocol.copies_bytes : 0, copied ? protocol.copies_most : 1,
                     request.module.empty() ? "" : " module=" + escaped(request.module), request.program);
}

double TimedWindow::iteration_s() const {
  const double all = device_s ? *device_s : static_cast<double>(end_us - begin_us) * kMicrosecond;
  return all / static_cast<double>(iterations);
}

void summarize(CaseTiming& timing) {
  const auto count = static_cast<double>(timing.windows.size());
  double sum = 0, host = 0, clock = 0, squares = 0;
  for (const TimedWindow& window : timing.windows) {
    sum += window.iteration_s();
    host += window.host_s;
    clock += static_cast<double>(window.end_us - window.begin_us) * kMicrosecond;
  }
  timing.mean_s = sum / count;
  for (const TimedWindow& window : timing.windows) squares += std::pow(window.iteration_s() - timing.mean_s, 2);
  timing.deviation_s = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  timing.error_s = timing.deviation_s / std::sqrt(count);
  timing.host_share = clock > 0 ? std::min(host / clock, 1.0) : 0;
}

bool usable(const CaseTiming& timing, const Protocol& protocol) {
  if (timing.windows.empty() || timing.windows.size() < protocol.least_windows) return false;
  const std::int64_t span_us = timing.windows.back().end_us - timing.windows.front().begin_us;
  return static_cast<double>(span_us) * kMicrosecond >= protocol.span.value();
}

Result<CaseTiming> time_case(Runner& runner, const CaseRequest& request, const Protocol& protocol,
                             const std::function<bool()>& over) {
  JC_ASSIGN_OR_RETURN(const Reply prepared, runner.request(prepare_lines(request, protocol), protocol.patience));
  JC_RETURN_IF_ERROR(check_words(prepared, request));
  auto timing = time_prepared(runner, prepared, protocol, over);
  if (timing) JC_RETURN_IF_ERROR(runner.request("release\n", protocol.patience));
  return timing;
}

}  // namespace joulecast::profile
