// SPDX-License-Identifier: Apache-2.0
// The operations of a network, each different one once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dataset/operation_text.h"
#include "joulecast/graph.h"
#include "joulecast/result.h"
#include "joulecast/workload.h"

namespace joulecast::profile {

struct UniqueOperation {
  OperationText text;
  std::int64_t count = 0;  // in one forward pass
  bool input_gradient =
      true;  // false where it reads nothing but the network's own inputs: training needs none of these
};

struct Operations {
  std::vector<UniqueOperation> unique;  // in order of first appearance
  std::vector<std::string>
      left_out;  // labels of what cannot stand alone: control flow, operators that are none of ours
};

// What moves no data is left out: reshapes, transposes and slices make views, dropout does nothing in inference. Copies
// that views force are operations (copies.h).
// Requires: types is what infer_types() made of this graph, in the precision that is meant.
Operations unique_operations(const Graph& graph, const TypeTable& types, Mode mode, Precision precision);

}  // namespace joulecast::profile
