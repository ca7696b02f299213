// SPDX-License-Identifier: Apache-2.0
// Lines that programs send about their phases: whatever is taken for one keeps the bounds that its readers rely on.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/mark_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  const auto mark = joulecast::parse_mark_line(line);
  if (!mark) return 0;
  if (mark->name.empty() && mark->lost == 0 && line.find("lost") == std::string_view::npos) std::abort();
  if (mark->name.size() > joulecast::kMaxMarkName || mark->details.size() > joulecast::kMaxMarkLine) std::abort();
  if (mark->time && *mark->time < 0) std::abort();
  for (const char c : mark->name + mark->details) {
    if (c == '\n' || c == '\0') std::abort();
  }
  return 0;
}
