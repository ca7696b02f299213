// SPDX-License-Identifier: Apache-2.0
#include "fit/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace joulecast {
namespace {

constexpr double kBetweenLines = 5.0;  // seconds

double steady_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

Pace::Pace(Progress say, double total, Now now)
    : say_(std::move(say)), now_(std::move(now)), total_(total), begin_(now_()), said_(begin_) {}

Pace::Pace(Progress say, double total) : Pace(std::move(say), total, steady_seconds) {}

void Pace::done(double cost, std::string_view what) {
  done_ += cost;
  const double now = now_();
  if (now - said_ < kBetweenLines) return;
  said_ = now;
  const double gone = now - begin_;
  const double left = gone * std::max(0.0, total_ - done_) / done_;
  say_(fmt::format("{}; {} gone, about {} left", what, clock_text(gone), clock_text(left)));
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace joulecast
