// SPDX-License-Identifier: Apache-2.0
#include "predict/board_power.h"

#include <fmt/format.h>

#include <algorithm>

namespace joulecast {

Watts highest_limit(const Gpu& gpu) {
  return std::max(gpu.max_power_limit.value_or(gpu.power_limit), gpu.power_limit);
}

Watts idle_power(const Gpu& gpu) {
  return gpu.idle_power.value_or(gpu.power_limit * 0.12);
}

Result<void> check_mean_power(const Gpu& gpu, Watts power) {
  constexpr double kLeast = 0.5, kMost = 1.5;
  const Watts idle = idle_power(gpu);
  const Watts highest = highest_limit(gpu);
  if (power >= idle * kLeast && power <= highest * kMost) return {};
  return invalid(
      fmt::format("GPU '{}' cannot have drawn {:.3g} W in the mean: idle it draws about {:.3g} W, and its "
                  "highest limit is {:g} W",
                  gpu.id, power.value(), idle.value(), highest.value()));
}

}  // namespace joulecast
