// SPDX-License-Identifier: Apache-2.0
// Measured rows as points of a sweep: which tables hold sweeps of clocks and limits, and which of their rows count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataset/measured.h"
#include "joulecast/result.h"
#include "joulecast/workload.h"

namespace joulecast::settings {

// A run of one workload under one setting.
struct SettingRow {
  std::string gpu;        // as the catalogue finds it
  std::string gpu_label;  // as the table writes it
  Mode mode = Mode::kInference;
  std::optional<Precision> precision;  // absent where we have no word for the table's
  std::optional<std::int64_t> batch;
  std::string workload;  // the network or kernel
  std::string variant;   // what else was the same over the sweep: batch, data set, ...
  std::string repeat;    // tells repeats of one sweep apart, where there are any
  // Absent: the device's default.
  std::optional<Watts> power_limit;
  std::optional<Hertz> sm_clock;
  std::optional<Seconds> time;  // of the same work at every setting
  Watts power;                  // mean of one GPU
  int gpu_count = 1;            // that shared the work
  Provenance from;
};

// Where the layout stands among those that hold sweeps: sweeps are fitted in this order, whatever the order of tables.
// Nothing for other layouts.
std::optional<std::size_t> sweep_rank(std::string_view layout);

// Requires: a row of a layout that has a rank. Errors: kUnsupported with the reason for rows that no sweep is made of;
// kInvalidInput for a row whose words are not those of its layout.
Result<SettingRow> setting_row(const MeasuredOther& row);

}  // namespace joulecast::settings
