// SPDX-License-Identifier: Apache-2.0
// A trace in Chrome's format that somebody else wrote, to put events into without reading it into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "joulecast/result.h"

namespace joulecast {

struct TraceFile {
  std::size_t insert_at = 0;  // behind the bracket that opens the list of events
  bool empty = true;          // the list holds none
  // Nanoseconds since 1970 at which its times are 0: PyTorch from 2.3 or so on says so; before, times are since 1970.
  std::optional<std::int64_t> base_ns;
  std::optional<double> first_us, last_us;  // of its events' times
};

// Errors: kInvalidInput for what is not JSON with a list of events, such as a file that was cut off or compressed.
Result<TraceFile> scan_trace(std::string_view text);

}  // namespace joulecast
