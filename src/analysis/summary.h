// SPDX-License-Identifier: Apache-2.0
// What a run comes to: time, energy and power of its commands and phases, device by device.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/account.h"
#include "analysis/failed_runs.h"
#include "analysis/phases.h"
#include "recording/recording.h"
#include "series/warning.h"

namespace joulecast {

// Of several values of one kind, such as repeats.
struct Spread {
  std::size_t count = 0;
  double mean = 0, least = 0, most = 0, total = 0;
  std::optional<double> deviation;  // sample standard deviation; absent for one value
};
// Requires: at least one value.
Spread spread(const std::vector<double>& values);

struct DeviceSummary {
  std::string device, name;
  // Over the repeats of the command. Absent where readings cover too little of one of them.
  std::optional<Spread> energy_j, power_w;
  // Of the mean energy: of the source, and of the repeats where there are some. Absent where the source aliases: its
  // readings do not tell how far they are off.
  std::optional<double> standard_error_j;
  std::optional<double> edp_js;        // mean energy times mean time
  std::optional<double> ed2p_js2;      // times the mean time once more
  std::optional<double> idle_power_w;  // of the phase "baseline", or as given
  std::optional<double> above_idle_j;
  std::optional<double> above_idle_error_j;  // standard; absent where that of the energy is
  std::optional<double> idle_share;          // of the energy: what idling as long would have drawn
  std::vector<DeviceAccount> runs;           // one entry a repeat
};

// Phases of one name together. Of those that stand for many steps ("count=25") each step counts. Totals count a moment
// once, also where several of the phases share it (workers in parallel, nested calls): they are no sum of the single
// ones then, each of which keeps all that was drawn in its time.
struct PhaseGroup {
  std::string name;
  Spread time_s;
  std::vector<std::optional<Spread>> energy_j;  // one entry a device; absent where nothing covers one of them
  // Of the mean energy, one entry a device; absent where that is, or where nothing tells it.
  std::vector<std::optional<double>> standard_error_j;
  bool open = false;         // one of them has no end
  bool overlapping = false;  // some of them share time
};

// What the class of a sensor means for a device's figure (sensor_doubts.h).
struct SensorDoubt {
  std::string device, source;
  char sensor_class = 'A';
  series::Warning warning = series::Warning::kPartlySeen;
  std::string text;  // sentences for people
};

struct RunSummary {
  // The repeats of the command that worked, or all where none did; where nobody marked one, the whole recording.
  std::vector<Phase> commands;
  std::vector<FailedRun> failed;  // those that are left out of everything else
  Spread time_s;
  std::vector<DeviceSummary> devices;
  std::vector<PhaseGroup> phases;  // by their first begin; without commands, warm-ups and baseline
  std::vector<SensorDoubt> sensor_doubts;
  std::vector<std::string> doubts;  // sentences for people; those about sensors among them
};

struct SummaryOptions {
  std::optional<double> idle_power_w;        // of each GPU, where no baseline says
  std::vector<AppliedLine> lines;            // calibration; nothing is calibrated that has none
  std::optional<Seconds> expected_interval;  // at which readings were to come; absent: what is known of the source
};

// Errors: kInvalidInput for a recording of no time at all, and for one that ends before its command began.
Result<RunSummary> summarize(const Recording& recording, const SummaryOptions& options = {});

// Whether a doubt of aliasing is about the source: then nothing tells its error.
bool aliases(const RunSummary& summary, const std::string& device, const std::string& source);
// The standard error of a source's energy; absent where nothing tells it: the source aliases, or its readings do not
// scatter.
std::optional<double> told_error(const RunSummary& summary, const std::string& device, const SourceEnergy& source);
// How many steps went by in a phase: fast ones are marked many at a time ("count=25").
std::size_t steps_of(const Phase& phase);
// Phases of that name that the recorder marked itself, such as "baseline".
std::vector<Phase> own_phases(const std::vector<Phase>& phases, std::string_view name);
// Of single steps, from the sums of several.
Spread spread_of(const std::vector<Phase>& phases, const std::vector<double>& sums);
// The best source where it covers enough for a total.
std::optional<SourceEnergy> answer(const DeviceAccount& account);

}  // namespace joulecast
