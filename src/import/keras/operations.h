// SPDX-License-Identifier: Apache-2.0
// Which operation of keras.ops is lowered by which function. The functions stand in lower_operations_<family>.cpp.
#pragma once

#include <span>
#include <string_view>

#include "import/tensorflow/operators.h"

namespace joulecast::keras {

// By the names of their classes, sorted.
std::span<const tensorflow::OperatorEntry> operation_list();
// By the name of the class; nullptr for one that is not listed.
const tensorflow::OperatorEntry* find_operation(std::string_view name);

}  // namespace joulecast::keras
