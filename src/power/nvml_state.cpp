// SPDX-License-Identifier: Apache-2.0
#include "power/nvml_state.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "power/nvml_value.h"

namespace joulecast {
namespace {

using nvml::Return;

// Slow things, each a call of its own into the driver: twice a second is what they are worth.
constexpr std::chrono::microseconds kPeriod{500'000};

constexpr std::int64_t kHertzOfMegahertz = 1'000'000;
constexpr std::int64_t kStepsOfPercent = 100;
constexpr std::int64_t kStepsOfDegree = 1000;

using Answer = tl::expected<std::int64_t, Return>;

// A function of one number, scaled to the channel's steps.
template <typename T, typename Function, typename... Arguments>
Answer number(std::int64_t scale, Function* function, Arguments... arguments) {
  T value{};
  if (function == nullptr) return tl::unexpected(Return::kFunctionNotFound);
  const Return code = function(arguments..., &value);
  if (code != Return::kSuccess) return tl::unexpected(code);
  return static_cast<std::int64_t>(value) * scale;
}

Answer clock(const NvmlGpu& gpu, nvml::ClockType type) {
  return number<std::uint32_t>(kHertzOfMegahertz, gpu.library->nvmlDeviceGetClockInfo, gpu.handle, type);
}

Answer app_clock(const NvmlGpu& gpu, nvml::ClockType type) {
  return number<std::uint32_t>(kHertzOfMegahertz, gpu.library->nvmlDeviceGetApplicationsClock, gpu.handle, type);
}

Answer utilization(const NvmlGpu& gpu, std::uint32_t nvml::Utilization::*which) {
  nvml::Utilization value{};
  if (gpu.library->nvmlDeviceGetUtilizationRates == nullptr) return tl::unexpected(Return::kFunctionNotFound);
  const Return code = gpu.library->nvmlDeviceGetUtilizationRates(gpu.handle, &value);
  if (code != Return::kSuccess) return tl::unexpected(code);
  return std::int64_t{value.*which} * kStepsOfPercent;
}

Answer memory_used(const NvmlGpu& gpu) {
  nvml::Memory value{};
  if (gpu.library->nvmlDeviceGetMemoryInfo == nullptr) return tl::unexpected(Return::kFunctionNotFound);
  const Return code = gpu.library->nvmlDeviceGetMemoryInfo(gpu.handle, &value);
  if (code != Return::kSuccess) return tl::unexpected(code);
  return static_cast<std::int64_t>(value.used_bytes);
}

Answer limit_field(const NvmlGpu& gpu, nvml::FieldId id) {
  nvml::FieldValue value{};
  value.field = id;
  if (gpu.library->nvmlDeviceGetFieldValues == nullptr) return tl::unexpected(Return::kFunctionNotFound);
  const Return code = gpu.library->nvmlDeviceGetFieldValues(gpu.handle, 1, &value);
  if (code != Return::kSuccess || value.result != Return::kSuccess) {
    return tl::unexpected(code == Return::kSuccess ? value.result : code);
  }
  const auto milliwatts = whole(value.type, value.value);
  if (!milliwatts || *milliwatts <= 0) return tl::unexpected(Return::kNotSupported);
  return *milliwatts;
}

// What is in force, whoever set it; drivers before the fields have a call of their own.
Answer enforced_limit(const NvmlGpu& gpu) {
  const Answer field = limit_field(gpu, nvml::FieldId::kPowerCurrentLimit);
  return field ? field : number<std::uint32_t>(1, gpu.library->nvmlDeviceGetEnforcedPowerLimit, gpu.handle);
}

Answer requested_limit(const NvmlGpu& gpu) {
  const Answer field = limit_field(gpu, nvml::FieldId::kPowerRequestedLimit);
  return field ? field : number<std::uint32_t>(1, gpu.library->nvmlDeviceGetPowerManagementLimit, gpu.handle);
}

// "Event reasons" since driver 535, "throttle reasons" before.
Answer event_reasons(const NvmlGpu& gpu) {
  const Answer now = number<std::uint64_t>(1, gpu.library->nvmlDeviceGetCurrentClocksEventReasons, gpu.handle);
  return now ? now : number<std::uint64_t>(1, gpu.library->nvmlDeviceGetCurrentClocksThrottleReasons, gpu.handle);
}

Answer temperature(const NvmlGpu& gpu) {
  return number<std::uint32_t>(kStepsOfDegree, gpu.library->nvmlDeviceGetTemperature, gpu.handle,
                               nvml::TemperatureSensor::kGpu);
}

Answer performance_state(const NvmlGpu& gpu) {
  const Answer state = number<nvml::PerformanceState>(1, gpu.library->nvmlDeviceGetPerformanceState, gpu.handle);
  if (state && *state == static_cast<std::int64_t>(nvml::PerformanceState::kUnknown)) {
    return tl::unexpected(Return::kNotSupported);
  }
  return state;
}

struct Item {
  Signal signal;
  const char* words;
  Answer (*ask)(const NvmlGpu&);
};

constexpr std::array kItems{
    Item{Signal::kSmClock, "SM clock", [](const NvmlGpu& gpu) { return clock(gpu, nvml::ClockType::kSm); }},
    Item{Signal::kMemoryClock, "memory clock", [](const NvmlGpu& gpu) { return clock(gpu, nvml::ClockType::kMemory); }},
    Item{Signal::kAppSmClock, "application clock",
         [](const NvmlGpu& gpu) { return app_clock(gpu, nvml::ClockType::kGraphics); }},
    Item{Signal::kAppMemoryClock, "memory's application clock",
         [](const NvmlGpu& gpu) { return app_clock(gpu, nvml::ClockType::kMemory); }},
    Item{Signal::kTemperature, "temperature", temperature},
    Item{Signal::kUtilization, "utilisation",
         [](const NvmlGpu& gpu) { return utilization(gpu, &nvml::Utilization::gpu_percent); }},
    Item{Signal::kMemoryUtilization, "memory's utilisation",
         [](const NvmlGpu& gpu) { return utilization(gpu, &nvml::Utilization::memory_percent); }},
    Item{Signal::kMemoryUsed, "used memory", memory_used},
    Item{Signal::kPowerLimit, "power limit", enforced_limit},
    Item{Signal::kRequestedLimit, "requested power limit", requested_limit},
    Item{Signal::kEventReasons, "clock event reasons", event_reasons},
    Item{Signal::kPerformanceState, "performance state", performance_state},
};

class NvmlState : public Sensor {
 public:
  NvmlState(NvmlGpu gpu, std::vector<Item> items) : gpu_(std::move(gpu)), items_(std::move(items)) {
    for (const Item& item : items_) channels_.push_back({gpu_.id(), item.signal, "nvml", 0.0});
  }

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kState; }
  [[nodiscard]] std::chrono::microseconds period() const override { return kPeriod; }
  void read(ReadingSink& sink) override {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const MonotonicUs time = monotonic_now();
      if (const Answer answer = items_[i].ask(gpu_)) {
        sink.reading(i, {time, *answer});
      } else {
        sink.absent(i, time, absence_of(answer.error()), 1, gpu_.library->text(answer.error()));
      }
    }
  }

 private:
  NvmlGpu gpu_;
  std::vector<Item> items_;
  std::vector<Channel> channels_;
};

const char* remedy(const Item& item, const NvmlGpu& gpu) {
  const bool utilisation = item.signal == Signal::kUtilization || item.signal == Signal::kMemoryUtilization;
  return utilisation && !gpu.identity.mig.empty() ? "with MIG only DCGM's profiling fields have it" : "";
}

}  // namespace

std::unique_ptr<Sensor> open_nvml_state(const NvmlGpu& gpu, const SensorOptions& /*options*/,
                                        std::vector<Missing>& missing) {
  std::vector<Item> items;
  for (const Item& item : kItems) {
    const Answer answer = item.ask(gpu);
    // What fails for another reason than that it is not there may work the next time.
    if (answer || absence_of(answer.error()) != Absence::kUnsupported) {
      items.push_back(item);
    } else {
      missing.push_back(
          {fmt::format("{}: {}", gpu.id(), item.words), gpu.library->text(answer.error()), remedy(item, gpu)});
    }
  }
  if (items.empty()) return nullptr;
  return std::make_unique<NvmlState>(gpu, std::move(items));
}

}  // namespace joulecast
