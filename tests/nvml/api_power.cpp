// SPDX-License-Identifier: Apache-2.0
// Power, energy and limits.
#include <algorithm>
#include <cmath>

#include "exports.h"
#include "world.h"

using namespace joulecast::nvml;  // NOLINT(google-build-using-namespace): C functions live outside of it

namespace {

std::uint32_t milliwatts(double watts) {
  return static_cast<std::uint32_t>(std::llround(watts * 1e3));
}

bool knows(const GpuSpec& spec, PowerScope scope) {
  return std::find(spec.power_scopes.begin(), spec.power_scopes.end(), scope) != spec.power_scopes.end();
}

Answer<std::uint32_t> power_field(const Ticket& ticket, double watts, std::uint32_t scope) {
  const GpuSpec& spec = ticket.gpu->spec();
  if (scope > static_cast<std::uint32_t>(PowerScope::kMemory)) return refuse(Return::kInvalidArgument);
  const auto wanted = static_cast<PowerScope>(scope);
  // GPUs without a sensor for their memory say 0 and call it a success.
  if (wanted == PowerScope::kMemory) return knows(spec, wanted) ? milliwatts(watts * spec.memory_fraction) : 0;
  if (!knows(spec, wanted)) return refuse(Return::kNotSupported);
  return milliwatts(wanted == PowerScope::kModule ? watts + spec.module_extra_w : watts);
}

Answer<std::uint32_t> small_field(const Ticket& ticket, const FieldValue& asked) {
  const GpuModel& gpu = *ticket.gpu;
  const bool average = asked.field == FieldId::kPowerAverage;
  if (!gpu.spec().sensor.has_fields || (average && !gpu.spec().sensor.has_average))
    return refuse(Return::kNotSupported);
  switch (asked.field) {
    case FieldId::kPowerAverage:
      return power_field(ticket, gpu.average_w(ticket.now), asked.scope);
    case FieldId::kPowerInstant:
      return power_field(ticket, gpu.instant_w(ticket.now), asked.scope);
    case FieldId::kPowerMinLimit:
      return gpu.spec().min_limit_mw;
    case FieldId::kPowerMaxLimit:
      return gpu.spec().max_limit_mw;
    case FieldId::kPowerDefaultLimit:
      return gpu.spec().default_limit_mw;
    case FieldId::kPowerCurrentLimit:
      return gpu.enforced_limit_mw(ticket.now);
    case FieldId::kPowerRequestedLimit:
      return gpu.requested_limit_mw(ticket.now);
    default:
      return refuse(Return::kInvalidArgument);
  }
}

Answer<std::uint64_t> energy(const Ticket& ticket) {
  if (!ticket.gpu->spec().counter.present) return refuse(Return::kNotSupported);
  return ticket.gpu->counter_mj(ticket.now);
}

void read_field(const Ticket& ticket, FieldValue& out) {
  const bool is_energy = out.field == FieldId::kTotalEnergy || out.field == FieldId::kEnergy;
  out.timestamp_us = static_cast<std::int64_t>(world().wall_us(ticket.now));
  out.latency_us = 100;
  out.type = is_energy ? ValueType::kUnsignedLongLong : ValueType::kUnsignedInt;
  out.value = {};
  const Fault* fault = world().fault("", out.field, ticket.device->gpu, ticket.now);
  out.result = fault == nullptr ? Return::kSuccess : fault->result;
  if (out.result != Return::kSuccess) return;
  Answer<std::uint64_t> value = refuse(Return::kNotSupported);
  if (fault != nullptr && fault->value) {
    value = *fault->value;
  } else if (is_energy) {
    value = energy(ticket);
  } else if (const auto small = small_field(ticket, out); small) {
    value = *small;
  } else {
    value = refuse(small.error());
  }
  if (!value) {
    out.result = value.error();
  } else if (is_energy) {
    out.value.as_ulong_long = *value;
  } else {
    out.value.as_uint = static_cast<std::uint32_t>(*value);
  }
}

// Null where the GPU has no such samples.
using SampleAt = std::uint32_t (*)(const GpuModel& gpu, Nanoseconds at);

SampleAt sampler_of(SamplingType type, const GpuSpec& spec) {
  const auto power = [](const GpuModel& gpu, Nanoseconds at) { return milliwatts(gpu.instant_w(at)); };
  const auto module = [](const GpuModel& gpu, Nanoseconds at) {
    return milliwatts(gpu.instant_w(at) + gpu.spec().module_extra_w);
  };
  const auto busy = [](const GpuModel& gpu, Nanoseconds at) { return gpu.condition(at).idle ? 0U : 100U; };
  switch (type) {
    case SamplingType::kTotalPower:
      return power;
    case SamplingType::kModulePower:
      return knows(spec, PowerScope::kModule) ? SampleAt(module) : nullptr;
    case SamplingType::kGpuUtilization:
    case SamplingType::kMemoryUtilization:
      return spec.mig == MigMode::kEnabled ? nullptr : SampleAt(busy);
    default:
      return nullptr;
  }
}

// The ring holds the last updates; whoever comes late has lost the older ones.
std::uint32_t drain(const Ticket& ticket, SampleAt sampler, std::uint64_t last_seen_us, std::uint32_t room,
                    Sample* out) {
  const Sensor& sensor = ticket.gpu->spec().sensor;
  const Nanoseconds newest = ticket.gpu->last_update(ticket.now);
  std::uint32_t count = 0;
  for (auto back = static_cast<Nanoseconds>(sensor.ring); back-- > 0 && count < room;) {
    const Nanoseconds at = newest - back * sensor.update;
    const std::uint64_t time_us = world().wall_us(at);
    if (time_us <= last_seen_us) continue;
    out[count] = {time_us, {}};
    out[count++].value.as_uint = sampler(*ticket.gpu, at);
  }
  return count;
}

template <typename Read>
Return limit(Function function, Device device, std::uint32_t* out, const Read& read) {
  return answer(function, device, Reach::kGpu, out,
                [&](const Ticket& ticket) -> Answer<std::uint32_t> { return read(*ticket.gpu, ticket.now); });
}

}  // namespace

Return nvmlDeviceGetFieldValues(Device device, std::int32_t count, FieldValue* values) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetFieldValues, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (count < 1 || values == nullptr) return Return::kInvalidArgument;
  for (std::int32_t i = 0; i < count; ++i) read_field(ticket, values[i]);
  return Return::kSuccess;
}

Return nvmlDeviceGetTotalEnergyConsumption(Device device, std::uint64_t* energy_mj) {
  return answer(Function::nvmlDeviceGetTotalEnergyConsumption, device, Reach::kGpu, energy_mj, energy);
}

Return nvmlDeviceGetPowerUsage(Device device, std::uint32_t* power_mw) {
  return answer(Function::nvmlDeviceGetPowerUsage, device, Reach::kGpu, power_mw,
                [](const Ticket& t) -> Answer<std::uint32_t> { return milliwatts(t.gpu->legacy_w(t.now)); });
}

Return nvmlDeviceGetSamples(Device device, SamplingType type, std::uint64_t last_seen_us, ValueType* value_type,
                            std::uint32_t* count, Sample* samples) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetSamples, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (value_type == nullptr || count == nullptr) return Return::kInvalidArgument;
  const GpuSpec& spec = ticket.gpu->spec();
  const SampleAt sampler = sampler_of(type, spec);
  if (sampler == nullptr || spec.sensor.ring == 0) return Return::kNotSupported;
  *value_type = ValueType::kUnsignedInt;
  if (samples == nullptr) {
    *count = static_cast<std::uint32_t>(spec.sensor.ring);
    return Return::kSuccess;
  }
  if (*count == 0) return Return::kInvalidArgument;
  *count = drain(ticket, sampler, last_seen_us, *count, samples);
  return *count == 0 ? Return::kNotFound : Return::kSuccess;
}

Return nvmlDeviceGetEnforcedPowerLimit(Device device, std::uint32_t* limit_mw) {
  return limit(Function::nvmlDeviceGetEnforcedPowerLimit, device, limit_mw,
               [](const GpuModel& gpu, Nanoseconds now) { return gpu.enforced_limit_mw(now); });
}

Return nvmlDeviceGetPowerManagementLimit(Device device, std::uint32_t* limit_mw) {
  return limit(Function::nvmlDeviceGetPowerManagementLimit, device, limit_mw,
               [](const GpuModel& gpu, Nanoseconds now) { return gpu.requested_limit_mw(now); });
}

Return nvmlDeviceGetPowerManagementDefaultLimit(Device device, std::uint32_t* limit_mw) {
  return limit(Function::nvmlDeviceGetPowerManagementDefaultLimit, device, limit_mw,
               [](const GpuModel& gpu, Nanoseconds) { return gpu.spec().default_limit_mw; });
}

Return nvmlDeviceGetPowerManagementLimitConstraints(Device device, std::uint32_t* min_mw, std::uint32_t* max_mw) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetPowerManagementLimitConstraints, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (min_mw == nullptr || max_mw == nullptr) return Return::kInvalidArgument;
  *min_mw = ticket.gpu->spec().min_limit_mw;
  *max_mw = ticket.gpu->spec().max_limit_mw;
  return Return::kSuccess;
}

Return nvmlDeviceSetPowerManagementLimit(Device device, std::uint32_t limit_mw) {
  const Ticket ticket = world().enter(Function::nvmlDeviceSetPowerManagementLimit, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  const GpuSpec& spec = ticket.gpu->spec();
  if (!world().scenario().allow_set) return Return::kNoPermission;
  if (limit_mw < spec.min_limit_mw || limit_mw > spec.max_limit_mw) return Return::kInvalidArgument;
  return spec.limit_takes ? world().change(ticket, Setting::kPowerLimit, Pair{limit_mw, 0}) : Return::kSuccess;
}
