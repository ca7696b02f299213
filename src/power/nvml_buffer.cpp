// SPDX-License-Identifier: Apache-2.0
#include "power/nvml_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "power/nvml_value.h"

namespace joulecast {
namespace {

using nvml::Return;

// A ring of a hundred samples at 50 Hz lasts two seconds; none shorter is known.
constexpr std::chrono::microseconds kPeriod{1'000'000};
constexpr std::int64_t kStepsOfPercent = 100;
constexpr std::int64_t kMostMilliwatts = 10'000'000;
// A gap of more than one and a half steps has room for a sample that is not there.
constexpr double kGap = 1.5;

struct Kind {
  nvml::SamplingType type;
  Signal signal;
  std::int64_t scale;
  const char* words;
};

constexpr std::array kKinds{
    Kind{nvml::SamplingType::kTotalPower, Signal::kPower, 1, "power samples"},
    Kind{nvml::SamplingType::kGpuUtilization, Signal::kUtilization, kStepsOfPercent, "utilisation samples"},
    Kind{nvml::SamplingType::kMemoryUtilization, Signal::kMemoryUtilization, kStepsOfPercent,
         "memory utilisation samples"},
};

struct Drained {
  Return code = Return::kSuccess;
  nvml::ValueType type = nvml::ValueType::kUnsignedInt;
  std::vector<nvml::Sample> samples;
};

// The first call says how many there may be, the second brings them. "Not found" is "nothing new".
Drained drain(const NvmlGpu& gpu, nvml::SamplingType type, std::uint64_t after) {
  Drained out;
  auto* get = gpu.library->nvmlDeviceGetSamples;
  if (get == nullptr) return {Return::kFunctionNotFound, out.type, {}};
  std::uint32_t count = 0;
  out.code = get(gpu.handle, type, after, &out.type, &count, nullptr);
  if (out.code == Return::kSuccess && count > 0) {
    out.samples.resize(count);
    out.code = get(gpu.handle, type, after, &out.type, &count, out.samples.data());
    out.samples.resize(out.code == Return::kSuccess ? std::min<std::size_t>(count, out.samples.size()) : 0);
  }
  if (out.code == Return::kNotFound) out.code = Return::kSuccess;
  return out;
}

// One kind of samples and how far it has been read.
struct Stream {
  Kind kind;
  std::uint64_t seen_us = 0;  // the driver's time of the newest sample
  std::int64_t step_us = 0;   // the shortest step so far
};

class NvmlBuffer : public Sensor {
 public:
  NvmlBuffer(NvmlGpu gpu, std::vector<Stream> streams) : gpu_(std::move(gpu)), streams_(std::move(streams)) {
    for (const Stream& stream : streams_) {
      channels_.push_back({gpu_.id(), stream.kind.signal, "nvml-buffer", std::nullopt});
    }
  }

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kBuffer; }
  [[nodiscard]] std::chrono::microseconds period() const override { return kPeriod; }
  void read(ReadingSink& sink) override {
    for (std::size_t i = 0; i < streams_.size(); ++i) read(sink, i);
  }

 private:
  void read(ReadingSink& sink, std::size_t channel);
  void take(ReadingSink& sink, std::size_t channel, const nvml::Sample& sample, nvml::ValueType type, MonotonicUs time);

  NvmlGpu gpu_;
  std::vector<Stream> streams_;
  std::vector<Channel> channels_;
};

void NvmlBuffer::read(ReadingSink& sink, std::size_t channel) {
  const std::int64_t utc_minus_monotonic = utc_now() - monotonic_now();
  Drained drained = drain(gpu_, streams_[channel].kind.type, streams_[channel].seen_us);
  if (drained.code != Return::kSuccess) {
    sink.absent(channel, monotonic_now(), absence_of(drained.code), 1, gpu_.library->text(drained.code));
    return;
  }
  std::sort(drained.samples.begin(), drained.samples.end(),
            [](const nvml::Sample& a, const nvml::Sample& b) { return a.timestamp_us < b.timestamp_us; });
  for (const nvml::Sample& sample : drained.samples) {
    if (sample.timestamp_us <= streams_[channel].seen_us) continue;  // unused places of the ring, and old ones
    take(sink, channel, sample, drained.type, static_cast<std::int64_t>(sample.timestamp_us) - utc_minus_monotonic);
  }
}

void NvmlBuffer::take(ReadingSink& sink, std::size_t channel, const nvml::Sample& sample, nvml::ValueType type,
                      MonotonicUs time) {
  Stream& stream = streams_[channel];
  const auto step = static_cast<std::int64_t>(sample.timestamp_us - stream.seen_us);
  if (stream.seen_us != 0) {
    if (stream.step_us != 0 && static_cast<double>(step) > kGap * static_cast<double>(stream.step_us)) {
      const auto lost = static_cast<std::uint64_t>((step + stream.step_us / 2) / stream.step_us - 1);
      sink.absent(channel, time - step, Absence::kLost, lost, "the driver's ring ran over");
    }
    stream.step_us = stream.step_us == 0 ? step : std::min(stream.step_us, step);
  }
  stream.seen_us = sample.timestamp_us;
  const auto value = whole(type, sample.value);
  const bool power = stream.kind.signal == Signal::kPower;
  if (!value || *value < 0 || (power && (*value == 0 || *value > kMostMilliwatts))) {
    sink.absent(channel, time, Absence::kImplausible, 1, "NVML gives a sample that is no number of its kind");
    return;
  }
  sink.reading(channel, {time, *value * stream.kind.scale});
}

}  // namespace

std::unique_ptr<Sensor> open_nvml_buffer(const NvmlGpu& gpu, const SensorOptions& /*options*/,
                                         std::vector<Missing>& missing) {
  std::vector<Stream> streams;
  for (const Kind& kind : kKinds) {
    // What is in the ring already was before the run.
    const Drained drained = drain(gpu, kind.type, 0);
    if (drained.code == Return::kSuccess) {
      std::uint64_t newest = 0;
      for (const nvml::Sample& sample : drained.samples) newest = std::max(newest, sample.timestamp_us);
      streams.push_back({kind, newest, 0});
    } else {
      missing.push_back({fmt::format("{}: {}", gpu.id(), kind.words), gpu.library->text(drained.code), ""});
    }
  }
  if (streams.empty()) return nullptr;
  return std::make_unique<NvmlBuffer>(gpu, std::move(streams));
}

}  // namespace joulecast
