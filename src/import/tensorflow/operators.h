// SPDX-License-Identifier: Apache-2.0
// Which operator of TensorFlow is lowered by which function. The functions stand in lower_<family>.cpp.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "import/tensorflow/node_context.h"

namespace joulecast::tensorflow {

using LowerFunction = Result<void> (*)(NodeContext&);

struct OperatorEntry {
  std::string_view name;
  std::size_t inputs;  // that must be there at least
  LowerFunction lower;
};

// Sorted by name.
std::span<const OperatorEntry> operator_list();
// nullptr where there is no entry; such a node is kept as Opaque.
const OperatorEntry* find_operator(std::string_view name);

// Where the outputs called `output` of an operator begin among all its outputs.
std::size_t output_place(std::string_view op, std::string_view output);

}  // namespace joulecast::tensorflow
