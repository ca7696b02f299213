// SPDX-License-Identifier: Apache-2.0
// Tables of runs that were measured elsewhere: any text. What is read can be judged, or is refused with a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "measure/sweep_load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto loaded = joulecast::parse_sweep_table(text, "table");
  if (!loaded) {
    if (loaded.error().text().empty()) std::abort();
    return 0;
  }
  for (const joulecast::SweepMeasurement& run : loaded->runs) {
    if (!(run.time_s > 0) || run.setting.empty() || run.repetition == 0) std::abort();
  }
  if (loaded->runs.size() < 200) (void)joulecast::judge_sweep(loaded->runs);
  return 0;
}
