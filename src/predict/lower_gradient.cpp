// SPDX-License-Identifier: Apache-2.0
// What autograd makes of gradients beside the kernels of the operators' own backward passes. Its formulas are those of
// PyTorch's tools/autograd/derivatives.yaml, a kernel for each step; TensorFlow's take the same steps.
#include <algorithm>
#include <array>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "predict/assignments.h"
#include "predict/lower.h"

namespace joulecast {

NodeLowering::NodeLowering(const LowerOptions& options, const Graph& graph)
    : options_(options),
      storage_(graph.values.size(), Storage::kContiguous),
      repeated_(graph.values.size()),
      has_gradient_(graph.values.size()),
      readers_(graph.values.size()),
      gradients_(graph.values.size()),
      across_(graph.values.size()),
      taken_(graph.values.size(), Taken::kWhole),
      positions_(scatter_positions(graph)) {
  for (const Node& node : graph.nodes) {
    if (std::holds_alternative<ShapeOf>(node.op)) continue;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) ++readers_[index(id)];
    }
  }
  // Who converts a model to channels-last converts its images.
  if (options.layout != Layout::kChannelsLast || !is_eager()) return;
  for (const GraphInput& input : graph.inputs) {
    if (input.dimensions.size() == 4) storage_[index(input.value)] = Storage::kChannelsLast;
  }
}

bool NodeLowering::has_gradient(const CostContext& context, std::size_t input) const {
  if (!context.has(input) || !is_floating(context.input(input).element)) return false;
  const std::vector<ValueId>& inputs = context.node().inputs;
  const auto is_parameter = [&](std::size_t i) {
    return context.graph().value(inputs[i]).kind == ValueKind::kParameter;
  };
  if (!is_parameter(input)) return has_gradient_[index(inputs[input])];
  // What meets a value without a gradient, as the mean of images does, is a table and not trained.
  if (!std::holds_alternative<Binary>(context.node().op)) return true;
  const std::size_t other = 1 - input;
  return context.has(other) && (is_parameter(other) || has_gradient_[index(inputs[other])]);
}

bool NodeLowering::has_gradient(const CostContext& context) const {
  for (std::size_t i = 0; i < context.node().inputs.size(); ++i) {
    if (has_gradient(context, i)) return true;
  }
  return false;
}

// What one more gradient of a value costs: a kernel that adds it to the sum so far. TensorFlow adds up all at once, and
// from the third on reads one more.
PointwiseWork NodeLowering::sum_of_gradients(const TensorType& type, std::size_t value) const {
  const auto bytes = static_cast<std::int64_t>(type.bytes().value());
  const bool at_once = options_.runtime == Runtime::kTensorflow && gradients_[value] > 1;
  return {.kind = PointwiseKind::kAdd,
          .elements = type.elements(),
          .forward_bytes = at_once ? bytes : 3 * bytes,
          .element_bytes = element_bytes(type)};
}

namespace {

// The mean of whole images, whose gradient PyTorch expands into channels-first whatever the images lie in
// (mean_backward).
bool averages_images(const CostContext& context) {
  const Shape& x = context.input(0).shape;
  if (x.size() != 4 || !context.has_output(0) || context.output().elements() != x[0] * x[1]) return false;
  if (const auto* reduce = std::get_if<Reduce>(&context.node().op))
    return reduce->kind == ReduceKind::kMean && reduce->axes.size() == 2;
  const auto* pool = std::get_if<AdaptivePool>(&context.node().op);
  return pool != nullptr && pool->kind == PoolKind::kAverage;
}

bool has_bodies(const Operator& op) {
  return std::holds_alternative<If>(op) || std::holds_alternative<Loop>(op) || std::holds_alternative<Scan>(op);
}

template <typename Op, typename... Others>
constexpr bool kIsOneOf = (std::is_same_v<Op, Others> || ...);

using Taken = NodeLowering::Taken;

// Of what the operators of its inputs make of theirs; `from(i)` is how that of input i is taken.
template <typename From>
struct TakesGradient {
  const From& from;

  Taken operator()(const Transpose& op) const {
    if (op.contiguous) return Taken::kAsItLies;
    return from(0) == Taken::kAsItLies ? Taken::kAsItLies : Taken::kTurned;
  }
  // A sum hands it on to both.
  Taken operator()(const Binary& op) const {
    if (op.kind == BinaryKind::kSub) return from(0);
    return op.kind == BinaryKind::kAdd ? std::max(from(0), from(1)) : Taken::kAsItLies;
  }
  Taken operator()(const Dropout& op) const { return op.probability > 0.0 ? Taken::kAsItLies : from(0); }
  Taken operator()(const StochasticDepth& op) const { return op.probability > 0.0 ? Taken::kAsItLies : from(0); }
  template <typename Op>
  Taken operator()(const Op&) const {
    if constexpr (kIsOneOf<Op, Reshape, Flatten, Squeeze, Unsqueeze>) return from(0);
    if constexpr (std::is_same_v<Op, Linear>) return Taken::kByRows;
    if constexpr (kIsOneOf<Op, Activation, Unary, Where, Cast, Concat, Expand, Tile, Pad, Slice, Split, Gather, MatMul,
                           Reduce, Cumulate>)
      return Taken::kAsItLies;
    return Taken::kWhole;
  }
};

}  // namespace

// Where several nodes read a value, the gradients they make of it are added up, by autograd's own thread. A compiled
// network adds them where they are made.
void NodeLowering::pass_gradients(const CostContext& context, std::vector<LoweredOperation>& out) {
  const Node& node = context.node();
  const auto floats = [&](ValueId id) { return id != kNoValue && is_floating(context.types().type(id).element); };
  if (std::none_of(node.outputs.begin(), node.outputs.end(), floats)) return;
  const bool sums = options_.mode == Mode::kTraining && options_.runtime != Runtime::kPytorchCompiled;
  // Bodies may have parameters of their own.
  const bool any = has_gradient(context) || has_bodies(node.op);
  for (std::size_t i = 0; i < node.inputs.size(); ++i) {
    const std::size_t value = context.has(i) ? index(node.inputs[i]) : 0;
    // Parameters that several nodes share are not followed: exporters join equal ones.
    if (!has_gradient(context, i) || !has_gradient_[value]) continue;
    const bool across = is_eager() && storage_[value] == Storage::kChannelsLast && averages_images(context);
    if (sums && gradients_[value] > 0) {
      PointwiseWork sum = sum_of_gradients(context.input(i), value);
      // One of both lies channels-first beside the other: the squeeze of squeeze-and-excitation. An element takes 3
      // cycles where one whose place is worked out takes 4: of SE-ResNeXt-101 published for an A100 and V100
      // (tools/fit/channels_last.py) 3 to 4, of timm's on an RTX 3090 some 2.
      if (across || across_[value]) sum.placed = sum.elements * 3 / 4;
      out.push_back({sum, 1});
    }
    across_[value] = across;
    ++gradients_[value];
  }
  const auto from = [&](std::size_t i) {
    const bool as_large = context.has(i) && context.has_output(0) &&
                          context.input(i).elements() == context.output().elements() && has_gradient(context, i);
    return as_large ? taken_[index(node.inputs[i])] : Taken::kAsItLies;
  };
  const Taken taken = std::visit(TakesGradient<decltype(from)>{from}, node.op);
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    has_gradient_[index(id)] = any && floats(id);
    taken_[index(id)] = taken;
  }
}

// Of sums, products, quotients and powers. `all` is the result, and the gradient that comes back; an operand that was
// broadcast has its gradient summed up. Inference, which makes none, tells no operands apart by it.
std::int64_t NodeLowering::gradient_bytes(const Binary& op, const CostContext& context) const {
  const auto bytes = [](const TensorType& type) { return static_cast<std::int64_t>(type.bytes().value()); };
  const std::int64_t all = bytes(context.output()), a = bytes(context.input(0)), b = bytes(context.input(1));
  const std::int64_t unary = 2 * all, binary = 3 * all;
  const auto kernels_of = [&](std::size_t operand) -> std::int64_t {
    const bool first = operand == 0;
    switch (op.kind) {
      case BinaryKind::kSub:
        return first ? 0 : unary;  // turned in sign
      case BinaryKind::kMul:
        return unary + (first ? b : a);
      case BinaryKind::kDiv:  // grad / b; -grad * ((a / b) / b)
        return first ? unary + b : (all + a + b) + (unary + b) + unary + binary;
      case BinaryKind::kPow:  // grad * (b * a^(b - 1)); grad * (result * log(a))
        return first ? (all + a + b) + (unary + b) + binary : 2 * a + (all + a + all) + binary;
      default:
        return 0;  // a sum's is handed on as it is
    }
  };
  const bool inference = options_.mode == Mode::kInference;
  std::int64_t sum = 0;
  for (const std::size_t operand : {0, 1}) {
    if (inference ? context.input(operand).elements() == 1 : !has_gradient(context, operand)) continue;
    const std::int64_t own = operand == 0 ? a : b;
    sum += kernels_of(operand) + (own < all ? all + own : 0);
  }
  return sum;
}

// Each formula from the kernels that it reads or writes a tensor of this size in; `product` is grad times something.
std::int64_t NodeLowering::gradient_bytes(const Unary& op, const CostContext& context) {
  constexpr std::int64_t kUnary = 2, kProduct = 3;
  const auto passes = [&]() -> std::int64_t {
    switch (op.kind) {
      case UnaryKind::kSign:  // zeros
      case UnaryKind::kFloor:
      case UnaryKind::kCeil:
      case UnaryKind::kRound:
        return 1;
      case UnaryKind::kNeg:
        return kUnary;
      case UnaryKind::kAbs:   // grad * sgn(x)
      case UnaryKind::kSin:   // grad * cos(x)
      case UnaryKind::kSinh:  // grad * cosh(x)
      case UnaryKind::kCosh:
      case UnaryKind::kSqrt:   // grad / (2 y)
      case UnaryKind::kLog1p:  // grad / (x + 1)
      case UnaryKind::kExpm1:  // grad * (y + 1)
        return kUnary + kProduct;
      case UnaryKind::kSquare:      // grad * (2 * x^1)
      case UnaryKind::kRsqrt:       // -0.5 * grad * y^3
      case UnaryKind::kCos:         // grad * -sin(x)
      case UnaryKind::kReciprocal:  // -grad * (y * y)
      case UnaryKind::kTan:         // grad * (1 + y^2)
      case UnaryKind::kAtan:        // grad / (x * x + 1)
        return 2 * kUnary + kProduct;
      case UnaryKind::kAtanh:  // grad / (1 - x^2)
        return 2 * kUnary + 1 + kProduct;
      case UnaryKind::kAsinh:  // grad * rsqrt(x^2 + 1)
      case UnaryKind::kAcosh:
        return 3 * kUnary + kProduct;
      case UnaryKind::kErf:  // 2 / sqrt(pi) * exp(-(x^2)) * grad
        return 4 * kUnary + kProduct;
      case UnaryKind::kAsin:  // grad * rsqrt(-x * x + 1)
        return 3 * kUnary + 2 * kProduct;
      case UnaryKind::kAcos:  // the same, turned in sign
        return 4 * kUnary + 2 * kProduct;
      default:
        return kProduct;  // grad * y, grad / x
    }
  }();
  return passes * static_cast<std::int64_t>(context.output().bytes().value());
}

// Parts of the gradient are views of it, of which only those are copied that somebody wants whole: those that lie
// apart, and that no other gradient is added to, which makes a new one. TensorFlow cuts copies of them.
std::int64_t NodeLowering::gradient_bytes(const Concat& op, const CostContext& context) const {
  const Shape& shape = context.output().shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t axis = op.axis < 0 ? op.axis + rank : op.axis;
  const bool apart = std::any_of(shape.begin(), shape.begin() + axis, [](std::int64_t extent) { return extent > 1; });
  const auto copied = [&](std::size_t value) {
    if (readers_[value] > 1) return false;
    const Taken taken = taken_[value];
    return taken == Taken::kTurned || (taken == Taken::kWhole && apart) ||
           (taken == Taken::kByRows && apart && axis + 1 < rank);
  };
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < context.node().inputs.size(); ++i) {
    if (!has_gradient(context, i)) continue;
    if (gradients_are_eager() && !copied(index(context.node().inputs[i]))) continue;
    sum += 2 * static_cast<std::int64_t>(context.input(i).bytes().value());
  }
  return sum;
}

}  // namespace joulecast
