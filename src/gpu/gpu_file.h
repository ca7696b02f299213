// SPDX-License-Identifier: Apache-2.0
// One GPU file (docs/formats/gpu.md) read into a Gpu.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/gpu.h"

namespace joulecast {

// A deque, because the views of `gpu` must survive the next text.
struct GpuFile {
  std::deque<std::string> texts;
  std::vector<std::string_view> aliases;
  std::vector<MigProfile> mig_profiles;
  std::vector<FigureSource> sources;
  Gpu gpu;
};

inline constexpr std::size_t kMaxGpuFileBytes = std::size_t{1} << 20;

// Errors: kInvalidInput, "line 12: figures.sm_count: expected an integer".
Result<std::shared_ptr<const GpuFile>> parse_gpu(std::string_view text);
// The same, with the path before it.
Result<std::shared_ptr<const GpuFile>> load_gpu(const std::string& path);

}  // namespace joulecast
