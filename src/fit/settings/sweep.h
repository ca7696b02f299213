// SPDX-License-Identifier: Apache-2.0
// Measured sweeps of settings, as the law wants them: shares of the GPU's default limit and highest clock.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/table.h"
#include "joulecast/gpu.h"
#include "predict/settings/hypotheses.h"

namespace joulecast::settings {

// One workload under several settings, the highest last. Times of any level; powers as shares of the default limit.
struct Sweep {
  const Gpu* gpu = nullptr;
  std::string layout, workload, variant;
  // Of whole runs of a network on one GPU, input and host included; not of kernels, passes or pipelines.
  bool whole_run = false;
  double limit_w = 0.0;  // what shares are of: the default limit, or what was drawn where that was more
  std::vector<OperatingPoint> points;
  std::vector<std::optional<double>> log_time, log_power;

  [[nodiscard]] std::size_t last() const { return points.size() - 1; }
  [[nodiscard]] bool has_times() const { return log_time.front().has_value(); }
  // The entries of the points given, as the hypotheses want them; `point` counts from `first`.
  [[nodiscard]] std::vector<Known> known(std::span<const std::size_t> indices, std::size_t first = 0) const;
  [[nodiscard]] std::vector<Known> all_known(std::size_t first = 0) const;
};

struct SweepSet {
  std::vector<Sweep> sweeps;  // in the order of layout, GPU, workload, variant
  std::size_t used = 0, refused = 0;
  std::vector<std::string> notes;
};

// Adds the sweeps of one table. Left out, and said in the notes: rows that are not primary, GPUs the catalogue lacks,
// sweeps of fewer than four settings; of repeats all but the first.
// Errors: those of read_table(); kInvalidInput for a table without settings.
Result<void> add_sweeps(const std::string& path, const Catalogue& catalogue, SweepSet& out);

}  // namespace joulecast::settings
