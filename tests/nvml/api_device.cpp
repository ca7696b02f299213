// SPDX-License-Identifier: Apache-2.0
// State of a device besides power and clocks; MIG.
#include <chrono>
#include <cmath>
#include <thread>

#include "defaults.h"
#include "exports.h"
#include "world.h"

using namespace joulecast::nvml;  // NOLINT(google-build-using-namespace): C functions live outside of it

Return nvmlDeviceGetUtilizationRates(Device device, Utilization* rates) {
  return answer(Function::nvmlDeviceGetUtilizationRates, device, Reach::kGpu, rates,
                [](const Ticket& t) -> Answer<Utilization> {
                  if (t.gpu->spec().mig == MigMode::kEnabled) return refuse(Return::kNotSupported);
                  return t.gpu->condition(t.now).idle ? Utilization{0, 0} : Utilization{100, 50};
                });
}

Return nvmlDeviceGetTemperature(Device device, TemperatureSensor sensor, std::uint32_t* celsius) {
  return answer(Function::nvmlDeviceGetTemperature, device, Reach::kGpu, celsius,
                [&](const Ticket& t) -> Answer<std::uint32_t> {
                  if (sensor != TemperatureSensor::kGpu) return refuse(Return::kInvalidArgument);
                  const GpuSpec& spec = t.gpu->spec();
                  const double watts = t.gpu->mean_w(t.now - kSecond, t.now);
                  return static_cast<std::uint32_t>(
                      std::lround(std::max(0.0, spec.temperature_c + spec.temperature_c_per_w * watts)));
                });
}

Return nvmlDeviceGetPerformanceState(Device device, PerformanceState* state) {
  return answer(Function::nvmlDeviceGetPerformanceState, device, Reach::kGpu, state,
                [](const Ticket& t) -> Answer<PerformanceState> {
                  return t.gpu->condition(t.now).idle ? PerformanceState::k8 : PerformanceState::k0;
                });
}

Return nvmlDeviceGetMemoryInfo(Device device, Memory* memory) {
  return answer(Function::nvmlDeviceGetMemoryInfo, device, Reach::kMigToo, memory,
                [](const Ticket& t) -> Answer<Memory> {
                  const GpuSpec& spec = t.gpu->spec();
                  if (t.device->slice) {
                    const std::uint64_t size = spec.slices[*t.device->slice].memory_bytes;
                    return Memory{size, size, 0};
                  }
                  return Memory{spec.memory_bytes, spec.memory_bytes - spec.used_memory_bytes, spec.used_memory_bytes};
                });
}

// The real one counts for 20 ms before it answers, and so does this: whoever samples power must not call it in between.
Return nvmlDeviceGetPcieThroughput(Device device, PcieCounter counter, std::uint32_t* kb_per_s) {
  const Return result = answer(Function::nvmlDeviceGetPcieThroughput, device, Reach::kGpu, kb_per_s,
                               [&](const Ticket& t) -> Answer<std::uint32_t> {
                                 if (counter > PcieCounter::kReceived) return refuse(Return::kInvalidArgument);
                                 return t.gpu->spec().pcie_kb_per_s;
                               });
  if (result == Return::kSuccess) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return result;
}

Return nvmlDeviceGetPersistenceMode(Device device, EnableState* state) {
  return answer(Function::nvmlDeviceGetPersistenceMode, device, Reach::kGpu, state,
                [](const Ticket& t) -> Answer<EnableState> {
                  return t.gpu->spec().persistence ? EnableState::kEnabled : EnableState::kDisabled;
                });
}

Return nvmlDeviceGetCudaComputeCapability(Device device, std::int32_t* major, std::int32_t* minor) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetCudaComputeCapability, device, Reach::kMigToo);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (major == nullptr || minor == nullptr) return Return::kInvalidArgument;
  const ComputeCapability capability = compute_capability(ticket.gpu->spec());
  *major = capability.major;
  *minor = capability.minor;
  return Return::kSuccess;
}

Return nvmlDeviceGetMigMode(Device device, std::uint32_t* current, std::uint32_t* pending) {
  const Ticket ticket = world().enter(Function::nvmlDeviceGetMigMode, device, Reach::kGpu);
  if (ticket.result != Return::kSuccess) return ticket.result;
  if (current == nullptr || pending == nullptr) return Return::kInvalidArgument;
  if (ticket.gpu->spec().mig == MigMode::kUnsupported) return Return::kNotSupported;
  *current = *pending = ticket.gpu->spec().mig == MigMode::kEnabled ? kMigEnabled : kMigDisabled;
  return Return::kSuccess;
}

Return nvmlDeviceGetMaxMigDeviceCount(Device device, std::uint32_t* count) {
  return answer(
      Function::nvmlDeviceGetMaxMigDeviceCount, device, Reach::kGpu, count,
      [](const Ticket& t) -> Answer<std::uint32_t> { return t.gpu->spec().mig == MigMode::kUnsupported ? 0U : 7U; });
}

Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, std::uint32_t index, Device* mig_device) {
  return answer(Function::nvmlDeviceGetMigDeviceHandleByIndex, device, Reach::kGpu, mig_device,
                [&](const Ticket& t) -> Answer<Device> {
                  if (t.gpu->spec().mig == MigMode::kUnsupported) return refuse(Return::kNotSupported);
                  for (DeviceOpaque& each : world().devices()) {
                    if (each.gpu == t.device->gpu && each.slice == index) return &each;
                  }
                  return refuse(Return::kNotFound);
                });
}

Return nvmlDeviceGetDeviceHandleFromMigDeviceHandle(Device mig_device, Device* device) {
  return answer(Function::nvmlDeviceGetDeviceHandleFromMigDeviceHandle, mig_device, Reach::kMigToo, device,
                [](const Ticket& t) -> Answer<Device> {
                  if (!t.device->slice) return refuse(Return::kInvalidArgument);
                  return &world().devices()[t.device->gpu];
                });
}
