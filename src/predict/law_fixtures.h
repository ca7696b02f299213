// SPDX-License-Identifier: Apache-2.0
// Devices and works for tests of laws.
#pragma once

#include <array>
#include <string_view>

#include "predict/close_to.h"
#include "predict/physics.h"

namespace joulecast {

inline Device device_of(std::string_view gpu) {
  return make_device(**Catalogue::shipped().find(gpu), {}).value();
}
inline Device a30() {
  return device_of("a30");
}

// Round figures: one SM of 1 TFLOP/s at 1 GHz, 100 GB/s, 1 MB of L2.
inline Device toy() {
  Device d;
  d.sm = 1;
  d.clock = 1e9;
  d.bandwidth = 1e11;
  d.l2 = 1e6;
  d.limit = 100;
  d.awake = 10;
  d.fp32 = 1e12;
  return d;
}
inline Device toy_kepler() {
  Device d = toy();
  d.kepler = true;
  return d;
}

inline ConvWork fp32_three_by_three(std::int64_t channels, std::int64_t size) {
  return {.batch = 32,
          .in_channels = channels,
          .out_channels = channels,
          .in_height = size,
          .in_width = size,
          .out_height = size,
          .out_width = size,
          .kernel_height = 3,
          .kernel_width = 3,
          .padding = 1};
}

inline Physics physics(const Work& work, const Device& device, Situation situation = {}) {
  std::array<float, kMaxFeatures> unused{};
  return physics_of(work, device, situation, unused);
}

}  // namespace joulecast
