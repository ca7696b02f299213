// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace joulecast::recording {

// XXH64 with the frame's kind as seed, its lower half.
std::uint32_t frame_sum(std::uint32_t kind, std::string_view payload);

}  // namespace joulecast::recording
