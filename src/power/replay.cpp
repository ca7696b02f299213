// SPDX-License-Identifier: Apache-2.0
#include "power/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "recording/recording.h"

namespace joulecast {
namespace {

constexpr std::chrono::microseconds kPeriod{20'000};

// All channels of a recording; what was read at its moment t is told at the moment t after the first look.
class Replay : public Sensor {
 public:
  explicit Replay(Recording recording) : recording_(std::move(recording)), next_(recording_.channels.size(), 0) {
    for (const auto& readings : recording_.readings) {
      if (!readings.empty() && (!begin_ || readings.front().time < *begin_)) begin_ = readings.front().time;
    }
  }

  [[nodiscard]] const std::vector<Channel>& channels() const override { return recording_.channels; }
  [[nodiscard]] Lane lane() const override { return Lane::kPower; }
  [[nodiscard]] std::chrono::microseconds period() const override { return kPeriod; }
  void read(ReadingSink& sink) override {
    const MonotonicUs now = monotonic_now();
    if (!started_) started_ = now;
    const MonotonicUs shift = *started_ - begin_.value_or(0);
    for (std::size_t i = 0; i < next_.size(); ++i) {
      const auto& readings = recording_.readings[i];
      for (; next_[i] < readings.size() && readings[next_[i]].time + shift <= now; ++next_[i]) {
        sink.reading(i, {readings[next_[i]].time + shift, readings[next_[i]].value});
      }
    }
  }

 private:
  Recording recording_;
  std::vector<std::size_t> next_;  // of each channel: what comes next
  std::optional<MonotonicUs> begin_, started_;
};

std::string text(const nlohmann::json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : std::string();
}

std::vector<MeasuredDevice> devices_of(const nlohmann::json& head) {
  std::vector<MeasuredDevice> out;
  const auto devices = head.find("devices");
  if (devices == head.end() || !devices->is_array()) return out;
  for (const auto& one : *devices) {
    if (!one.is_object()) continue;
    out.push_back(
        {text(one, "id"), text(one, "kind"), text(one, "name"), one.value("details", nlohmann::json::object())});
  }
  return out;
}

}  // namespace

Result<Found> find_replay(const SensorOptions& options) {
  Found found;
  if (!options.replay) return found;
  if (options.gpus)
    return invalid("--gpu (JOULECAST_GPU) chooses among this machine's GPUs: --replay plays all it has");
  auto loaded = load_recording(*options.replay);
  if (!loaded && loaded.error().code() == ErrorCode::kInvalidInput) {
    return invalid(loaded.error().text() + " (joulecast export --as jcrun makes one of other programs' logs)");
  }
  JC_ASSIGN_OR_RETURN(Recording recording, std::move(loaded));
  found.devices = devices_of(recording.head);
  found.choice = "recording " + *options.replay;
  found.doubts.push_back(fmt::format("readings are not of this machine: {} is played again", *options.replay));
  found.sensors.push_back(std::make_unique<Replay>(std::move(recording)));
  return found;
}

}  // namespace joulecast
