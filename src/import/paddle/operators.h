// SPDX-License-Identifier: Apache-2.0
// Which operator of Paddle is lowered by which function, and what its inputs, attributes and outputs are called. The
// functions stand in lower_<family>.cpp; where PyTorch's operator is the same, its lowering is used.
#pragma once

#include <span>
#include <string_view>

#include "import/torch/aten/call.h"

namespace joulecast::paddle {

struct OperatorEntry {
  std::string_view name;  // of Paddle 3
  // Inputs in Paddle 3's order, then attributes and what only Paddle 2 has, all names of one place joined by "|": those
  // that the lowering asks for, then those of the files. "#": numbers, although they may come in a tensor; "$": one
  // number.
  std::string_view parameters;
  // In Paddle 3's order with the names that Paddle 2 has for them; "-" is not computed. Empty: "Out".
  std::string_view outputs;
  Result<void> (*lower)(aten::Call&);
};

// Sorted by name.
std::span<const OperatorEntry> operator_list();
// nullptr where there is none. `old`: by the name that Paddle 2 has for it. In-place forms ("relu_") are those without
// the underscore.
const OperatorEntry* find_operator(std::string_view name, bool old);

}  // namespace joulecast::paddle
