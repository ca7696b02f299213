// SPDX-License-Identifier: Apache-2.0
// Which class of Keras is lowered by which function. The functions stand in lower_<family>.cpp.
#pragma once

#include <span>
#include <string_view>

#include "import/tensorflow/operators.h"

namespace joulecast::keras {

// By the names of the classes, sorted.
std::span<const tensorflow::OperatorEntry> layer_list();
// By the name of the operator in the graph ("keras.Dense"); for a class that is not listed, what keeps the layer as it
// is; nullptr for any other name.
const tensorflow::OperatorEntry* layer_operator(std::string_view name);

}  // namespace joulecast::keras
