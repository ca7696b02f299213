// SPDX-License-Identifier: Apache-2.0
// What torch.compile makes of a network: convolutions, products and attention stay calls of libraries, and the
// elementwise work, norms and reductions between them become kernels that read and write each tensor once.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "joulecast/cost.h"
#include "joulecast/graph.h"
#include "predict/lower.h"

namespace joulecast {

// Groups the nodes of one graph, given in execution order, into kernels.
class Fusion {
 public:
  Fusion(const Graph& graph, const LowerOptions& options);

  // `found` is replaced by what of the node stays a kernel of its own.
  void add(const CostContext& context, const Cost& cost, NodeLowering& lowering, std::vector<LoweredOperation>& found);
  // The kernels of the groups, in order of their first node.
  [[nodiscard]] std::vector<LoweredOperation> take() const;

 private:
  // What a node is to a kernel.
  enum class Role : std::uint8_t {
    kView,      // an index calculation in whoever reads it
    kEach,      // an output element depends on one place of each input
    kRows,      // a norm or softmax over rows that a block holds: as good as kEach
    kReduce,    // ends the kernel: what reads it has to wait for all of it
    kWindow,    // reads neighbours: what it reads has to be in memory
    kExternal,  // a kernel of a library
  };
  static constexpr std::int32_t kNone = -1;

  struct Held {
    ValueId buffer{kNoValue};    // whose memory a view looks at
    std::int32_t group = kNone;  // that computes it; none: a library's kernel, an input or a weight
    std::int32_t stage = 0;      // kernels that have to be over before it can be computed
    double bytes = 0;            // moved when all of it is read
  };
  struct Group {
    std::int64_t elements = 0, element_bytes = 1;
    std::int32_t stage = 0, merged_into = kNone;
    std::vector<ValueId> reads{}, makes{};
    std::vector<double> read_bytes{};
    bool sums_rows = false;  // leaves a number a row, too little to count, and is no less a kernel
    bool second = false;     // reads again what one that sums rows has read
  };

  [[nodiscard]] Role role_of(const CostContext& context, const std::vector<LoweredOperation>& found) const;
  [[nodiscard]] std::int32_t root(std::int32_t group) const;
  [[nodiscard]] Held held(ValueId id, const CostContext& context) const;
  void settle_inputs(const CostContext& context, NodeLowering& lowering) const;
  void view(const CostContext& context);
  void external(const CostContext& context);
  [[nodiscard]] bool picks(const CostContext& context) const;
  void picked(const CostContext& context);
  void fused(const CostContext& context, Role role, bool twice);
  std::int32_t joined(const CostContext& context, std::int32_t stage, std::int64_t elements, bool may_join);
  void read(std::int32_t group, const Held& held);
  void make(std::int32_t group, const CostContext& context, std::int32_t stage);

  const Graph& graph_;
  LowerOptions options_;
  std::vector<Held> held_;     // by value
  std::vector<bool> escapes_;  // by value: a library's kernel reads it, or the caller
  std::vector<Group> groups_;
  std::map<std::pair<std::int32_t, std::uint32_t>, std::size_t> read_at_;  // by group and buffer: where in its reads
};

// torch.compile turns the images of a network channels-last where that makes its convolutions faster: in inference if
// the flops weighted by what it gains and loses say so, in training if no convolution has several channels a group.
// Whoever asks for channels-last gets it.
Layout compiled_layout(const Graph& graph, const TypeTable& types, Mode mode, Layout wanted = Layout::kChannelsFirst);

}  // namespace joulecast
