// SPDX-License-Identifier: Apache-2.0
// What others measured, as a recording.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/result.h"
#include "recording/recording.h"

namespace joulecast {

struct ImportOptions {
  // Microseconds that clocks were ahead of UTC where a file does not say its zone. Absent: what the files themselves
  // tell, else UTC; the recording's notes say which.
  std::optional<std::int64_t> utc_offset;
  // The columns of an nvidia-smi log that has no header, as they were given to --query-gpu.
  std::vector<std::string> columns;
};

// What a path is, by its content.
enum class RecordingKind : std::uint8_t { kJcrun, kGpyjoules, kSmiLog };
// Errors: kNotFound, kIo, kInvalidInput for anything else.
Result<RecordingKind> kind_of(const std::string& path, const ImportOptions& options = {});

// A .jcrun file, a folder of GPyJoules' or a log of nvidia-smi's. Errors: kind_of()'s, and the reader's.
Result<Recording> load_any(const std::string& path, const ImportOptions& options = {});

// Replaces `path` once the new file is whole. Errors: kIo.
Result<void> save_recording(const Recording& recording, const std::string& path);

}  // namespace joulecast
