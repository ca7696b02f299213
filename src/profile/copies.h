// SPDX-License-Identifier: Apache-2.0
// What a network copies because a value lies otherwise in memory than the next operator needs it, as operations that
// can be measured alone.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
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

  // The copies that the node at hand makes of its inputs. A transposed value's is a transposition with a contiguous
  // result; a part's, whose rest lies between its rows, a pad with negative widths, which PyTorch runs as that copy; a
  // repeated one's a tile. Of a part or a repeat of something that does not lie contiguously itself only the last
  // step counts: as many bytes, in another order. Left out are every second element and the like, whose order nobody
  // remembers, and what fused attention reads, which takes any order of rows. Requires: visits come in execution order.
  std::vector<OperationText> of(const Visit& visit);

 private:
  // What a value that is no contiguous one is of one that is.
  struct View {
    enum class Kind : std::uint8_t { kUnknown, kTurned, kCut, kRepeated };
    Kind kind = Kind::kUnknown;
    IntList order;             // kTurned: of all its axes
    Shape before = {}, after;  // else: what it is cut out of or repeats, and its own shape as that happened
  };
  // Values are numbered apart in the graph and in every body.
  struct Body {
    Body(const LowerOptions& options, const Graph& graph) : lowering(options, graph), views(graph.values.size()) {}
    void follow(const Visit& visit);
    [[nodiscard]] View seen_through(const Visit& visit, const View& x, ValueId y) const;
    [[nodiscard]] std::optional<OperationText> copy_of(const TensorType& type, ValueId id) const;

    NodeLowering lowering;
    std::vector<View> views;  // by value
  };

  LowerOptions options_;
  std::map<const Graph*, Body> bodies_;
};

}  // namespace joulecast::profile
