// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <ctime>

namespace joulecast::runner {
namespace {

std::int64_t now_us() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000 + time.tv_nsec / 1000;
}

double seconds(std::int64_t begin_us, std::int64_t end_us) {
  return static_cast<double>(end_us - begin_us) / 1e6;
}

c10::DeviceAllocator* device_allocator(const at::Device& device) {
  if (device.is_cpu()) return nullptr;
  return dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(device.type()));
}

std::int64_t peak(const c10::CachingAllocator::StatArray& statistics) {
  return statistics[static_cast<std::size_t>(c10::CachingAllocator::StatType::AGGREGATE)].peak;
}

}  // namespace

Device::Device(const std::string& name) : device_(name) {
  if (device_.is_cpu()) return;
  if (!device_.has_index()) device_.set_index(0);
  at::empty({1}, at::TensorOptions().device(device_));  // makes the context, or throws
}

void Device::synchronize() const {
  if (!device_.is_cpu()) c10::impl::VirtualGuardImpl(device_.type()).synchronizeDevice(device_.index());
}

Window Device::timed(const std::function<void()>& work) const {
  Window out;
  if (device_.is_cpu()) {
    out.begin_us = now_us();
    work();
    out.end_us = now_us();
    out.host_s = seconds(out.begin_us, out.end_us);
    return out;
  }
  const c10::impl::VirtualGuardImpl guard(device_.type());
  const c10::Stream stream = guard.getStream(device_);
  c10::Event first(device_.type(), c10::EventFlag::BACKEND_DEFAULT),
      last(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  synchronize();
  out.begin_us = now_us();
  first.record(stream);
  work();
  last.record(stream);
  out.host_s = seconds(out.begin_us, now_us());
  synchronize();
  out.end_us = now_us();
  out.device_s = first.elapsedTime(last) / 1e3;
  return out;
}

void Device::reset_memory_peak() const {
  if (c10::DeviceAllocator* allocator = device_allocator(device_)) allocator->resetPeakStats(device_.index());
}

std::optional<DeviceMemory> Device::memory_peak() const {
  c10::DeviceAllocator* allocator = device_allocator(device_);
  if (allocator == nullptr) return std::nullopt;
  const auto statistics = allocator->getDeviceStats(device_.index());
  return DeviceMemory{peak(statistics.allocated_bytes), peak(statistics.reserved_bytes)};
}

void Device::empty_cache() const {
  if (c10::DeviceAllocator* allocator = device_allocator(device_)) allocator->emptyCache();
}

}  // namespace joulecast::runner
