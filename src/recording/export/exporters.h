// SPDX-License-Identifier: Apache-2.0
// Recordings as others read them: one file an exporter, one line in the list each.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/result.h"
#include "recording/export/run_source.h"

namespace joulecast {

struct ExportOptions {
  bool samples = false;              // JSON: readings too
  std::optional<std::string> merge;  // trace: a trace of PyTorch's profiler whose events stand beside ours
  std::string version;               // of joulecast
};

// Takes a file's text, piece by piece.
using Put = std::function<void(std::string_view)>;

struct Exporter {
  std::string_view name;  // as in --as
  Result<void> (*write)(const RunSource& run, const ExportOptions& options, const Put& put);
};
std::span<const Exporter> exporters();
// nullptr where there is none of that name.
const Exporter* find_exporter(std::string_view name);

Result<void> export_csv(const RunSource& run, const ExportOptions& options, const Put& put);
Result<void> export_json(const RunSource& run, const ExportOptions& options, const Put& put);
Result<void> export_trace(const RunSource& run, const ExportOptions& options, const Put& put);
Result<void> export_openmetrics(const RunSource& run, const ExportOptions& options, const Put& put);

// Replaces `path` once the new file is whole. Errors: kIo, and the exporter's.
Result<void> export_to_file(const Exporter& exporter, const RunSource& run, const ExportOptions& options,
                            const std::string& path);

}  // namespace joulecast
