// SPDX-License-Identifier: Apache-2.0
// How far off predictions of operations are: not all of a group are equally hard.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "predict/estimator.h"

namespace joulecast {

// |log(predicted / measured)| of operations like this one when they were left out: its mean, or where very many rows
// tell (fit/spread.h) what nine in ten are below. Bounds are value * exp(+-factor * spread); the factor, calibrated, is
// the pack's `operation/<group>/...`.
struct SpreadFactors {
  double time = 1, power = 1;
  double energy = 1;
};

// What models of the spread see: the row the estimator's models see, and how far its trees moved the bound.
std::vector<std::string_view> spread_row_names(Group group);
// Writes it, of an operation whose predicted time is `time`. Requires: room for spread_row_names(group_of(work)).
void write_spread_row(const Work& work, const Device& device, Situation situation, double time, std::span<float> row);

class SpreadModels {
 public:
  // Requires: the pack outlives the models. A pack without such models has a spread of 1 everywhere.
  // Errors: kInvalidInput where a forest is damaged or wants other features than this program computes.
  static Result<SpreadModels> from(const Pack& pack);

  // Of an operation on a GPU where its group was measured. Elsewhere the spread is 1: what errors on measured GPUs look
  // like says little about another GPU's.
  [[nodiscard]] SpreadFactors of(const Work& work, const Device& device, Situation situation,
                                 double predicted_time) const;

 private:
  struct Models {
    ForestView time, power, energy;
  };
  std::map<Group, Models> models_;
};

}  // namespace joulecast
