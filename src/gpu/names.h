// SPDX-License-Identifier: Apache-2.0
// When two spellings are the same GPU, and how far two others are from it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace joulecast {

// Lower-case letters and digits only, without a leading "nvidia" or "amd": "NVIDIA RTX_2080-Ti" -> "rtx2080ti".
std::string normal_form(std::string_view name);

// Least weight of the edits that turn one name into the other: 2 for a letter put in, left out, replaced, or two
// neighbours swapped; 1 where the letters look alike (0 and o, 1 and l and i).
// Longer names than kMaxNameLength are cut.
inline constexpr std::size_t kMaxNameLength = 64;
std::size_t edit_distance(std::string_view a, std::string_view b);

// The one of `names` that `name` was meant for, the first of those equally near; empty where half of its letters or
// more are wrong in all.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> names);

}  // namespace joulecast
