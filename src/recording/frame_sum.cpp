// SPDX-License-Identifier: Apache-2.0
#include "recording/frame_sum.h"

#define XXH_INLINE_ALL  // no library at run time
#include <xxhash.h>

namespace joulecast::recording {

std::uint32_t frame_sum(std::uint32_t kind, std::string_view payload) {
  return static_cast<std::uint32_t>(XXH64(payload.data(), payload.size(), kind));
}

}  // namespace joulecast::recording
