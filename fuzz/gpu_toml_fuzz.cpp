// SPDX-License-Identifier: Apache-2.0
// The reader of GPU files must answer any text, in bounded time and stack. Seeds: data/gpus.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gpu/gpu_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto gpu = joulecast::parse_gpu({reinterpret_cast<const char*>(data), size});
  // Views must point into what is still alive; the address sanitizer looks on.
  std::size_t total = 0;
  if (gpu) {
    for (const auto& source : (*gpu)->gpu.sources) total += source.source.size() + source.figure.size();
    for (const auto alias : (*gpu)->gpu.aliases) total += alias.empty() ? 0 : static_cast<unsigned char>(alias[0]);
  }
  static volatile std::size_t sink;
  sink = total;
  return 0;
}
