// SPDX-License-Identifier: Apache-2.0
// One operation as three short texts, as tables and stores hold it:
//
//   operator "conv", operands "f32[32, 3, 224, 224]; w f32[64, 3, 7, 7]; _", attributes "stride = [2, 2]"
#pragma once

#include <string>
#include <string_view>

#include "joulecast/graph.h"
#include "joulecast/result.h"

namespace joulecast {

struct OperationText {
  std::string op;  // the operator's name in the text form of graphs
  std::string
      operands;  // in order, "; " between: a type, "w " and a type (weight), "c " type " = " contents, "_" absent
  std::string attributes;  // as the text form writes them between braces; those at their defaults are left out

  bool operator==(const OperationText&) const = default;
};

// Requires: a graph of one node with fixed extents, as OperationBuilder makes it.
OperationText operation_text(const Graph& graph);

// The graph OperationBuilder would have made. Errors: kInvalidInput for texts that are no single operation whose types
// can be inferred.
Result<Graph> parse_operation(const OperationText& text);

}  // namespace joulecast
