// SPDX-License-Identifier: Apache-2.0
#include "analysis/remaining.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <system_error>

#include "analysis/phases.h"
#include "series/distribution.h"

namespace joulecast {
namespace {

double seconds(MonotonicUs time) {
  return static_cast<double>(time) * 1e-6;
}

std::optional<std::size_t> number_of(const Event& event, const char* key) {
  const auto text = detail_of(event.details, key);
  if (!text) return std::nullopt;
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value == 0) return std::nullopt;
  return value;
}

// How much wider than a normal one the 95 % interval is.
double students_factor(double degrees_of_freedom) {
  constexpr double kQuantile = 0.975, kNormal = 1.959963984540054;
  return series::t_quantile(kQuantile, degrees_of_freedom) / kNormal;
}

// What a counter adds at an update. They step each 100 ms or oftener.
double step_of(const std::vector<double>& times_s, const std::vector<double>& energies_j) {
  constexpr double kUpdate = 0.1;
  if (times_s.size() < 2) return 0;
  const double power = (energies_j.back() - energies_j.front()) / (times_s.back() - times_s.front());
  return std::isfinite(power) ? std::max(0.0, power) * kUpdate : 0;
}

}  // namespace

std::optional<StillToCome> still_to_come(const std::vector<double>& ends, double now, std::size_t total, double step) {
  if (ends.size() < 2) return std::nullopt;
  const auto warm = static_cast<double>(ends.size() - 1);
  const auto left = static_cast<double>(total - ends.size());
  const double mean = (ends.back() - ends.front()) / warm;
  StillToCome out;
  out.value = std::max(0.0, left * mean - (now - ends.back()));
  if (ends.size() == 2) return out;
  double squares = 0;
  for (std::size_t i = 1; i < ends.size(); ++i) squares += std::pow(ends[i] - ends[i - 1] - mean, 2);
  const double variance = squares / (warm - 1);
  // Each epoch to come deviates by itself, and all of them together by the error of the mean.
  const double scatter = students_factor(warm - 1) * std::sqrt(variance * (left + left * left / warm));
  // Both ends of a difference are behind: of the epochs, and of now and the last of them.
  const double behind = step * std::hypot(left / warm, 1) / std::sqrt(6.0);
  out.error = std::hypot(scatter, behind);
  return out;
}

bool EpochProgress::concerns(const Event& event) {
  return event.track == kRecorderTrack || event.name == "training" || event.name == "epoch";
}

void EpochProgress::hear(const Event& event, std::optional<double> energy_j) {
  if (!concerns(event)) return;
  if (event.track == kRecorderTrack) {
    if (event.kind == EventKind::kBegin) *this = {};
    return;
  }
  if (event.name == "training") {
    hear_training(event);
  } else if (event.kind == EventKind::kBegin) {
    begin_epoch(event);
  } else if (event.kind == EventKind::kEnd) {
    end_epoch(event, energy_j);
  }
}

void EpochProgress::hear_training(const Event& event) {
  const bool ours = !track_ || *track_ == event.track;
  if (event.kind == EventKind::kBegin && ours) {
    *this = {};
    total_ = number_of(event, "epochs");
    trainer_ = track_ = event.track;
  } else if (event.kind == EventKind::kEnd && (ours || !settled_ || trainer_ == event.track)) {
    *this = {};
  }
}

void EpochProgress::begin_epoch(const Event& event) {
  if (track_ && *track_ != event.track) {
    if (settled_) return;
    if (open_) {
      others_.insert(event.track);
      return;
    }
  }
  track_ = event.track;
  open_ = true;
  ++begun_;
  if (const auto total = number_of(event, "total")) total_ = total;
}

void EpochProgress::end_epoch(const Event& event, std::optional<double> energy_j) {
  const bool ours = track_ == event.track;
  if (!open_ || (!ours && (settled_ || others_.erase(event.track) > 0))) return;
  settled_ = ours;
  open_ = false;
  end_times_s_.push_back(seconds(event.time));
  if (energy_j) end_energies_j_.push_back(*energy_j);
}

std::optional<Remaining> EpochProgress::remaining(MonotonicUs now, std::optional<double> energy_j) const {
  if (begun_ == 0 || !total_ || begun_ > *total_) return std::nullopt;
  Remaining out{begun_, *total_, {}, {}};
  out.time_s = still_to_come(end_times_s_, seconds(now), *total_);
  if (energy_j && end_energies_j_.size() == end_times_s_.size()) {
    out.energy_j = still_to_come(end_energies_j_, *energy_j, *total_, step_of(end_times_s_, end_energies_j_));
    // Epochs shorter than the sensor's updates draw nothing that can be seen.
    const bool seen = out.energy_j && end_energies_j_.back() > end_energies_j_.front();
    if (!seen || (out.energy_j->value <= 0 && out.time_s->value > 0)) out.energy_j.reset();
  }
  return out;
}

}  // namespace joulecast
