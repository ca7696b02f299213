// SPDX-License-Identifier: Apache-2.0
// A measured run for people and for programs.
#pragma once

#include <string>

#include "analysis/summary.h"
#include "cli/json.h"
#include "recording/recording.h"

namespace joulecast::cli {

// Tables of at most 80 columns; the doubts are left to the caller.
std::string summary_text(const Recording& recording, const RunSummary& summary);

// One line a phase of that name: when it began, time, energy of each device.
std::string phase_list(const Recording& recording, const RunSummary& summary, const std::string& name);

// A line a run, device and source of its energy, RFC 4180, docs/formats/measurement.md.
std::string summary_csv(const Recording& recording, const RunSummary& summary);

// joulecast.measurement/1, docs/formats/measurement.md.
Json summary_json(const Recording& recording, const RunSummary& summary);

}  // namespace joulecast::cli
