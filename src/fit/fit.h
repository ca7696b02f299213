// SPDX-License-Identifier: Apache-2.0
// Fits the estimator to measured operations, judges it by cross-validation, and packs it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fit/samples.h"
#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

// What one group's models say about every sample of the group when that sample was not among those fitted on.
struct HeldOut {
  std::vector<double> time, power;  // seconds, watts
};

struct GroupFit {
  Forest time, power;
  HeldOut random;      // folds over distinct operations
  HeldOut unseen_gpu;  // each GPU left out in turn, trees trusted as far as on an unseen GPU
};

// Folds of the cross-validation.
inline constexpr int kFolds = 15;

// How far trees are trusted on a GPU that was not measured, chosen by leaving GPUs out.
double trust_unseen(Group group);

using Progress = std::function<void(const std::string&)>;

// Errors: kInvalidInput for a group without rows, naming it; what XGBoost says.
Result<GroupFit> fit_group(Group group, const std::vector<Sample>& samples, const Progress& progress);

// Reads tables, fits every group and writes the pack with its report.
struct TrainOptions {
  std::vector<std::string> tables;
  std::string out = "joulecast.jcpack";
};
Result<void> train(const TrainOptions& options, const Progress& progress);

}  // namespace joulecast
