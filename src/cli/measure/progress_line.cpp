// SPDX-License-Identifier: Apache-2.0
#include "cli/measure/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <vector>

#include "base/relative_error.h"
#include "cli/numbers.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t kWidth = 79;

// Of all GPUs; absent where there is none, or one of them is not known.
std::optional<double> energy_of_gpus(const std::vector<LiveDevice>& devices) {
  std::optional<double> sum;
  for (const LiveDevice& device : devices) {
    if (!names_a_gpu(device.device)) continue;
    if (!device.energy_j) return std::nullopt;
    sum = sum.value_or(0) + *device.energy_j;
  }
  return sum;
}

struct Unit {
  double seconds;
  const char* name;
};

Unit unit_for(double seconds) {
  constexpr double kMinute = 60, kHour = 3600, kWorth = 2;
  if (seconds >= kWorth * kHour) return {kHour, "h"};
  if (seconds >= kWorth * kMinute) return {kMinute, "min"};
  return {1, "s"};
}

std::string error_text(const StillToCome& estimate) {
  if (!estimate.error || estimate.value <= 0) return {};
  return " " + relative_error(*estimate.error, estimate.value);
}

std::string time_text(const StillToCome& time) {
  const Unit unit = unit_for(time.value);
  return fmt::format("{:.3g} {}{}", time.value / unit.seconds, unit.name, error_text(time));
}

std::string energy_text(const StillToCome& energy) {
  return with_prefix(energy.value, "J") + error_text(energy);
}

}  // namespace

std::string remaining_text(const Remaining& remaining) {
  std::string out = fmt::format("epoch {}/{}", remaining.epoch, remaining.total);
  if (!remaining.time_s) return out;
  out += ", " + time_text(*remaining.time_s);
  if (remaining.energy_j) out += " and " + energy_text(*remaining.energy_j);
  return out + " to go";
}

ProgressLine::ProgressLine(bool asked_for)
    : terminal_(::isatty(STDERR_FILENO) == 1), shown_(asked_for || (terminal_ && ::isatty(STDOUT_FILENO) != 1)) {}

// Requires the mutex.
Live& ProgressLine::live(const Recorder& recorder) {
  if (!live_) live_.emplace(recorder);
  return *live_;
}

void ProgressLine::hear(const Recorder& recorder, const Event& event) {
  // A thousand batches a second are no reason to look at anything.
  if (!shown_ || !EpochProgress::concerns(event)) return;
  const std::lock_guard lock(mutex_);
  epochs_.hear(event, energy_of_gpus(live(recorder).look()));
}

std::string ProgressLine::text(const Recorder& recorder, double seconds) {
  const std::lock_guard lock(mutex_);
  const std::vector<LiveDevice> devices = live(recorder).look();
  std::string line = fmt::format("{:.0f} s", seconds);
  if (const auto remaining = epochs_.remaining(monotonic_now(), energy_of_gpus(devices))) {
    line += "  " + remaining_text(*remaining);
  }
  for (const LiveDevice& device : devices) {
    if (!device.power_w) continue;
    const std::string power = fmt::format("  {} {:.0f} W", device.device, *device.power_w);
    if (terminal_ && line.size() + power.size() > kWidth) break;
    line += power;
  }
  return line;
}

void ProgressLine::show(const Recorder& recorder, double seconds) {
  if (!shown_) return;
  const std::string line = text(recorder, seconds);
  if (terminal_) {
    fmt::print(stderr, "\r{:<79}", line);
    written_ = true;
  } else {
    constexpr MonotonicUs kSecond = 1'000'000;
    const MonotonicUs now = monotonic_now();
    if (last_line_ && now - *last_line_ < kSecond) return;
    last_line_ = now;
    fmt::print(stderr, "{}\n", line);
  }
  std::fflush(stderr);
}

void ProgressLine::clear() const {
  if (written_) fmt::print(stderr, "\r{:<79}\r", "");
}

}  // namespace joulecast::cli
