// SPDX-License-Identifier: Apache-2.0
#include "profile/time_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profile/program_text.h"

namespace joulecast::profile {
namespace {

constexpr double kMicrosecond = 1e-6;
// Of a case: iterations that are still getting faster then are no measurement.
constexpr int kMostWarmUps = 5;

class Timer {
 public:
  Timer(Runner& runner, const Protocol& protocol, const std::function<bool()>& over)
      : runner_(runner), protocol_(protocol), over_(over) {}

  [[nodiscard]] bool over() const { return over_ && over_(); }

  Result<TimedWindow> window(std::int64_t iterations) {
    const Seconds expected{10.0 * iteration_s_ * static_cast<double>(iterations)};
    JC_ASSIGN_OR_RETURN(const TimedWindow out, timed_run(runner_, iterations, protocol_.patience + expected));
    iteration_s_ = out.clock_s() / static_cast<double>(iterations);
    return out;
  }

  // Iterations that fill a window, from what the last one took.
  [[nodiscard]] std::int64_t filling(Seconds window) const {
    const double wanted = std::ceil(window.value() / iteration_s_);
    return static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMostIterations)));
  }

  // Kernels are chosen and memory is taken at the first; the others tell roughly what an iteration takes.
  Result<void> first_calls() {
    JC_RETURN_IF_ERROR(window(1));
    for (const double share : {0.0, 0.01, 0.1}) {
      if (over()) break;
      const Seconds part = protocol_.window * share;
      if (share == 0 || iteration_s_ < part.value()) JC_RETURN_IF_ERROR(window(filling(part)));
    }
    return {};
  }

  // Runs until two windows agree; the iterations that fill one.
  Result<std::int64_t> settle(bool& settled) {
    double spent = 0, before = 0;
    while (!over()) {
      JC_ASSIGN_OR_RETURN(const TimedWindow one, window(filling(protocol_.window)));
      spent += one.clock_s();
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

// Windows until there are enough of them; false where one came out too short.
Result<bool> time_windows(Timer& timer, std::int64_t iterations, const Protocol& protocol, CaseTiming& timing) {
  timing.windows.clear();
  while (!timer.over() && !enough(timing, protocol)) {
    JC_ASSIGN_OR_RETURN(const TimedWindow window, timer.window(iterations));
    if (window.clock_s() < protocol.window.value()) return false;
    timing.windows.push_back(window);
    summarize(timing);
  }
  return true;
}

// A window that is too short says that what came before it was warm-up still, whatever agreed: it begins anew.
Result<void> time_warm(Timer& timer, const Protocol& protocol, CaseTiming& timing) {
  JC_RETURN_IF_ERROR(timer.first_calls());
  std::int64_t least = 1;
  for (int i = 0; i < kMostWarmUps; ++i) {
    JC_ASSIGN_OR_RETURN(const std::int64_t iterations, timer.settle(timing.settled));
    JC_ASSIGN_OR_RETURN(const bool timed, time_windows(timer, std::max(iterations, least), protocol, timing));
    if (timed) return {};
    // Of a time that scatters, the next may be shorter yet.
    constexpr double kReserve = 1.3;
    least = std::max(least, timer.filling(protocol.window * kReserve));
  }
  return tl::unexpected<Error>(
      Error{ErrorCode::kDevice, fmt::format("after {} warm-ups a window is still shorter than {:g} s: iterations get "
                                            "ever faster",
                                            kMostWarmUps, protocol.window.value())});
}

Result<CaseTiming> time_prepared(Runner& runner, const Reply& prepared, const Protocol& protocol,
                                 const std::function<bool()>& over) {
  CaseTiming timing;
  const auto copies = prepared.integer("copies"), distinct = prepared.integer("distinct_copies"),
             bytes = prepared.integer("weight_bytes");
  if (!copies || !distinct || !bytes) return invalid("the runner does not say where its copies of the weights lie");
  timing.copies = *copies;
  timing.weight_bytes = *bytes;
  if (*copies < 1 || *bytes < 0) return invalid(fmt::format("{} copies of {} bytes are no weights", *copies, *bytes));
  if (*distinct != *copies) {
    return invalid("the runner's copies of the weights share memory");
  }
  Timer timer(runner, protocol, over);
  JC_RETURN_IF_ERROR(time_warm(timer, protocol, timing));
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

void summarize(CaseTiming& timing) {
  const auto count = static_cast<double>(timing.windows.size());
  double sum = 0, host = 0, clock = 0, squares = 0;
  for (const TimedWindow& window : timing.windows) {
    sum += window.iteration_s();
    host += window.host_s;
    clock += window.clock_s();
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
