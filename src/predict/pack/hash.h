// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace joulecast {

// XXH64 with seed 0 (https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md): finds damage, not malice. Reads a
// word at a time because a pack is checked whenever the program starts.
std::uint64_t xxh64(std::span<const std::byte> bytes);

}  // namespace joulecast
