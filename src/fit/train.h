// SPDX-License-Identifier: Apache-2.0
// From tables or stores to a pack with its own report: what `joulecast train` does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fit/method.h"
#include "fit/progress.h"
#include "joulecast/gpu.h"
#include "joulecast/result.h"

namespace joulecast {

struct TrainOptions {
  std::vector<std::string> tables;   // or stores of them
  std::vector<std::string> layouts;  // of stores; empty: all
  std::string out = "joulecast.jcpack";
  std::string without;      // file of operations to leave out: one Sample::key a line
  std::string without_gpu;  // catalogue name of a GPU to leave out, of sweeps too
  Method method = Method::kOurs;
  Catalogue catalogue = Catalogue::shipped();  // a row's GPU is looked up here
  std::string calibration;  // interval factors from families and GPUs left out; tools/accuracy makes the file
  bool quick = false;       // no cross-validation: the same models without held-out figures
  // At most so many rows of each stratum that has a limit of its own, instead of that limit.
  std::optional<std::size_t> stratum_rows = {};
};

// Reads the rows, fits every group and, where there are sweeps, how GPUs follow clocks and limits; writes the pack with
// its report. The same rows in the same order and the same options give the same bytes. What is done when the program
// is killed is kept in
// `<out>.checkpoint` and not done again.
// Errors: those of read_rows(); kIo for a pack that cannot be written, before anything is fitted; kInvalidInput for
// tables without a usable row.
Result<void> train(const TrainOptions& options, const Progress& progress);

}  // namespace joulecast
