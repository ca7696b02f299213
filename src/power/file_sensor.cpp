// SPDX-License-Identifier: Apache-2.0
#include "power/file_sensor.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace joulecast {
namespace {

constexpr double kMostWatts = 100e3;

bool plausible(Signal signal, std::int64_t steps) {
  const double value = static_cast<double>(steps) * info(signal).step;
  return signal == Signal::kTemperature || (value >= 0 && (signal != Signal::kPower || value < kMostWatts));
}

class FileSensor : public Sensor {
 public:
  FileSensor(std::vector<FileChannel> files, Lane lane, std::chrono::microseconds period)
      : files_(std::move(files)), lane_(lane), period_(period) {
    for (const FileChannel& file : files_) channels_.push_back(file.channel);
  }

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return lane_; }
  [[nodiscard]] std::chrono::microseconds period() const override { return period_; }
  void read(ReadingSink& sink) override {
    for (std::size_t i = 0; i < files_.size(); ++i) read(sink, i);
  }

 private:
  void read(ReadingSink& sink, std::size_t i) {
    const MonotonicUs time = monotonic_now();
    const auto number = files_[i].file.number();
    if (!number) {
      sink.absent(i, time, Absence::kError, 1, number.error().text());
      return;
    }
    const std::int64_t steps = std::llround(static_cast<double>(*number) * files_[i].scale);
    if (plausible(channels_[i].signal, steps)) {
      sink.reading(i, {time, steps});
    } else {
      sink.absent(i, time, Absence::kImplausible, 1, fmt::format("the kernel says {}", *number));
    }
  }

  std::vector<FileChannel> files_;
  Lane lane_;
  std::chrono::microseconds period_;
  std::vector<Channel> channels_;
};

}  // namespace

std::unique_ptr<Sensor> file_sensor(std::vector<FileChannel> channels, Lane lane, std::chrono::microseconds period) {
  return std::make_unique<FileSensor>(std::move(channels), lane, period);
}

}  // namespace joulecast
