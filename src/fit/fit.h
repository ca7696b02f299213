// SPDX-License-Identifier: Apache-2.0
// Fits the estimator to measured operations, judges it by cross-validation, and packs it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "fit/method.h"
#include "fit/samples.h"
#include "joulecast/result.h"
#include "predict/trees/forest.h"

namespace joulecast {

// What one group's models say about every sample of the group when that sample was not among those fitted on.
struct HeldOut {
  std::vector<double> time, power;  // seconds, watts
};

// Of one group: `any` answers for every GPU, `seen` for those with rows of their own.
struct GroupModels {
  Forest time, power;
};

struct GroupFit {
  GroupModels any, seen;
  HeldOut random;      // by `seen`: folds over distinct operations
  HeldOut unseen_gpu;  // by `any`: each GPU left out in turn, trees trusted as far as on an unseen GPU
};

// Folds of the cross-validation.
inline constexpr int kFolds = 15;

// How far trees are trusted on a GPU that was not measured, chosen by leaving GPUs out.
double trust_unseen(Group group);

using Progress = std::function<void(const std::string&)>;

// A full fit judges itself; a quick one gives the same models and no held-out figures but the times power is learnt on.
enum class Judging : std::uint8_t { kFull, kQuick };

// A group without rows, or without rows that have power, gets models without trees (bound_alone), and says so.
// Errors: those of learn_time().
Result<GroupFit> fit_group(Group group, const std::vector<Sample>& samples, Method method, Judging judging,
                           const Progress& progress);

// GroupFit::random alone.
Result<HeldOut> held_out_operations(Group group, const std::vector<Sample>& samples, Method method);
// In which of the kFolds the operation with this key is left out, from 0.
int fold_of(std::string_view key);

// Models without trees, for a group nobody measured: the bound, at idle power.
GroupFit bound_alone(Group group);

// Reads tables, fits every group and writes the pack with its report.
struct TrainOptions {
  std::vector<std::string> tables;   // or stores of them
  std::vector<std::string> layouts;  // of stores; empty: all
  std::string out = "joulecast.jcpack";
  std::string without;      // file of operations to leave out: one Sample::key a line
  std::string without_gpu;  // catalogue name of a GPU to leave out
  Method method = Method::kOurs;
  std::string calibration;  // interval factors from families and GPUs left out; tools/accuracy makes the file
  bool quick = false;       // no cross-validation: the same models without held-out figures
};
// Errors: those of read_table; kIo for a pack that cannot be written, before anything is fitted; kInvalidInput for
// tables without a usable row.
Result<void> train(const TrainOptions& options, const Progress& progress);

}  // namespace joulecast
