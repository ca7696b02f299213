// SPDX-License-Identifier: Apache-2.0
// Fits the estimator to measured operations and judges it by cross-validation.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fit/progress.h"
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

// A full fit judges itself; a quick one gives the same models and no held-out figures but the times power is learnt on.
enum class Judging : std::uint8_t { kFull, kQuick };

// Told after each model that was fitted: what it was, and what it cost in units of group_cost().
using Step = std::function<void(std::string_view what, double cost)>;

// A group without rows, or without rows that have power, gets models without trees (bound_alone), and says so.
// Errors: what XGBoost says.
Result<GroupFit> fit_group(Group group, const std::vector<Sample>& samples, Judging judging, const Progress& progress,
                           const Step& step);

// Roughly how much work that is: rows (and a share for histograms) times trees times levels, over all models.
double group_cost(Group group, const std::vector<Sample>& samples, Judging judging);

// Models without trees, for a group nobody measured: the bound, at idle power.
GroupFit bound_alone(Group group);

}  // namespace joulecast
