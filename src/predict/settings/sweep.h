// SPDX-License-Identifier: Apache-2.0
// Measured sweeps of settings, as the law wants them: shares of the GPU's default limit and highest clock.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "dataset/measured.h"
#include "dataset/refusals.h"
#include "joulecast/gpu.h"
#include "joulecast/workload.h"
#include "predict/settings/hypotheses.h"
#include "predict/settings/setting_row.h"

namespace joulecast::settings {

// One workload under several settings, the highest last. Times of any level; powers as shares of the default limit.
struct Sweep {
  const Gpu* gpu = nullptr;
  std::string gpu_label;  // as the table writes it
  std::string layout, workload, variant;
  Mode mode = Mode::kInference;
  std::optional<Precision> precision;  // absent where we have no word for the table's
  std::optional<std::int64_t> batch;
  // Of whole runs of a network on one GPU, input and host included; not of kernels, passes or pipelines.
  bool whole_run = false;
  double limit_w = 0.0;  // what shares are of: the default limit, or what was drawn where that was more
  std::vector<OperatingPoint> points;
  std::vector<std::optional<double>> log_time, log_power;
  std::vector<Setting> settings;   // of the points, as the table has them
  std::vector<std::size_t> lines;  // in the table, of the points

  [[nodiscard]] std::size_t last() const { return points.size() - 1; }
  [[nodiscard]] bool has_times() const { return log_time.front().has_value(); }  // all or none
  // The entries of the points given, as the hypotheses want them; `point` counts from `first`.
  [[nodiscard]] std::vector<Known> known(std::span<const std::size_t> indices, std::size_t first = 0) const;
  [[nodiscard]] std::vector<Known> all_known(std::size_t first = 0) const;
};

struct SweepSet {
  std::vector<Sweep> sweeps;  // in the order of sweep_rank(), GPU, workload, variant
  // Rows by layout.
  std::map<std::string, std::size_t> used;
  std::map<std::string, Refusals> refused;
};

// Gathers rows, from tables or stores in any order: the same rows give the same sweeps.
class SweepRows {
 public:
  // Requires: a row of a layout that has a sweep_rank(). Rows that count for nothing are refused with the reason.
  void add(const MeasuredOther& row);
  // Refuses what makes no sweep: GPUs the catalogue lacks, fewer than four different settings, more than 1000 runs,
  // runs without a time where others of the sweep have one, and of repeats all but the first that makes one.
  [[nodiscard]] SweepSet sweeps(const Catalogue& catalogue) const;

 private:
  // Rank of the layout, GPU, workload, variant, repeat.
  using Key = std::tuple<std::size_t, std::string, std::string, std::string, std::string>;
  std::map<Key, std::vector<SettingRow>> rows_;
  std::map<std::string, Refusals> refused_;
};

}  // namespace joulecast::settings
