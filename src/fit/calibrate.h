// SPDX-License-Identifier: Apache-2.0
// Corrects a pack without fitting it anew, by a few measurements on a GPU or by interval factors: what
// `joulecast train --calibrate` does. docs/howto/add-your-gpu.md
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fit/correction_fit.h"
#include "fit/progress.h"
#include "fit/samples.h"
#include "joulecast/result.h"
#include "predict/correction.h"
#include "predict/estimator.h"

namespace joulecast {

struct CalibrateOptions {
  std::vector<std::string> tables;   // or stores of them
  std::vector<std::string> layouts;  // of stores; empty: all
  std::string pack;                  // to start from
  std::string out;
  std::string graphs = {};       // folder with the graphs of networks; empty: only operations can be used
  std::string calibration = {};  // interval factors that stand before the pack's own (calibration_file.h)
};

// Mean absolute errors as fractions, of rows that the correction was not made with.
struct CalibrationErrors {
  std::size_t rows = 0;
  std::optional<double> before, after;
};
struct CalibratedGpu {
  std::string gpu;
  CalibrationErrors time, power;
  std::vector<std::string> unseen_groups;  // of which no row says anything
};

// Writes `out`: the pack with the corrections of the GPUs that the tables have rows of, and with the factors of
// `calibration`. Errors: those of add_table(), read_calibration() and of packs; kInvalidInput where no row can be used
// and no factors are given.
Result<std::vector<CalibratedGpu>> calibrate(const CalibrateOptions& options, const Catalogue& catalogue,
                                             const Progress& progress);

// What it did, for people: 80 columns.
std::string calibration_text(const std::vector<CalibratedGpu>& gpus);

}  // namespace joulecast
