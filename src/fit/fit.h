// SPDX-License-Identifier: Apache-2.0
// Fits the estimator to measured operations and judges it by cross-validation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fit/method.h"
#include "fit/progress.h"
#include "fit/samples.h"
#include "joulecast/result.h"
#include "predict/power_law.h"
#include "predict/trees/forest.h"

namespace joulecast {

// What one group's models say about every sample of the group when that sample was not among those fitted on.
struct HeldOut {
  std::vector<double> time, power;  // seconds, watts; 0 W where no power was left to learn from
};

struct GroupModels {
  Forest time, power;
  PowerLaw law;  // what the trees of power correct
};

// Of one group: `any` answers for every GPU, `seen` for those with rows of their own.
struct GroupFit {
  GroupModels any, seen;             // no trees of time in `any` where trust_unseen() is 0
  std::optional<Forest> loops_time;  // for GPUs measured in loops alone, in the place of seen.time
  HeldOut random;                    // by the models that answer for the sample's GPU: folds over distinct operations
  HeldOut unseen_gpu;                // by `any`: each GPU left out in turn, trees trusted as far as on an unseen GPU
};

// Folds of the cross-validation; captured kernels have so many rows that fewer do.
inline constexpr int kFolds = 15;
inline constexpr int kLoopFolds = 5;  // of models of GPUs that were measured in loops, which have many rows
int folds_of(Group group);

// How far trees are trusted on a GPU that was not measured, chosen by leaving GPUs out; where it is 0 there are none.
double trust_unseen(Group group);

// A full fit judges itself on GPUs left out too; a quick one gives the same models and leaves out operations alone: the
// times that power is learnt on and the errors that spreads are learnt from.
enum class Judging : std::uint8_t { kFull, kQuick };

// Told after each model that was fitted: what it was, and what it cost in units of group_cost().
using Step = std::function<void(std::string_view what, double cost)>;

// A group without rows, or without rows that have power, gets models without trees (bound_alone), and says so.
// Errors: those of learn_time().
Result<GroupFit> fit_group(Group group, const std::vector<Sample>& samples, Method method, Judging judging,
                           const Progress& progress, const Step& step);

// Roughly how much work that is: rows (and a share for histograms) times trees times levels, over all models.
double group_cost(Group group, const std::vector<Sample>& samples, Judging judging);

// GroupFit::random alone.
Result<HeldOut> held_out_operations(Group group, const std::vector<Sample>& samples, Method method);
// In which of the kFolds the operation with this key is left out, from 0. Requires of folds_of(): divides kFolds.
int fold_of(std::string_view key);

// Models without trees, for a group nobody measured: the bound, at the power of a GPU that waits.
GroupFit bound_alone(Group group);

}  // namespace joulecast
