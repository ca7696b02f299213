// SPDX-License-Identifier: Apache-2.0
#include "graph/passes/sketch.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace joulecast::passes {
namespace {

using Rank = std::optional<std::size_t>;

// One node with the sketches of its inputs.
struct Inputs {
  const Graph& graph;
  const Node& node;
  const std::vector<Sketch>& sketches;

  [[nodiscard]] ValueId id(std::size_t i) const { return i < node.inputs.size() ? node.inputs[i] : kNoValue; }
  [[nodiscard]] Sketch at(std::size_t i) const { return id(i) == kNoValue ? Sketch{} : sketches[index(id(i))]; }
  [[nodiscard]] const Contents* known(std::size_t i) const { return id(i) == kNoValue ? nullptr : graph.known(id(i)); }
};

bool is_predicate(BinaryKind kind) {
  return (kind >= BinaryKind::kEqual && kind <= BinaryKind::kGreaterEqual) ||
         (kind >= BinaryKind::kAnd && kind <= BinaryKind::kXor);
}

// Most operators answer in the type of their first input; these do not.
template <typename Op>
ElementType element_of(const Op& op, const Inputs& in, std::size_t output) {
  if constexpr (std::is_same_v<Op, Cast> || std::is_same_v<Op, Quantize> || std::is_same_v<Op, Dequantize>)
    return op.to;
  if constexpr (std::is_same_v<Op, Fill> || std::is_same_v<Op, OneHot>) return op.element;
  if constexpr (std::is_same_v<Op, ShapeOf>) return ElementType::kInt64;
  if constexpr (std::is_same_v<Op, Where>) return in.at(1).element;
  if constexpr (std::is_same_v<Op, Softmax>) return op.in_float ? ElementType::kFloat32 : in.at(0).element;
  if constexpr (std::is_same_v<Op, Binary>) {
    if (is_predicate(op.kind)) return ElementType::kBool;
  }
  if constexpr (std::is_same_v<Op, Unary>) {
    const bool test = op.kind == UnaryKind::kNot || op.kind == UnaryKind::kIsNan || op.kind == UnaryKind::kIsInf;
    if (test) return ElementType::kBool;
  }
  if constexpr (std::is_same_v<Op, Reduce>) {
    if (op.kind == ReduceKind::kArgMax || op.kind == ReduceKind::kArgMin) return ElementType::kInt64;
    if (op.kind == ReduceKind::kAny || op.kind == ReduceKind::kAll) return ElementType::kBool;
  }
  if constexpr (std::is_same_v<Op, TopK> || std::is_same_v<Op, Pool>) {
    if (output > 0) return ElementType::kInt64;
  }
  if constexpr (std::is_same_v<Op, Opaque>) {
    return output < op.output_types.size() ? op.output_types[output].element : ElementType::kUnknown;
  }
  if constexpr (std::is_same_v<Op, If> || std::is_same_v<Op, Loop> || std::is_same_v<Op, Scan>) {
    return ElementType::kUnknown;
  }
  return in.at(0).element;
}

Rank broadcast_rank(const Inputs& in) {
  std::size_t most = 0;
  for (std::size_t i = 0; i < in.node.inputs.size(); ++i) {
    const Rank rank = in.at(i).rank;
    if (!rank) return std::nullopt;
    most = std::max(most, *rank);
  }
  return most;
}

// How many axes an operator names, in its attribute or in input 1.
std::optional<std::size_t> axis_count(const IntList& attribute, const Inputs& in) {
  if (!attribute.empty()) return attribute.size();
  return in.at(1).length;
}

Rank shifted(Rank rank, std::optional<std::size_t> more, bool up) {
  if (!rank || !more || (!up && *more > *rank)) return std::nullopt;
  return up ? *rank + *more : *rank - *more;
}

Rank reduced(const Reduce& op, const Inputs& in) {
  const Rank rank = in.at(0).rank;
  if (op.keep_axes) return rank;
  const bool all = op.axes.empty() && in.id(1) == kNoValue;
  return all ? Rank(0) : shifted(rank, axis_count(op.axes, in), false);
}

Rank gathered(const Gather& op, const Inputs& in) {
  const Rank indices = in.at(1).rank;
  if (op.kind == GatherKind::kElements) return in.at(0).rank;
  if (op.kind == GatherKind::kNd || !indices) return std::nullopt;
  return shifted(shifted(in.at(0).rank, 1, false), indices, true);
}

template <typename Op>
Rank rank_of(const Op& op, const Inputs& in) {
  if constexpr (std::is_same_v<Op, Binary> || std::is_same_v<Op, Where>) return broadcast_rank(in);
  if constexpr (std::is_same_v<Op, Transpose>) return op.order.empty() ? in.at(0).rank : Rank(op.order.size());
  if constexpr (std::is_same_v<Op, Reshape> || std::is_same_v<Op, Fill>) {
    return in.at(std::is_same_v<Op, Fill> ? 0 : 1).length;
  }
  if constexpr (std::is_same_v<Op, Unsqueeze>) return shifted(in.at(0).rank, axis_count(op.axes, in), true);
  if constexpr (std::is_same_v<Op, Squeeze>) return shifted(in.at(0).rank, axis_count(op.axes, in), false);
  if constexpr (std::is_same_v<Op, Flatten>) return op.last_axis ? std::nullopt : Rank(2);
  if constexpr (std::is_same_v<Op, Reduce>) return reduced(op, in);
  if constexpr (std::is_same_v<Op, Gather>) return gathered(op, in);
  if constexpr (std::is_same_v<Op, Embedding>) return shifted(in.at(1).rank, 1, true);
  if constexpr (std::is_same_v<Op, ShapeOf>) return op.count_only ? 0 : 1;
  if constexpr (std::is_same_v<Op, Range>) return 1;
  if constexpr (std::is_same_v<Op, Rnn>) return std::nullopt;
  if constexpr (std::is_same_v<Op, MatMul>) {
    const Rank rank = broadcast_rank(in);
    const bool vectors = in.at(0).rank == Rank(1) || in.at(1).rank == Rank(1);
    return vectors ? std::nullopt : rank;
  }
  if constexpr (std::is_same_v<Op, Expand>) {
    const Rank rank = in.at(0).rank;
    const auto length = in.at(1).length;
    return rank && length ? Rank(std::max(*rank, *length)) : std::nullopt;
  }
  if constexpr (std::is_same_v<Op, OneHot>) return shifted(in.at(0).rank, 1, true);
  if constexpr (std::is_same_v<Op, If> || std::is_same_v<Op, Loop> || std::is_same_v<Op, Scan> ||
                std::is_same_v<Op, Opaque>) {
    return std::nullopt;
  }
  return in.at(0).rank;
}

// An index into a vector as slices and shape_of take it: negative from the end, clamped.
std::int64_t clamp_index(std::int64_t i, std::int64_t length) {
  if (i < 0) i = i < -length ? 0 : i + length;
  return std::min(i, length);
}

std::optional<std::size_t> range_length(std::int64_t begin, std::int64_t end, std::size_t length) {
  const auto signed_length = static_cast<std::int64_t>(length);
  const std::int64_t from = clamp_index(begin, signed_length);
  const std::int64_t to = clamp_index(end, signed_length);
  return static_cast<std::size_t>(std::max<std::int64_t>(0, to - from));
}

std::optional<std::size_t> sliced_length(const Inputs& in) {
  const auto length = in.at(0).length;
  const Contents* begin = in.known(1);
  const Contents* end = in.known(2);
  const bool steps = in.id(4) != kNoValue && (in.known(4) == nullptr || in.known(4)->ints != IntList{1});
  if (begin == nullptr || end == nullptr || steps) return std::nullopt;
  if (begin->ints.size() != 1 || end->ints.size() != 1) return std::nullopt;
  // The last entry is one entry of however many.
  if (!length && begin->ints[0] == -1 && end->ints[0] >= std::numeric_limits<std::int32_t>::max()) return 1;
  if (!length) return std::nullopt;
  return range_length(begin->ints[0], end->ints[0], *length);
}

std::optional<std::size_t> joined_length(const Inputs& in) {
  std::size_t sum = 0;
  for (std::size_t i = 0; i < in.node.inputs.size(); ++i) {
    const auto length = in.at(i).length;
    if (!length) return std::nullopt;
    sum += *length;
  }
  return sum;
}

std::optional<std::size_t> longest(const Inputs& in) {
  std::size_t most = 1;
  for (std::size_t i = 0; i < in.node.inputs.size(); ++i) {
    const Sketch input = in.at(i);
    if (input.rank == Rank(0)) continue;
    if (!input.length) return std::nullopt;
    most = std::max(most, *input.length);
  }
  return most;
}

// Of a result that is a vector.
template <typename Op>
std::optional<std::size_t> length_of(const Op& op, const Inputs& in) {
  if constexpr (std::is_same_v<Op, Unsqueeze>) return 1;  // a vector out of a scalar
  if constexpr (std::is_same_v<Op, Concat>) return joined_length(in);
  if constexpr (std::is_same_v<Op, Slice>) return sliced_length(in);
  if constexpr (std::is_same_v<Op, ShapeOf>) {
    const Rank rank = in.at(0).rank;
    if (!rank) return std::nullopt;
    return range_length(op.begin, op.end.value_or(static_cast<std::int64_t>(*rank)), *rank);
  }
  if constexpr (std::is_same_v<Op, Gather>) return in.at(1).rank == Rank(1) ? in.at(1).length : std::nullopt;
  if constexpr (std::is_same_v<Op, Cast> || std::is_same_v<Op, Unary> || std::is_same_v<Op, Scatter>) {
    return in.at(0).length;
  }
  if constexpr (std::is_same_v<Op, Binary> || std::is_same_v<Op, Where>) return longest(in);
  if constexpr (std::is_same_v<Op, Reshape>) return in.at(0).length ? in.at(0).length : std::nullopt;
  return std::nullopt;
}

bool all_host(const Inputs& in) {
  for (std::size_t i = 0; i < in.node.inputs.size(); ++i) {
    if (in.id(i) != kNoValue && !in.at(i).host) return false;
  }
  return true;
}

bool moves_data(const Operator& op) {
  return std::visit(
      [](const auto& o) {
        using Op = std::decay_t<decltype(o)>;
        return std::is_same_v<Op, Slice> || std::is_same_v<Op, Concat> || std::is_same_v<Op, Split> ||
               std::is_same_v<Op, Unsqueeze> || std::is_same_v<Op, Squeeze> || std::is_same_v<Op, Reshape> ||
               std::is_same_v<Op, Transpose> || std::is_same_v<Op, Scatter>;
      },
      op);
}

// The first input is a weight, and the others are too or say where and how.
bool is_weight(const Inputs& in) {
  if (!moves_data(in.node.op) || !in.at(0).weight) return false;
  for (std::size_t i = 1; i < in.node.inputs.size(); ++i) {
    if (in.id(i) != kNoValue && !in.at(i).weight && !in.at(i).host) return false;
  }
  return true;
}

}  // namespace

Sketch source_sketch(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  Sketch out;
  if (value.kind == ValueKind::kComputed || value.kind == ValueKind::kInput) return out;
  out.element = value.type.element;
  out.rank = value.type.shape.size();
  out.host = value.kind == ValueKind::kConstant;
  out.weight = value.kind == ValueKind::kParameter;
  if (out.rank == Rank(1) && value.type.shape[0] >= 0) out.length = static_cast<std::size_t>(value.type.shape[0]);
  return out;
}

Sketch output_sketch(const Graph& graph, const Node& node, std::size_t output, const std::vector<Sketch>& sketches) {
  const Inputs in{graph, node, sketches};
  Sketch out;
  std::visit(
      [&](const auto& op) {
        out.element = element_of(op, in, output);
        if (output == 0 || std::holds_alternative<Split>(node.op)) out.rank = rank_of(op, in);
        if (output == 0 && out.rank == Rank(1)) out.length = length_of(op, in);
      },
      node.op);
  // Ranks beyond what a tensor may have come from graphs that inference refuses anyway.
  if (out.rank && *out.rank > kMaxRank) out.rank.reset();
  out.host = std::holds_alternative<ShapeOf>(node.op) || all_host(in);
  out.weight = is_weight(in);
  return out;
}

}  // namespace joulecast::passes
