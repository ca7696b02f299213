// SPDX-License-Identifier: Apache-2.0
#include "predict/fuse.h"

#include <algorithm>
#include <type_traits>

#include "graph/walk.h"

namespace joulecast {
namespace {

template <typename Op, typename... Any>
constexpr bool kIsAny = (std::is_same_v<Op, Any> || ...);

// Longer rows are reduced by several blocks: whoever normalises with the result reads them again.
constexpr std::int64_t kRowOfOneBlock = 32768;

bool has_long_rows(const std::vector<LoweredOperation>& found) {
  return std::any_of(found.begin(), found.end(), [](const LoweredOperation& operation) {
    const auto* work = std::get_if<ReductionWork>(&operation.work);
    return work != nullptr && work->columns > kRowOfOneBlock;
  });
}

// Inductor fills halves up to whole vectors of 16 bytes where products are long enough that it pays
// (torch/_inductor/fx_passes/pad_mm.py): what is copied for it is the weight. It tries both out on products that
// compute more than they move by half of what the GPU does; this is that of an A100. By the laws of such rows the copy
// takes what 170 rows gain on an A100 and 430 on an RTX 3090; from 512 on it is made. Returns its bytes, or 0.
std::int64_t fill_up(GemmWork& work) {
  constexpr std::int64_t kVector = 8, kRows = 512;
  constexpr double kComputes = 77.0;
  const auto filled = [](std::int64_t extent) { return (extent + kVector - 1) / kVector * kVector; };
  const bool odd = work.columns % kVector != 0 || work.depth % kVector != 0;
  if (!odd || !work.weight || work.element_bytes != 2 || work.rows < kRows) return 0;
  const auto rows = static_cast<double>(work.rows), columns = static_cast<double>(work.columns);
  const auto depth = static_cast<double>(work.depth);
  if (rows * columns * depth <= kComputes * (rows * depth + columns * depth + rows * columns)) return 0;
  work.columns = filled(work.columns);
  work.depth = filled(work.depth);
  return 2 * work.element_bytes * work.columns * work.depth;
}

bool is_product(const Node& node) {
  return std::holds_alternative<Linear>(node.op) || std::holds_alternative<MatMul>(node.op);
}

bool is_active(const std::vector<LoweredOperation>& found) {
  const auto* work = found.empty() ? nullptr : std::get_if<PointwiseWork>(&found.back().work);
  return work == nullptr || work->kind != PointwiseKind::kStochasticDepth || work->active;
}

}  // namespace

Fusion::Fusion(const Graph& graph, const LowerOptions& options)
    : graph_(graph), options_(options), held_(graph.values.size()), escapes_(graph.values.size(), false) {}

Fusion::Role Fusion::role_of(const CostContext& context, const std::vector<LoweredOperation>& found) const {
  if (found.empty() || !is_active(found)) return Role::kView;
  return std::visit(
      [&](const auto& op) {
        using Op = std::decay_t<decltype(op)>;
        if constexpr (kIsAny<Op, Activation, Unary, Binary, Where, Cast, Dropout, StochasticDepth, Concat, Tile,
                             PixelShuffle, Triangle, OneHot, Range, Fill, Quantize, Dequantize, Reshape, Flatten>) {
          return Role::kEach;
        } else if constexpr (kIsAny<Op, LayerNorm, RmsNorm, GroupNorm, InstanceNorm, Softmax>) {
          return Role::kRows;
        } else if constexpr (kIsAny<Op, BatchNorm>) {
          return options_.mode == Mode::kInference ? Role::kEach : Role::kRows;
        } else if constexpr (kIsAny<Op, Reduce>) {
          return Role::kReduce;
        } else if constexpr (kIsAny<Op, AdaptivePool>) {
          const Shape& shape = context.output().shape;
          const bool global = std::all_of(shape.begin() + std::min<std::size_t>(2, shape.size()), shape.end(),
                                          [](std::int64_t extent) { return extent == 1; });
          return global ? Role::kReduce : Role::kWindow;
        } else if constexpr (kIsAny<Op, Pool, Resize, Pad, Roll>) {
          return Role::kWindow;
        } else {
          return Role::kExternal;
        }
      },
      context.node().op);
}

std::int32_t Fusion::root(std::int32_t group) const {
  while (group != kNone && groups_[static_cast<std::size_t>(group)].merged_into != kNone)
    group = groups_[static_cast<std::size_t>(group)].merged_into;
  return group;
}

Fusion::Held Fusion::held(ValueId id, const CostContext& context) const {
  const Held& known = held_[index(id)];
  if (known.buffer != kNoValue) return known;
  const bool from_shapes = context.types().known(id) != nullptr;
  return {.buffer = id, .bytes = from_shapes ? 0.0 : context.types().type(id).bytes().value()};
}

// A kernel of ours writes in the order its reader wants.
void Fusion::settle_inputs(const CostContext& context, NodeLowering& lowering) const {
  const bool product = is_product(context.node());
  for (const ValueId id : context.node().inputs) {
    if (id == kNoValue || held_[index(id)].group == kNone) continue;
    const Storage lies = lowering.storage(id);
    if (lies == Storage::kChannelsLast && !product) continue;
    lowering.set_storage(id, Storage::kContiguous);
  }
}

void Fusion::add(const CostContext& context, const Cost& cost, NodeLowering& lowering,
                 std::vector<LoweredOperation>& found) {
  settle_inputs(context, lowering);
  lowering.lower(context, cost, found);
  const Role role = role_of(context, found);
  if (role == Role::kView) {
    found.clear();
    return view(context);
  }
  if (role != Role::kExternal) {
    const bool twice = role == Role::kRows && has_long_rows(found);
    found.clear();
    return fused(context, role, twice);
  }
  if (picks(context)) {
    found.clear();
    return picked(context);
  }
  external(context);
  std::int64_t filled = 0;
  for (LoweredOperation& operation : found) {
    auto* gemm = std::get_if<GemmWork>(&operation.work);
    if (gemm != nullptr && is_product(context.node())) filled += fill_up(*gemm);
    auto* conv = std::get_if<ConvWork>(&operation.work);
    if (conv == nullptr || conv->bias == 0) continue;
    conv->bias = 0;  // added by the kernel that reads the result
    Held& out = held_[index(context.node().outputs[0])];
    const std::int32_t group = joined(context, out.stage, context.output().elements(), false);
    groups_[static_cast<std::size_t>(group)].reads.push_back(kNoValue);
    groups_[static_cast<std::size_t>(group)].read_bytes.push_back(out.bytes);
    make(group, context, out.stage);
  }
  if (filled == 0) return;
  found.push_back({PointwiseWork{.kind = PointwiseKind::kFused,
                                 .elements = filled / 4,
                                 .forward_bytes = filled,
                                 .backward_bytes = filled,
                                 .element_bytes = 2},
                   1, 1});
}

// A few elements of what a kernel of ours makes, as the loss of a classifier takes one of each row: they are computed
// again there from what the kernel leaves of the row.
bool Fusion::picks(const CostContext& context) const {
  const auto* gather = std::get_if<Gather>(&context.node().op);
  return gather != nullptr && gather->kind == GatherKind::kElements &&
         root(held_[index(context.node().inputs[0])].group) != kNone &&
         context.output().elements() < context.input(0).elements();
}

void Fusion::picked(const CostContext& context) {
  const Held& from = held_[index(context.node().inputs[0])];
  Group& maker = groups_[static_cast<std::size_t>(root(from.group))];
  if (!maker.second) maker.sums_rows = true;
  const ValueId id = context.node().outputs[0];
  held_[index(id)] = {.buffer = id, .stage = from.stage + 1, .bytes = context.types().type(id).bytes().value()};
}

void Fusion::view(const CostContext& context) {
  if (context.node().inputs.empty() || context.node().inputs[0] == kNoValue) return;
  const Held from = held(context.node().inputs[0], context);
  for (const ValueId id : context.node().outputs) {
    if (id == kNoValue) continue;
    held_[index(id)] = from;
    held_[index(id)].bytes = std::min(from.bytes, context.types().type(id).bytes().value());
  }
}

void Fusion::external(const CostContext& context) {
  std::int32_t stage = 0;
  for (const ValueId id : context.node().inputs) {
    if (id == kNoValue) continue;
    const Held from = held(id, context);
    stage = std::max(stage, from.stage);
    escapes_[index(from.buffer)] = true;
  }
  for (const ValueId id : context.node().outputs) {
    if (id == kNoValue) continue;
    held_[index(id)] = {.buffer = id, .stage = stage + 1, .bytes = context.types().type(id).bytes().value()};
  }
}

// The group that the node becomes part of: those of its inputs that loop over as many elements (or fewer, which are
// computed again wherever they are needed), or a new one.
std::int32_t Fusion::joined(const CostContext& context, std::int32_t stage, std::int64_t elements, bool may_join) {
  std::int32_t out = kNone;
  for (const ValueId id : context.node().inputs) {
    if (!may_join || id == kNoValue) continue;
    const std::int32_t group = root(held_[index(id)].group);
    if (group == kNone || group == out || groups_[static_cast<std::size_t>(group)].stage != stage) continue;
    if (out == kNone) {
      out = group;
      continue;
    }
    Group& into = groups_[static_cast<std::size_t>(out)];
    Group& from = groups_[static_cast<std::size_t>(group)];
    from.merged_into = out;
    into.elements = std::max(into.elements, from.elements);
    into.element_bytes = std::max(into.element_bytes, from.element_bytes);
    into.sums_rows = into.sums_rows || from.sums_rows;
    into.makes.insert(into.makes.end(), from.makes.begin(), from.makes.end());
    for (std::size_t i = 0; i < from.reads.size(); ++i)
      read(out, {.buffer = from.reads[i], .bytes = from.read_bytes[i]});
  }
  if (out == kNone) {
    out = static_cast<std::int32_t>(groups_.size());
    groups_.push_back({.elements = elements, .stage = stage});
  }
  Group& group = groups_[static_cast<std::size_t>(out)];
  group.elements = std::max(group.elements, elements);
  group.element_bytes = std::max(group.element_bytes, element_bytes(context.output()));
  return out;
}

void Fusion::read(std::int32_t group, const Held& held) {
  if (held.bytes <= 0.0 || root(held.group) == group) return;
  Group& reader = groups_[static_cast<std::size_t>(group)];
  const auto [known, fresh] =
      held.buffer == kNoValue
          ? std::pair{read_at_.end(), true}
          : read_at_.try_emplace({group, static_cast<std::uint32_t>(index(held.buffer))}, reader.reads.size());
  if (fresh) {
    reader.reads.push_back(held.buffer);
    reader.read_bytes.push_back(held.bytes);
  } else {
    double& bytes = reader.read_bytes[known->second];
    bytes = std::max(bytes, held.bytes);
  }
}

void Fusion::make(std::int32_t group, const CostContext& context, std::int32_t stage) {
  for (const ValueId id : context.node().outputs) {
    if (id == kNoValue) continue;
    groups_[static_cast<std::size_t>(group)].makes.push_back(id);
    held_[index(id)] = {
        .buffer = id, .group = group, .stage = stage, .bytes = context.types().type(id).bytes().value()};
  }
}

void Fusion::fused(const CostContext& context, Role role, bool twice) {
  const std::int64_t elements = role == Role::kReduce ? context.input(0).elements() : context.output().elements();
  std::int32_t stage = 0;
  for (const ValueId id : context.node().inputs) {
    if (id != kNoValue) stage = std::max(stage, held(id, context).stage);
  }
  // A producer that loops over more, or whose neighbours are needed, has to be over.
  const bool apart = std::any_of(context.node().inputs.begin(), context.node().inputs.end(), [&](ValueId id) {
    const std::int32_t group = id == kNoValue ? kNone : root(held_[index(id)].group);
    if (group == kNone || groups_[static_cast<std::size_t>(group)].stage != stage) return false;
    return role == Role::kWindow || groups_[static_cast<std::size_t>(group)].elements > elements;
  });
  if (apart) ++stage;
  std::int32_t group = joined(context, stage, elements, !apart);
  const auto read_inputs = [&] {
    for (const ValueId id : context.node().inputs) {
      if (id != kNoValue) read(group, held(id, context));
    }
  };
  read_inputs();
  if (twice) {
    groups_[static_cast<std::size_t>(group)].sums_rows = true;
    group = joined(context, ++stage, elements, false);
    groups_[static_cast<std::size_t>(group)].second = true;
    read_inputs();
  }
  make(group, context, role == Role::kReduce ? stage + 1 : stage);
}

std::vector<LoweredOperation> Fusion::take() const {
  std::vector<bool> needed = escapes_;
  for (const ValueId id : graph_.outputs) {
    const ValueId buffer = held_[index(id)].buffer;
    needed[index(buffer == kNoValue ? id : buffer)] = true;
  }
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].merged_into != kNone) continue;
    for (const ValueId id : groups_[g].reads) {
      if (id != kNoValue && root(held_[index(id)].group) != static_cast<std::int32_t>(g)) needed[index(id)] = true;
    }
  }
  std::vector<LoweredOperation> out;
  for (const Group& group : groups_) {
    if (group.merged_into != kNone) continue;
    double read = 0;
    double written = 0;
    for (const double bytes : group.read_bytes) read += bytes;
    for (const ValueId id : group.makes) {
      if (needed[index(id)]) written += held_[index(id)].bytes;
    }
    if (written <= 0.0 && !group.sums_rows) continue;
    // Backward reads what forward read and the gradient of what it wrote, and writes gradients of what it read.
    out.push_back({PointwiseWork{.kind = PointwiseKind::kFused,
                                 .elements = group.elements,
                                 .forward_bytes = static_cast<std::int64_t>(read + written),
                                 .backward_bytes = static_cast<std::int64_t>(2.0 * read + written),
                                 .element_bytes = group.element_bytes},
                   1, 1});
  }
  return out;
}

namespace {

// Inductor's own constants (torch/_inductor/graph.py, decide_layout_opt).
constexpr double kGroupedGain = 1.358, kSmallGain = 0.783, kInOutGain = 0.725, kOtherGain = 0.823;
constexpr std::size_t kNodesPerConvolution = 300;

struct ConvolutionFlops {
  double all = 0, weighted = 0;
  std::size_t count = 0;
  bool grouped = false, narrowing = false, all_small = true;
};

void count_convolution(const CostContext& context, const Conv& op, ConvolutionFlops& sums) {
  const Shape& weight = context.input(1).shape;
  if (weight.size() < 3) return;
  const double flops = operator_cost(context).forward_flops.value();
  const bool grouped = op.groups > 1 && weight[1] > 1;
  const bool small = weight[0] <= 64 && weight[1] <= 64;
  const bool narrowing = weight[0] * 2 <= weight[1] && weight[2] > 1;
  sums.all += flops;
  sums.weighted += flops * (grouped ? kGroupedGain : small ? kSmallGain : narrowing ? kInOutGain : kOtherGain);
  sums.grouped = sums.grouped || grouped;
  sums.narrowing = sums.narrowing || narrowing;
  sums.all_small = sums.all_small && small;
  ++sums.count;
}

}  // namespace

Layout compiled_layout(const Graph& graph, const TypeTable& types, Mode mode, Layout wanted) {
  if (wanted == Layout::kChannelsLast) return wanted;
  ConvolutionFlops sums;
  for (const Node& node : graph.nodes) {
    if (const auto* conv = std::get_if<Conv>(&node.op)) count_convolution(CostContext(graph, node, types), *conv, sums);
  }
  if (sums.count == 0 || graph.nodes.size() >= kNodesPerConvolution * sums.count) return Layout::kChannelsFirst;
  const bool pays =
      mode == Mode::kInference ? sums.weighted <= sums.all : !sums.grouped && !sums.narrowing && !sums.all_small;
  return pays ? Layout::kChannelsLast : Layout::kChannelsFirst;
}

}  // namespace joulecast
