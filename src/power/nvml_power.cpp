// SPDX-License-Identifier: Apache-2.0
#include "power/nvml_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "power/nvml_value.h"
#include "power/update_period.h"

namespace joulecast {
namespace {

constexpr std::int64_t kMicrojoulesOfMillijoule = 1000;
constexpr double kAverageWindow = 1.0;  // NVML: "averaged over 1 sec interval"
// Short peaks go above the limit, and no further than this; what is above is no power.
constexpr std::int64_t kMostTimesMaxLimit = 3;
constexpr std::int64_t kMostMilliwatts = 10'000'000;  // of a GPU that does not say its limit
// However seldom power is asked for: a total needs a step of the counter near both its edges.
constexpr std::chrono::microseconds kSlowestCounter{100'000};

struct Field {
  nvml::FieldId id;
  nvml::PowerScope scope;
  Signal signal;
  const char* source;
  std::optional<double> window;
};

constexpr Field kCounter{nvml::FieldId::kTotalEnergy, nvml::PowerScope::kGpu, Signal::kEnergy, "nvml-counter", 0.0};
constexpr Field kInstant{nvml::FieldId::kPowerInstant, nvml::PowerScope::kGpu, Signal::kPower, "nvml-instant", {}};
constexpr Field kModule{
    nvml::FieldId::kPowerInstant, nvml::PowerScope::kModule, Signal::kPower, "nvml-module-instant", {}};
constexpr Field kAverage{nvml::FieldId::kPowerAverage, nvml::PowerScope::kGpu, Signal::kPower, "nvml-average",
                         kAverageWindow};

nvml::FieldValue request(const Field& field) {
  nvml::FieldValue value{};
  value.field = field.id;
  value.scope = static_cast<std::uint32_t>(field.scope);
  return value;
}

// A field that answers with 0 is one the chip does not have: no GPU that is on draws nothing.
nvml::Return probe(const NvmlGpu& gpu, const Field& field) {
  if (gpu.library->nvmlDeviceGetFieldValues == nullptr) return nvml::Return::kFunctionNotFound;
  nvml::FieldValue value = request(field);
  const auto code = gpu.library->nvmlDeviceGetFieldValues(gpu.handle, 1, &value);
  if (code != nvml::Return::kSuccess) return code;
  if (value.result != nvml::Return::kSuccess) return value.result;
  return whole(value.type, value.value).value_or(0) == 0 ? nvml::Return::kNotSupported : nvml::Return::kSuccess;
}

class NvmlPower : public Sensor {
 public:
  NvmlPower(NvmlGpu gpu, std::vector<Field> fields, bool legacy, std::optional<std::chrono::microseconds> interval)
      : gpu_(std::move(gpu)), fields_(std::move(fields)), legacy_(legacy), interval_(interval) {
    for (const Field& field : fields_) channels_.push_back({gpu_.id(), field.signal, field.source, field.window});
    if (legacy_) channels_.push_back({gpu_.id(), Signal::kPower, "nvml-power-usage", std::nullopt});
    if (gpu_.max_limit_mw) most_ = kMostTimesMaxLimit * *gpu_.max_limit_mw;
    const bool counts = !fields_.empty() && fields_.front().signal == Signal::kEnergy;
    if (counts && interval_ && *interval_ > kSlowestCounter) {
      reads_of_interval_ = (interval_->count() + kSlowestCounter.count() - 1) / kSlowestCounter.count();
    }
  }

  [[nodiscard]] const std::vector<Channel>& channels() const override { return channels_; }
  [[nodiscard]] Lane lane() const override { return Lane::kPower; }
  [[nodiscard]] std::chrono::microseconds period() const override {
    return interval_ ? *interval_ / reads_of_interval_ : update_.wait();
  }
  void read(ReadingSink& sink) override;

 private:
  void take(ReadingSink& sink, std::size_t channel, MonotonicUs time, std::optional<std::int64_t> value);
  void take_legacy(ReadingSink& sink);

  NvmlGpu gpu_;
  std::vector<Field> fields_;
  bool legacy_;
  std::optional<std::chrono::microseconds> interval_;
  std::vector<Channel> channels_;
  std::vector<nvml::FieldValue> values_;
  std::int64_t most_ = kMostMilliwatts;
  UpdatePeriod update_;
  std::int64_t reads_of_interval_ = 1;  // the counter's alone but for one
  std::int64_t reads_ = 0;
};

void NvmlPower::read(ReadingSink& sink) {
  const bool everything = reads_++ % reads_of_interval_ == 0;
  values_.clear();
  for (const Field& field : fields_) {
    if (everything || field.signal == Signal::kEnergy) values_.push_back(request(field));
  }
  if (!values_.empty()) {
    const MonotonicUs before = monotonic_now();
    const auto code =
        gpu_.library->nvmlDeviceGetFieldValues(gpu_.handle, static_cast<std::int32_t>(values_.size()), values_.data());
    const MonotonicUs time = before + (monotonic_now() - before) / 2;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const auto result = code == nvml::Return::kSuccess ? values_[i].result : code;
      if (result == nvml::Return::kSuccess) {
        take(sink, i, time, whole(values_[i].type, values_[i].value));
      } else {
        sink.absent(i, time, absence_of(result), 1, gpu_.library->text(result));
      }
    }
  }
  if (legacy_ && everything) take_legacy(sink);
}

void NvmlPower::take(ReadingSink& sink, std::size_t channel, MonotonicUs time, std::optional<std::int64_t> value) {
  const bool power = channels_[channel].signal == Signal::kPower;
  if (!value || *value <= 0 || (power && *value > most_)) {
    sink.absent(channel, time, Absence::kImplausible, 1,
                value ? fmt::format("NVML says {} {}", *value, power ? "mW" : "mJ") : "NVML gives no number");
    return;
  }
  const Reading reading{time, power ? *value : *value * kMicrojoulesOfMillijoule};
  if (channel == 0) update_.see(reading);
  sink.reading(channel, reading);
}

void NvmlPower::take_legacy(ReadingSink& sink) {
  std::uint32_t milliwatts = 0;
  const MonotonicUs before = monotonic_now();
  const auto code = gpu_.library->nvmlDeviceGetPowerUsage(gpu_.handle, &milliwatts);
  const MonotonicUs time = before + (monotonic_now() - before) / 2;
  const std::size_t channel = channels_.size() - 1;
  if (code == nvml::Return::kSuccess) {
    take(sink, channel, time, milliwatts);
  } else {
    sink.absent(channel, time, absence_of(code), 1, gpu_.library->text(code));
  }
}

bool legacy_works(const NvmlGpu& gpu) {
  return ask<std::uint32_t>(gpu.library->nvmlDeviceGetPowerUsage, gpu.handle).value_or(0) > 0;
}

// The probe order of the field: the counter, the instant, the module's instant, the mean, the legacy call.
std::vector<Field> available(const NvmlGpu& gpu, std::vector<Missing>& missing) {
  std::vector<Field> out;
  const auto code = probe(gpu, kCounter);
  if (code == nvml::Return::kSuccess) {
    out.push_back(kCounter);
  } else {
    missing.push_back({gpu.id() + ": energy counter", gpu.library->text(code), "energy is integrated from power"});
  }
  if (probe(gpu, kInstant) == nvml::Return::kSuccess) {
    out.push_back(kInstant);
  } else if (probe(gpu, kModule) == nvml::Return::kSuccess) {
    out.push_back(kModule);
    missing.push_back({gpu.id() + ": power of the GPU alone", "this chip gives that of the whole module, CPU and GPU",
                       "take the CPU's share off, or compare modules"});
  }
  if (probe(gpu, kAverage) == nvml::Return::kSuccess) out.push_back(kAverage);
  return out;
}

}  // namespace

std::unique_ptr<Sensor> open_nvml_power(const NvmlGpu& gpu, const SensorOptions& options,
                                        std::vector<Missing>& missing) {
  std::vector<Field> fields = available(gpu, missing);
  const bool instant = std::any_of(fields.begin(), fields.end(),
                                   [](const Field& field) { return field.id == nvml::FieldId::kPowerInstant; });
  const bool legacy = !instant && legacy_works(gpu);
  if (!instant && !legacy) {
    missing.push_back({gpu.id() + ": power", "the driver gives none for this GPU", ""});
  }
  if (fields.empty() && !legacy) return nullptr;
  return std::make_unique<NvmlPower>(gpu, std::move(fields), legacy, options.interval);
}

}  // namespace joulecast
