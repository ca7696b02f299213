// SPDX-License-Identifier: Apache-2.0
// What a tensor that a module holds is in the graph: a parameter, or a constant that no optimizer updates.
#pragma once

#include <string_view>

#include "joulecast/graph.h"

namespace joulecast::aten {

// `buffer`: the module registered it as such.
ValueKind weight_kind(const TensorType& type, std::string_view name, bool buffer);

}  // namespace joulecast::aten
