// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "predict/trees/forest.h"

namespace joulecast {

// A regression forest from the JSON that XGBoost saves (XGBoosterSaveModelToBuffer, format "json"; 1.7 to 2.1).
// Feature names are those of the file, or f0, f1, ... where it has none.
// Errors: kInvalidInput for what is not such a model; kUnsupported, naming it, for boosters, objectives and splits
// whose output is not the plain sum of leaves: DART, linear, several outputs, categories, a link function.
Result<Forest> forest_from_xgboost(std::string_view json);

}  // namespace joulecast
