// SPDX-License-Identifier: Apache-2.0
#include "profile/timed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace joulecast::profile {
namespace {

constexpr double kMicrosecond = 1e-6;
// Runners may round, and events have a clock of their own.
constexpr std::int64_t kClockSlackUs = 1000;
constexpr double kDeviceSlack = 1.01;
// So few may be over within a microsecond.
constexpr std::int64_t kFew = 10;

// Of whatever numbers a runner may say: differences of integers could overflow.
double seconds_between(std::int64_t begin_us, std::int64_t end_us) {
  return (static_cast<double>(end_us) - static_cast<double>(begin_us)) * kMicrosecond;
}

// Why the window cannot be what was run between these two moments; empty where it can.
std::string implausible(const TimedWindow& window, std::int64_t asked_us, std::int64_t answered_us) {
  if (window.begin_us < asked_us - kClockSlackUs)
    return fmt::format("work that began {:g} s before it was asked for", seconds_between(window.begin_us, asked_us));
  if (window.end_us > answered_us + kClockSlackUs)
    return fmt::format("work that ended {:g} s after the reply", seconds_between(answered_us, window.end_us));
  const double us = seconds_between(window.begin_us, window.end_us) / kMicrosecond;
  if (us < 0 || (us == 0 && window.iterations >= kFew))
    return fmt::format("{} iterations that took {:.0f} us", window.iterations, us);
  if (!std::isfinite(window.host_s) || window.host_s < 0) return fmt::format("host_s={}", window.host_s);
  if (!window.device_s) return {};
  const double longest = kDeviceSlack * window.clock_s() + static_cast<double>(kClockSlackUs) * kMicrosecond;
  const bool nothing = *window.device_s < 0 || (*window.device_s == 0 && window.iterations >= kFew);
  if (nothing || !(*window.device_s <= longest))
    return fmt::format("device_s={} in {} s", *window.device_s, window.clock_s());
  return {};
}

}  // namespace

double TimedWindow::clock_s() const {
  return seconds_between(begin_us, end_us);
}

double TimedWindow::iteration_s() const {
  return device_s.value_or(clock_s()) / static_cast<double>(iterations);
}

Result<TimedWindow> timed_run(Runner& runner, std::int64_t iterations, Seconds timeout) {
  const std::int64_t asked_us = runner.now_us();
  JC_ASSIGN_OR_RETURN(const Reply reply, runner.request(fmt::format("run iterations={}\n", iterations), timeout));
  const std::int64_t answered_us = runner.now_us();
  const auto begin = reply.integer("begin_us"), end = reply.integer("end_us");
  const auto host = reply.real("host_s");
  if (!begin || !end || !host) return invalid("the runner's window has no edges");
  if (reply.integer("iterations") != iterations) {
    return invalid(fmt::format("the runner was asked for {} iterations and tells of {}", iterations,
                               reply.text("iterations").empty() ? "none" : reply.text("iterations")));
  }
  TimedWindow out{iterations, *begin, *end, *host, reply.real("device_s")};
  if (const std::string why = implausible(out, asked_us, answered_us); !why.empty())
    return invalid("the runner tells of " + why);
  out.end_us = std::max(out.end_us, out.begin_us + 1);
  return out;
}

}  // namespace joulecast::profile
