// SPDX-License-Identifier: Apache-2.0
// A network as a sorted multiset of operations, in words that do not depend on which exporter wrote it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "joulecast/graph.h"

namespace joulecast {

// "conv groups 32 2x64x56x56, 64x64x3x3 -> 2x64x56x56" and how many there are. Left out: views, whatever follows from
// shapes and constants alone (positions, the masks of shifted windows), and arithmetic on integers and booleans
// (indices, masks): each exporter builds these in its own way.
using OperatorList = std::map<std::string, int>;
OperatorList list_operators(const Graph& graph, const TypeTable& types);

struct OperatorDifference {
  std::string operation;
  int left = 0, right = 0;
};
// Operations of which one list has more than the other.
std::vector<OperatorDifference> compare(const OperatorList& left, const OperatorList& right);

}  // namespace joulecast
