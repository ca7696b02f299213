// SPDX-License-Identifier: Apache-2.0
// The rows a predictor is fitted on: which, with what weight, in which group.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dataset/table.h"
#include "joulecast/gpu.h"
#include "predict/measured_work.h"
#include "predict/physics.h"
#include "predict/settings/sweep.h"

namespace joulecast {

struct Sample {
  Work work;
  Situation situation;
  const Gpu* gpu = nullptr;
  Device device;
  Mode mode = Mode::kInference;
  Precision precision = Precision::kFp32;
  std::string table, gpu_name;  // as the table calls it, for the report
  std::string key;              // equal for the same operation, so that it stays on one side of a split
  std::string stratum;          // rows of one stratum are interchangeable: too many of them are thinned out
  double time = 0;
  std::optional<double> power;  // only where the sensor saw enough
  double weight = 1, power_weight = 1;
  // Also for models that do not know the GPU, which gain nothing by so many shapes, and for those of modules.
  bool for_any_gpu = true, for_modules = true;
  std::array<double, kBenches> seen_weight{1, 1};  // for models of GPUs that were measured on each bench
  bool power_from_own_time = false;  // its framework differs from the time model's: power is learnt on measured time
  // Judged, and counted in intervals: not older generations, and not block-scaled FP8, whose kernels are so much harder
  // to foresee elsewhere that products of all other kinds would get twice the interval they need.
  bool primary = true;
  std::size_t number = 0;  // whatever its reader wants to find it again by
};

// What became of the rows of one layout. Files and publishers as the rows name them.
struct SourceRows {
  std::set<std::string, std::less<>> files, publishers;
  std::size_t used = 0;
  std::size_t not_needed = 0;  // beyond the limit of their stratum
  std::size_t left_out = 0;    // as was asked for
  Refusals refused;
};

struct SampleSet {
  std::array<std::vector<Sample>, kGroups> groups;
  settings::SweepRows sweeps;
  std::map<std::string, SourceRows> sources;  // by layout
};

// One row. Errors: kUnsupported with the reason for a row that must not be learnt from, kInvalidInput for a broken one.
Result<Sample> sample_of(const MeasuredOperation& row, const Catalogue& catalogue);

// Adds the usable rows of one table, or of a store and there of the layouts named; the others are counted with their
// reasons, and come back. `network` takes networks, or says why it does not; without it none is used. Errors: those of
// read_rows.
Result<Refusals> add_table(const std::string& place, const std::vector<std::string>& layouts,
                           const Catalogue& catalogue, SampleSet& set,
                           const std::function<Result<void>(const MeasuredNetwork&)>& network = {});

// Keeps at most a limit of rows of each stratum that has one, chosen by a hash of their keys: the same rows every time.
// `limit`: instead of the strata's own, which tools/accuracy/learning_curve.py supports.
void thin_out(SampleSet& set, std::optional<std::size_t> limit = {});

}  // namespace joulecast
