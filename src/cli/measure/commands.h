// SPDX-License-Identifier: Apache-2.0
// What the verbs of joulecast-measure do.
#pragma once

#include "cli/measure/measure_options.h"
#include "cli/output.h"

namespace joulecast::cli {

// The exit code is the command's; a summary for people goes to standard error, for the command's own output is on the
// other stream, and `output` takes JSON.
Outcome measure_command(const MeasureOptions& options, const std::vector<std::string>& command, Output& output,
                        int& exit_code);
Outcome analyze_command(const AnalyzeOptions& options, Output& output);
Outcome export_run_command(const ExportRunOptions& options, Output& output);
Outcome report_command(const ReportOptions& options, Output& output);
Outcome watch_command(const WatchOptions& options, Output& output);
Outcome doctor_command(const DoctorOptions& options, Output& output);
Outcome mark_command(const MarkOptions& options);

}  // namespace joulecast::cli
