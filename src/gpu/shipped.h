// SPDX-License-Identifier: Apache-2.0
// The tables that embed.cpp makes of data/gpus at build time.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "joulecast/gpu.h"

namespace joulecast {

struct NameEntry {
  std::string_view name;  // in normal form
  std::uint32_t gpu;      // index into shipped_gpus()
};

std::span<const Gpu> shipped_gpus();         // sorted by id
std::span<const NameEntry> shipped_names();  // sorted by name

}  // namespace joulecast
