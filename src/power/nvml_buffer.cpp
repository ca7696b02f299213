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

// The rings that are known last two seconds, a hundred samples at 50 Hz; what lasts shorter is drained twice in its
// time.
constexpr std::chrono::microseconds kSlowest{1'000'000};
constexpr std::chrono::microseconds kFastest{50'000};
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
  std::int64_t span_us = 0;   // from the oldest sample of a full ring to its newest; 0: not known

  // Requires: times rising. Places of the ring that were never used have the time 0.
  void look_at_ring(const std::vector<nvml::Sample>& samples);
};

void Stream::look_at_ring(const std::vector<nvml::Sample>& samples) {
  const auto first =
      std::find_if(samples.begin(), samples.end(), [](const nvml::Sample& sample) { return sample.timestamp_us != 0; });
  if (first == samples.end()) return;
  seen_us = samples.back().timestamp_us;
  span_us = static_cast<std::int64_t>(seen_us - first->timestamp_us);
  for (auto next = first; next != samples.end() && next + 1 != samples.end(); ++next) {
    const auto step = static_cast<std::int64_t>((next + 1)->timestamp_us - next->timestamp_us);
    if (step > 0) step_us = step_us == 0 ? step : std::min(step_us, step);
  }
}

void sort_by_time(std::vector<nvml::Sample>& samples) {
  std::sort(samples.begin(), samples.end(),
            [](const nvml::Sample& a, const nvml::Sample& b) { return a.timestamp_us < b.timestamp_us; });
}

class NvmlBuffer : public Sensor {
 public:
  NvmlBuffer(NvmlGpu gpu, std::vector<Stream> streams) : gpu_(std::move(gpu)), streams_(std::move(streams)) {
    for (const Stream& stream : streams_) {
      channels_.push_back({gpu_.id(), stream.kind.signal, "nvml-buffer", std::nullopt});
    }
  }

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kBuffer; }
  [[nodiscard]] std::chrono::microseconds period() const override;
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

// The shortest ring decides for all of them.
std::chrono::microseconds NvmlBuffer::period() const {
  auto out = kSlowest;
  for (const Stream& stream : streams_) {
    if (stream.span_us > 0) out = std::min(out, std::chrono::microseconds(stream.span_us / 2));
  }
  return std::max(out, kFastest);
}

void NvmlBuffer::read(ReadingSink& sink, std::size_t channel) {
  const std::int64_t utc_minus_monotonic = utc_now() - monotonic_now();
  Drained drained = drain(gpu_, streams_[channel].kind.type, streams_[channel].seen_us);
  if (drained.code != Return::kSuccess) {
    sink.absent(channel, monotonic_now(), absence_of(drained.code), 1, gpu_.library->text(drained.code));
    return;
  }
  sort_by_time(drained.samples);
  Stream& stream = streams_[channel];
  std::uint64_t oldest = 0;
  for (const nvml::Sample& sample : drained.samples) {
    if (sample.timestamp_us <= stream.seen_us) continue;  // unused places of the ring, and old ones
    if (oldest == 0) oldest = sample.timestamp_us;
    take(sink, channel, sample, drained.type, static_cast<std::int64_t>(sample.timestamp_us) - utc_minus_monotonic);
  }
  if (oldest == 0) return;
  // A driver that had just started had a ring that was not full yet.
  stream.span_us = std::max(stream.span_us, static_cast<std::int64_t>(stream.seen_us - oldest));
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
    Drained drained = drain(gpu, kind.type, 0);
    if (drained.code == Return::kSuccess) {
      sort_by_time(drained.samples);
      streams.push_back({kind});
      streams.back().look_at_ring(drained.samples);
    } else {
      missing.push_back({fmt::format("{}: {}", gpu.id(), kind.words), gpu.library->text(drained.code), ""});
    }
  }
  if (streams.empty()) return nullptr;
  return std::make_unique<NvmlBuffer>(gpu, std::move(streams));
}

}  // namespace joulecast
