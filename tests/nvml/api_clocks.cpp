// SPDX-License-Identifier: Apache-2.0
// Clocks: what they are, may be and are told to be.
#include <algorithm>
#include <cmath>
#include <vector>

#include "exports.h"
#include "world.h"

using namespace joulecast::nvml;  // NOLINT(google-build-using-namespace): C functions live outside of it

namespace {

// `make` checks the arguments and says what to set.
template <typename Make>
Return set_clocks(Function function, Device device, Architecture oldest, Setting setting, const Make& make) {
  const Ticket ticket = world().enter(function, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (ticket.gpu->spec().architecture < oldest) return Return::kNotSupported;
  if (!world().scenario().allow_set) return Return::kNoPermission;
  const Answer<std::optional<Pair>> value = make(ticket.gpu->spec());
  return value ? world().change(ticket, setting, *value) : value.error();
}

Answer<std::optional<Pair>> nothing(const GpuSpec&) {
  return std::optional<Pair>();
}

Answer<std::optional<Pair>> range(std::uint32_t min_mhz, std::uint32_t max_mhz) {
  if (min_mhz > max_mhz || max_mhz == 0) return refuse(Return::kInvalidArgument);
  return std::optional(Pair{min_mhz, max_mhz});
}

bool holds(const std::vector<std::uint32_t>& clocks, std::uint32_t clock) {
  return std::find(clocks.begin(), clocks.end(), clock) != clocks.end();
}

Return give_clocks(const std::vector<std::uint32_t>& clocks, std::uint32_t* count, std::uint32_t* out) {
  if (count == nullptr) return Return::kInvalidArgument;
  const std::uint32_t room = *count;
  *count = static_cast<std::uint32_t>(clocks.size());
  if (room < clocks.size() || out == nullptr) return Return::kInsufficientSize;
  std::copy(clocks.begin(), clocks.end(), out);
  return Return::kSuccess;
}

Return reasons_of(Function function, Device device, std::uint64_t* reasons) {
  return answer(function, device, Reach::kGpu, reasons, [](const Ticket& t) -> Answer<std::uint64_t> {
    const Condition now = t.gpu->condition(t.now);
    std::uint64_t out = event_reason::kNone;
    if (now.idle) out |= event_reason::kGpuIdle;
    if (now.clocks_bound) out |= event_reason::kApplicationsClocksSetting;
    if (now.capped) out |= event_reason::kSwPowerCap;
    return out;
  });
}

}  // namespace

Return nvmlDeviceGetClockInfo(Device device, ClockType type, std::uint32_t* clock_mhz) {
  return answer(Function::nvmlDeviceGetClockInfo, device, Reach::kGpu, clock_mhz,
                [&](const Ticket& t) -> Answer<std::uint32_t> {
                  if (type > ClockType::kVideo) return refuse(Return::kInvalidArgument);
                  if (type == ClockType::kMemory) return t.gpu->memory_clock_mhz(t.now);
                  return t.gpu->condition(t.now).sm_clock_mhz;
                });
}

Return nvmlDeviceGetMaxClockInfo(Device device, ClockType type, std::uint32_t* clock_mhz) {
  return answer(Function::nvmlDeviceGetMaxClockInfo, device, Reach::kGpu, clock_mhz,
                [&](const Ticket& t) -> Answer<std::uint32_t> {
                  if (type > ClockType::kVideo) return refuse(Return::kInvalidArgument);
                  const GpuSpec& spec = t.gpu->spec();
                  return type == ClockType::kMemory ? spec.memory_clocks_mhz.front() : spec.sm_clocks_mhz.front();
                });
}

Return nvmlDeviceGetCurrentClocksEventReasons(Device device, std::uint64_t* reasons) {
  return reasons_of(Function::nvmlDeviceGetCurrentClocksEventReasons, device, reasons);
}

Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, std::uint64_t* reasons) {
  return reasons_of(Function::nvmlDeviceGetCurrentClocksThrottleReasons, device, reasons);
}

Return nvmlDeviceSetGpuLockedClocks(Device device, std::uint32_t min_mhz, std::uint32_t max_mhz) {
  return set_clocks(Function::nvmlDeviceSetGpuLockedClocks, device, Architecture::kVolta, Setting::kSmLock,
                    [&](const GpuSpec&) { return range(min_mhz, max_mhz); });
}

Return nvmlDeviceResetGpuLockedClocks(Device device) {
  return set_clocks(Function::nvmlDeviceResetGpuLockedClocks, device, Architecture::kVolta, Setting::kSmLock, nothing);
}

Return nvmlDeviceSetMemoryLockedClocks(Device device, std::uint32_t min_mhz, std::uint32_t max_mhz) {
  return set_clocks(Function::nvmlDeviceSetMemoryLockedClocks, device, Architecture::kAmpere, Setting::kMemoryLock,
                    [&](const GpuSpec&) { return range(min_mhz, max_mhz); });
}

Return nvmlDeviceResetMemoryLockedClocks(Device device) {
  return set_clocks(Function::nvmlDeviceResetMemoryLockedClocks, device, Architecture::kAmpere, Setting::kMemoryLock,
                    nothing);
}

Return nvmlDeviceSetApplicationsClocks(Device device, std::uint32_t memory_mhz, std::uint32_t graphics_mhz) {
  return set_clocks(Function::nvmlDeviceSetApplicationsClocks, device, Architecture::kKepler,
                    Setting::kApplicationClocks, [&](const GpuSpec& spec) -> Answer<std::optional<Pair>> {
                      if (!holds(spec.memory_clocks_mhz, memory_mhz) || !holds(spec.sm_clocks_mhz, graphics_mhz)) {
                        return refuse(Return::kInvalidArgument);
                      }
                      return std::optional(Pair{memory_mhz, graphics_mhz});
                    });
}

Return nvmlDeviceResetApplicationsClocks(Device device) {
  return set_clocks(Function::nvmlDeviceResetApplicationsClocks, device, Architecture::kKepler,
                    Setting::kApplicationClocks, nothing);
}

Return nvmlDeviceGetApplicationsClock(Device device, ClockType type, std::uint32_t* clock_mhz) {
  return answer(Function::nvmlDeviceGetApplicationsClock, device, Reach::kGpu, clock_mhz,
                [&](const Ticket& t) -> Answer<std::uint32_t> {
                  if (type > ClockType::kMemory) return refuse(Return::kInvalidArgument);
                  const GpuSpec& spec = t.gpu->spec();
                  const Pair set = t.gpu->settings(t.now).application_mhz.value_or(
                      Pair{spec.memory_clocks_mhz.front(), spec.sm_clocks_mhz.front()});
                  return type == ClockType::kMemory ? set.first : set.second;
                });
}

Return nvmlDeviceGetSupportedMemoryClocks(Device device, std::uint32_t* count, std::uint32_t* clocks_mhz) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetSupportedMemoryClocks, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  return give_clocks(ticket.gpu->spec().memory_clocks_mhz, count, clocks_mhz);
}

Return nvmlDeviceGetSupportedGraphicsClocks(Device device, std::uint32_t memory_mhz, std::uint32_t* count,
                                            std::uint32_t* clocks_mhz) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetSupportedGraphicsClocks, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (!holds(ticket.gpu->spec().memory_clocks_mhz, memory_mhz)) return Return::kNotFound;
  return give_clocks(ticket.gpu->spec().sm_clocks_mhz, count, clocks_mhz);
}
