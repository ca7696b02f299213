// SPDX-License-Identifier: Apache-2.0
// What differs between processors and accelerators, by PyTorch's own interfaces: no header of CUDA is needed.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace joulecast::runner {

struct Window {
  std::int64_t begin_us = 0, end_us = 0;  // CLOCK_MONOTONIC; nothing runs on the device at either
  double host_s = 0.0;                    // until the last call was issued
  std::optional<double> device_s;         // between two events on the stream; none on a processor
};

struct DeviceMemory {
  std::int64_t allocated = 0, reserved = 0;  // most since the reset
};

class Device {
 public:
  // "cpu", "cuda", "cuda:1". Throws where there is none.
  explicit Device(const std::string& name);

  [[nodiscard]] at::Device torch() const { return device_; }
  void synchronize() const;
  [[nodiscard]] Window timed(const std::function<void()>& work) const;
  void reset_memory_peak() const;
  // Absent on processors, whose allocator keeps no count.
  [[nodiscard]] std::optional<DeviceMemory> memory_peak() const;
  void empty_cache() const;

 private:
  at::Device device_;
};

}  // namespace joulecast::runner
