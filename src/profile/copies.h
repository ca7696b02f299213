// SPDX-License-Identifier: Apache-2.0
// What a network copies because a value lies otherwise in memory than the next operator needs it, as operations that
// can be measured alone.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "dataset/operation_text.h"
#include "graph/walk.h"
#include "joulecast/workload.h"
#include "predict/lower.h"

namespace joulecast::profile {

// Follows how PyTorch's values lie, visit by visit.
class Copies {
 public:
  Copies(Mode mode, Precision precision) : options_{mode, precision, Runtime::kPytorchEager, Layout::kChannelsFirst} {}

  // The copies that the node at hand makes of its inputs, as transpositions with a contiguous result. Left out are
  // those of values that are no transposed ones, as of slices, for what their order is nobody remembers. Requires:
  // visits come in execution order.
  std::vector<OperationText> of(const Visit& visit);

 private:
  // Values are numbered apart in the graph and in every body.
  struct Body {
    Body(const LowerOptions& options, std::size_t values) : lowering(options, values), orders(values) {}
    void follow(const Visit& visit);

    NodeLowering lowering;
    std::vector<IntList> orders;  // by value: which transposition of a contiguous one it is; empty where it is none
  };

  LowerOptions options_;
  std::map<const Graph*, Body> bodies_;
};

}  // namespace joulecast::profile
