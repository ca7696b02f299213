// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace joulecast {

struct EventReason {
  std::uint64_t bit;
  const char* text;
};
// Of NVML's nvmlClocksEventReason* those that hold clocks down; idleness and settings are no slow-downs.
std::span<const EventReason> slowing_reasons();

// "power limit, thermal slowdown" for the bits of NVML's clock event reasons; empty for none that slows.
std::string reasons_text(std::uint64_t bits);

}  // namespace joulecast
