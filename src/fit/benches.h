// SPDX-License-Identifier: Apache-2.0
// On which bench a GPU was measured: which of the models answer for it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "fit/samples.h"

namespace joulecast {

// Rows of one GPU and kind of work.
struct MeasuredRows {
  int modules = 0, loops = 0;

  // Whether they tell a model what the GPU is like.
  [[nodiscard]] bool enough() const;
  // Whose models answer: what runs as modules is what people ask for.
  [[nodiscard]] Bench answers() const;
};

// Of the samples of one group, by "seen/<group>/<gpu id>" and, for work that has an arithmetic,
// "arithmetic/<group>/<arithmetic>/<gpu id>".
using MeasuredRowsByKey = std::map<std::string, MeasuredRows>;
MeasuredRowsByKey measured_rows(const std::vector<Sample>& samples);

// By sample: whose models answer for such work on its GPU.
std::vector<Bench> answering_benches(const std::vector<Sample>& samples);

// The keys of the pack's table of GPUs for what was measured enough: as above, with "-loops" behind the first word
// where models of loops answer.
std::vector<std::string> measured_keys(const std::vector<Sample>& samples);

}  // namespace joulecast
