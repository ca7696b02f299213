// SPDX-License-Identifier: Apache-2.0
// Which ATen operator is lowered by which function, and what its arguments are called. The functions stand in
// lower_<family>.cpp.
#pragma once

#include <span>
#include <string_view>

#include "import/torch/aten/call.h"

namespace joulecast::aten {

struct OperatorEntry {
  std::string_view name;      // "conv2d" of aten; others with what they are of: "_operator.add"
  std::string_view overload;  // "" for all that have no entry of their own
  std::string_view parameters;
  Result<void> (*lower)(Call&);
};

// Sorted by name, then overload.
std::span<const OperatorEntry> operator_list();
// nullptr where there is none. In-place forms ("relu_") are those without the underscore.
const OperatorEntry* find_operator(std::string_view name, std::string_view overload);
// Whether the operator changes its first argument, by its name.
bool is_in_place(std::string_view name);
// Whether its result shows the elements of its first argument, so that changing one changes the other.
bool is_view(std::string_view name);

// Lowers a call; without an entry, and where the lowering does not know the form, it stays as it is.
Result<void> lower(const OperatorEntry* entry, Call& call);

}  // namespace joulecast::aten
