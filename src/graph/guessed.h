// SPDX-License-Identifier: Apache-2.0
// Which operator that nobody knows a shape rests on, where the file does not say what it returns either.
#pragma once

#include <span>

#include "joulecast/graph.h"

namespace joulecast {

// `error` of an operator that reads `values`, behind the name of the unknown operator that they follow from, if any.
Error blamed_on_unknown(Error error, const Graph& graph, std::span<const ValueId> values);

}  // namespace joulecast
