// SPDX-License-Identifier: Apache-2.0
#include "power/nvml_pcie.h"

#include <utility>

namespace joulecast {
namespace {

using nvml::Return;

constexpr std::chrono::microseconds kPeriod{2'000'000};
constexpr std::int64_t kBytesOfKilobyte = 1000;
constexpr double kWindow = 0.020;

class NvmlPcie : public Sensor {
 public:
  explicit NvmlPcie(NvmlGpu gpu)
      : gpu_(std::move(gpu)),
        channels_{{gpu_.id(), Signal::kPcieSent, "nvml", kWindow},
                  {gpu_.id(), Signal::kPcieReceived, "nvml", kWindow}} {}

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kPcie; }
  [[nodiscard]] std::chrono::microseconds period() const override { return kPeriod; }
  void read(ReadingSink& sink) override {
    read(sink, 0, nvml::PcieCounter::kTransmitted);
    read(sink, 1, nvml::PcieCounter::kReceived);
  }

 private:
  void read(ReadingSink& sink, std::size_t channel, nvml::PcieCounter counter) {
    std::uint32_t kilobytes = 0;
    const Return code = gpu_.library->nvmlDeviceGetPcieThroughput(gpu_.handle, counter, &kilobytes);
    const MonotonicUs time = monotonic_now();
    if (code == Return::kSuccess) {
      sink.reading(channel, {time, kilobytes * kBytesOfKilobyte});
    } else {
      sink.absent(channel, time, absence_of(code), 1, gpu_.library->text(code));
    }
  }

  NvmlGpu gpu_;
  std::vector<Channel> channels_;
};

}  // namespace

std::unique_ptr<Sensor> open_nvml_pcie(const NvmlGpu& gpu, const SensorOptions& /*options*/,
                                       std::vector<Missing>& missing) {
  auto* get = gpu.library->nvmlDeviceGetPcieThroughput;
  std::uint32_t kilobytes = 0;
  const Return code =
      get == nullptr ? Return::kFunctionNotFound : get(gpu.handle, nvml::PcieCounter::kTransmitted, &kilobytes);
  if (absence_of(code) == Absence::kUnsupported && code != Return::kSuccess) {
    missing.push_back({gpu.id() + ": PCIe traffic", gpu.library->text(code), ""});
    return nullptr;
  }
  return std::make_unique<NvmlPcie>(gpu);
}

}  // namespace joulecast
