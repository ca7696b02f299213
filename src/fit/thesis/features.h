// SPDX-License-Identifier: Apache-2.0
// What the thesis' predictors see of an operation (its section 4.2): the module's type one-hot, its attributes, the
// extents of its input and the clock, each beside a flag that says whether it applies. The list of attributes is that
// of the thesis' scripts (ConstantinNicolai/ml-operator-profiling, random_forest_training.py).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/measured.h"
#include "joulecast/result.h"

namespace joulecast {

// A measured module with the numbers that stand for it.
struct ThesisRow {
  std::string type;             // "Conv2d"
  std::vector<float> features;  // all but the type
  double time = 0, power = 0;   // s, W: raw, as the thesis learns them
  std::string key;              // equal for the same operation
  std::string gpu;              // as the table calls it
  Mode mode = Mode::kInference;
};

// Errors: kUnsupported for what is no PyTorch module or has no time or power.
Result<ThesisRow> thesis_row(const MeasuredOperation& row);

// In the order of ThesisRow::features.
std::vector<std::string> thesis_feature_names();

}  // namespace joulecast
