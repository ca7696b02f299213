// SPDX-License-Identifier: Apache-2.0
// The operators of a graph. Importers lower foreign operators to these; what is left is Opaque.
//
// Each operator is a small struct of its attributes. `fields` names them once, for the text form, hashing and
// comparison with the defaults. Beside each stand its inputs; [x] means optional. Tensors are laid out as PyTorch and
// ONNX have them: [batch, channels, spatial...] for convolutions, pooling and norms.
// Adding one: the struct and its line in `Operator` here, src/graph/ops/<name>.cpp with infer() and cost().
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/tensor.h"

namespace joulecast {

using IntList = std::vector<std::int64_t>;

// x [N, C, spatial...], weight [out, C/groups, kernel...] (transposed: [C, out/groups, kernel...]), [bias [out]].
struct Conv {
  static constexpr std::string_view kName = "conv";
  Extents stride, dilation, padding_begin, padding_end, output_padding;  // one entry per spatial axis
  std::int64_t groups = 1;
  bool transposed = false;
  bool same_padding = false;  // pads so that out = ceil(in / stride); the padding fields are then ignored
  bool operator==(const Conv&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("stride", &Conv::stride);
    v("dilation", &Conv::dilation);
    v("padding_begin", &Conv::padding_begin);
    v("padding_end", &Conv::padding_end);
    v("output_padding", &Conv::output_padding);
    v("groups", &Conv::groups);
    v("transposed", &Conv::transposed);
    v("same_padding", &Conv::same_padding);
  }
};

// x [..., in], weight [out, in] (weight_in_out: [in, out]), [bias [out]].
struct Linear {
  static constexpr std::string_view kName = "linear";
  bool weight_in_out = false;
  bool operator==(const Linear&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("weight_in_out", &Linear::weight_in_out);
  }
};

// a [..., M, K], b [..., K, N] with leading extents broadcast; vectors as in numpy.matmul.
struct MatMul {
  static constexpr std::string_view kName = "matmul";
  bool transpose_a = false, transpose_b = false;  // swap the last two axes first
  bool operator==(const MatMul&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("transpose_a", &MatMul::transpose_a);
    v("transpose_b", &MatMul::transpose_b);
  }
};

// Scaled dot-product attention. query [batch, heads, queries, head], key [batch, kv_heads, keys, head],
// value [batch, kv_heads, keys, value_head], [mask or bias, broadcast to [batch, heads, queries, keys]]. With another
// number of axes than four (three at least) all in front of the last two agree, and PyTorch has no fused kernel.
struct Attention {
  static constexpr std::string_view kName = "attention";
  bool causal = false;
  std::int64_t window = 0;  // with `causal`: each query sees itself and the keys before it, so many in all; 0: no limit
  // The model multiplies and takes the softmax itself, where it could have called its framework's attention: PyTorch
  // then runs the parts one by one.
  bool by_hand = false;
  // What the model itself does to the scores between the two products; runtimes without a fused kernel run each.
  std::int64_t scales = 0;  // multiplications with a number
  std::int64_t masks = 0;   // masks added
  std::int64_t fills = 0;   // kernels that choose between the scores and a number by a mask, as many in backward
  double dropout = 0.0;     // probability, of the softmax's result
  bool in_float = false;    // the softmax is that of Softmax::in_float
  bool operator==(const Attention&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("causal", &Attention::causal);
    v("window", &Attention::window);
    v("by_hand", &Attention::by_hand);
    v("scales", &Attention::scales);
    v("masks", &Attention::masks);
    v("fills", &Attention::fills);
    v("dropout", &Attention::dropout);
    v("in_float", &Attention::in_float);
  }
};

// x [N, C, spatial...], [scale [C]], [shift [C]], [mean [C]], [variance [C]].
struct BatchNorm {
  static constexpr std::string_view kName = "batch_norm";
  bool operator==(const BatchNorm&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// Over the last `axes` axes. x, [scale], [shift].
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  std::int64_t axes = 1;
  bool channels_first = false;  // over axis 1 of [N, C, spatial...] instead (torchvision's LayerNorm2d)
  bool operator==(const LayerNorm&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axes", &LayerNorm::axes);
    v("channels_first", &LayerNorm::channels_first);
  }
};

// x [N, C, spatial...], [scale [C]], [shift [C]].
struct GroupNorm {
  static constexpr std::string_view kName = "group_norm";
  std::int64_t groups = 1;
  bool operator==(const GroupNorm&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("groups", &GroupNorm::groups);
  }
};

// x [N, C, spatial...], [scale [C]], [shift [C]].
struct InstanceNorm {
  static constexpr std::string_view kName = "instance_norm";
  bool operator==(const InstanceNorm&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// Over the last `axes` axes. x, [scale].
struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  std::int64_t axes = 1;
  bool by_hand = false;  // written out by the model, in FP32 inside
  bool operator==(const RmsNorm&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axes", &RmsNorm::axes);
    v("by_hand", &RmsNorm::by_hand);
  }
};

enum class PoolKind : std::uint8_t { kMax, kAverage, kLp };

// x [N, C, spatial...]. Max pooling may have a second output, the indices.
struct Pool {
  static constexpr std::string_view kName = "pool";
  PoolKind kind = PoolKind::kMax;
  Extents kernel, stride, dilation, padding_begin, padding_end;
  bool ceil_mode = false;
  bool same_padding = false;
  bool operator==(const Pool&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Pool::kind);
    v("kernel", &Pool::kernel);
    v("stride", &Pool::stride);
    v("dilation", &Pool::dilation);
    v("padding_begin", &Pool::padding_begin);
    v("padding_end", &Pool::padding_end);
    v("ceil_mode", &Pool::ceil_mode);
    v("same_padding", &Pool::same_padding);
  }
};

// x [N, C, spatial...] -> [N, C, size...]. Global pooling is size 1.
struct AdaptivePool {
  static constexpr std::string_view kName = "adaptive_pool";
  PoolKind kind = PoolKind::kAverage;
  Extents size;
  bool operator==(const AdaptivePool&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &AdaptivePool::kind);
    v("size", &AdaptivePool::size);
  }
};

enum class ActivationKind : std::uint8_t {
  kRelu,
  kRelu6,
  kLeakyRelu,
  kPRelu,
  kElu,
  kSelu,
  kCelu,
  kGelu,
  kGeluTanh,
  kQuickGelu,
  kSilu,
  kHardSwish,
  kHardSigmoid,
  kSigmoid,
  kTanh,
  kSoftplus,
  kSoftsign,
  kMish,
  kLogSigmoid,
  kClip,
  kThreshold,
  kShrink,
  kGlu,
};

// x, [further parameters: slope of PReLU, bounds of clip].
struct Activation {
  static constexpr std::string_view kName = "activation";
  ActivationKind kind = ActivationKind::kRelu;
  bool operator==(const Activation&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Activation::kind);
  }
};

// x.
struct Softmax {
  static constexpr std::string_view kName = "softmax";
  std::int64_t axis = -1;
  bool log = false;
  bool in_float = false;  // of halves too: softmax(x, dtype=float32) of PyTorch, whose result is FP32
  bool operator==(const Softmax&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &Softmax::axis);
    v("log", &Softmax::log);
    v("in_float", &Softmax::in_float);
  }
};

enum class UnaryKind : std::uint8_t {
  kNeg,
  kAbs,
  kExp,
  kLog,
  kSqrt,
  kRsqrt,
  kReciprocal,
  kErf,
  kSign,
  kFloor,
  kCeil,
  kRound,
  kNot,
  kBitwiseNot,
  kIsNan,
  kIsInf,
  kSin,
  kCos,
  kTan,
  kAsin,
  kAcos,
  kAtan,
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kSquare,
  kLog1p,
  kExpm1,
};

// x; same shape out.
struct Unary {
  static constexpr std::string_view kName = "unary";
  UnaryKind kind = UnaryKind::kNeg;
  bool operator==(const Unary&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Unary::kind);
  }
};

enum class BinaryKind : std::uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kPow,
  kMod,
  kFmod,
  kMin,
  kMax,
  kEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kAnd,
  kOr,
  kXor,
  kBitwiseAnd,
  kBitwiseOr,
  kBitwiseXor,
  kShiftLeft,
  kShiftRight,
  kAtan2,
};

// a, b, broadcast to each other. Min and max of more inputs are chains.
struct Binary {
  static constexpr std::string_view kName = "binary";
  BinaryKind kind = BinaryKind::kAdd;
  bool operator==(const Binary&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Binary::kind);
  }
};

// condition, a, b, broadcast to each other.
struct Where {
  static constexpr std::string_view kName = "where";
  bool filled = false;  // PyTorch's masked_fill: a copy of b, overwritten in place where the condition holds
  bool operator==(const Where&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("filled", &Where::filled);
  }
};

// One or more tensors.
struct Concat {
  static constexpr std::string_view kName = "concat";
  std::int64_t axis = 0;
  bool operator==(const Concat&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &Concat::axis);
  }
};

// x, [sizes [n]]; without sizes (input or attribute) into equal parts, one an output, the last may be smaller.
struct Split {
  static constexpr std::string_view kName = "split";
  std::int64_t axis = 0;
  IntList sizes;
  bool operator==(const Split&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &Split::axis);
    v("sizes", &Split::sizes);
  }
};

// x, starts, ends, [axes], [steps]: as in ONNX, negative and out-of-range indices are clamped.
struct Slice {
  static constexpr std::string_view kName = "slice";
  bool operator==(const Slice&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// x, pads [2 * axes]: begins then ends, [fill], [axes].
struct Pad {
  static constexpr std::string_view kName = "pad";
  bool operator==(const Pad&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// x, shape. An extent of -1 follows from the others; 0 copies the input's (unless allow_zero).
struct Reshape {
  static constexpr std::string_view kName = "reshape";
  bool allow_zero = false;
  bool operator==(const Reshape&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("allow_zero", &Reshape::allow_zero);
  }
};

// x -> [product of axes before `axis`, product of the rest]. `last_axis` set: merges axis..last_axis only (PyTorch).
struct Flatten {
  static constexpr std::string_view kName = "flatten";
  std::int64_t axis = 1;
  std::optional<std::int64_t> last_axis;
  bool operator==(const Flatten&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &Flatten::axis);
    v("last_axis", &Flatten::last_axis);
  }
};

// x, [axes]; without axes (input or attribute) every extent of 1 goes.
struct Squeeze {
  static constexpr std::string_view kName = "squeeze";
  IntList axes;
  bool operator==(const Squeeze&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axes", &Squeeze::axes);
  }
};

// x, [axes].
struct Unsqueeze {
  static constexpr std::string_view kName = "unsqueeze";
  IntList axes;
  bool operator==(const Unsqueeze&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axes", &Unsqueeze::axes);
  }
};

// x. Empty order: the axes reversed. A view, unless the result is to lie in its own order: that takes a copy.
struct Transpose {
  static constexpr std::string_view kName = "transpose";
  IntList order;
  bool contiguous = false;
  bool operator==(const Transpose&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("order", &Transpose::order);
    v("contiguous", &Transpose::contiguous);
  }
};

// x, shape: broadcast, two-way as in ONNX.
struct Expand {
  static constexpr std::string_view kName = "expand";
  bool operator==(const Expand&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// x, repeats [rank].
struct Tile {
  static constexpr std::string_view kName = "tile";
  bool operator==(const Tile&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

enum class GatherKind : std::uint8_t { kSlices, kElements, kNd };

// x, indices. kSlices: numpy.take along axis; kElements: torch.gather; kNd: GatherND with batch_axes.
struct Gather {
  static constexpr std::string_view kName = "gather";
  GatherKind kind = GatherKind::kSlices;
  std::int64_t axis = 0, batch_axes = 0;
  bool operator==(const Gather&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Gather::kind);
    v("axis", &Gather::axis);
    v("batch_axes", &Gather::batch_axes);
  }
};

// x, indices, updates; shape of x out.
struct Scatter {
  static constexpr std::string_view kName = "scatter";
  GatherKind kind = GatherKind::kElements;
  std::int64_t axis = 0;
  bool operator==(const Scatter&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Scatter::kind);
    v("axis", &Scatter::axis);
  }
};

enum class ReduceKind : std::uint8_t {
  kSum,
  kMean,
  kMax,
  kMin,
  kProd,
  kL1,
  kL2,
  kSumSquare,
  kLogSum,
  kLogSumExp,
  kArgMax,
  kArgMin,
  kAny,
  kAll,
};

// x, [axes]; without axes over all of them, unless noop_with_empty_axes.
struct Reduce {
  static constexpr std::string_view kName = "reduce";
  ReduceKind kind = ReduceKind::kSum;
  IntList axes;
  bool keep_axes = true;
  bool noop_with_empty_axes = false;
  bool operator==(const Reduce&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Reduce::kind);
    v("axes", &Reduce::axes);
    v("keep_axes", &Reduce::keep_axes);
    v("noop_with_empty_axes", &Reduce::noop_with_empty_axes);
  }
};

// x, exclusive or reverse make no difference here. Same shape out.
struct Cumulate {
  static constexpr std::string_view kName = "cumulate";
  std::int64_t axis = 0;
  bool operator==(const Cumulate&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &Cumulate::axis);
  }
};

// x, [k]; outputs values and indices. Sorting is top-k with k the whole axis.
struct TopK {
  static constexpr std::string_view kName = "top_k";
  std::int64_t axis = -1;
  std::optional<std::int64_t> k;
  bool operator==(const TopK&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &TopK::axis);
    v("k", &TopK::k);
  }
};

enum class ResizeKind : std::uint8_t { kNearest, kLinear, kCubic };

// x, [scales], [sizes]: one entry per axis in `axes` (empty: all).
struct Resize {
  static constexpr std::string_view kName = "resize";
  ResizeKind kind = ResizeKind::kNearest;
  IntList axes;
  bool operator==(const Resize&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Resize::kind);
    v("axes", &Resize::axes);
  }
};

// x [N, C, H, W], grid [N, H', W', 2] (or one spatial axis more).
struct GridSample {
  static constexpr std::string_view kName = "grid_sample";
  ResizeKind kind = ResizeKind::kLinear;
  bool operator==(const GridSample&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &GridSample::kind);
  }
};

// table [rows, width], indices [...] -> [..., width].
struct Embedding {
  static constexpr std::string_view kName = "embedding";
  bool operator==(const Embedding&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// x. Costs nothing in inference.
struct Dropout {
  static constexpr std::string_view kName = "dropout";
  double probability = 0.5;
  bool operator==(const Dropout&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("probability", &Dropout::probability);
  }
};

// x. Drops whole rows of a residual branch in training (torchvision's StochasticDepth).
struct StochasticDepth {
  static constexpr std::string_view kName = "stochastic_depth";
  double probability = 0.0;
  bool operator==(const StochasticDepth&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("probability", &StochasticDepth::probability);
  }
};

enum class RnnKind : std::uint8_t { kRnn, kLstm, kGru };

// Rows of the weight for each number of the hidden state.
constexpr std::int64_t gate_count(RnnKind kind) {
  return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1;
}

// One layer. x [time, batch, input] (batch_first: [batch, time, input]), weight [directions, gates*hidden, input],
// recurrence [directions, gates*hidden, state], [bias], [lengths], [initial state], [initial cell], and an LSTM's
// [projection] [directions, state, hidden]; without it, state is hidden. y [time, directions, batch, state], last ones.
struct Rnn {
  static constexpr std::string_view kName = "rnn";
  RnnKind kind = RnnKind::kLstm;
  std::int64_t hidden = 0, directions = 1;
  bool batch_first = false;
  bool operator==(const Rnn&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("kind", &Rnn::kind);
    v("hidden", &Rnn::hidden);
    v("directions", &Rnn::directions);
    v("batch_first", &Rnn::batch_first);
  }
};

// x.
struct Cast {
  static constexpr std::string_view kName = "cast";
  ElementType to = ElementType::kFloat32;
  bool operator==(const Cast&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("to", &Cast::to);
  }
};

// x, scale, [zero point].
struct Quantize {
  static constexpr std::string_view kName = "quantize";
  ElementType to = ElementType::kUInt8;
  bool operator==(const Quantize&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("to", &Quantize::to);
  }
};

// x, scale, [zero point].
struct Dequantize {
  static constexpr std::string_view kName = "dequantize";
  ElementType to = ElementType::kFloat32;
  bool operator==(const Dequantize&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("to", &Dequantize::to);
  }
};

// [N, C*r*r, H, W] <-> [N, C, H*r, W*r].
struct PixelShuffle {
  static constexpr std::string_view kName = "pixel_shuffle";
  std::int64_t factor = 1;
  bool inverse = false;
  bool operator==(const PixelShuffle&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("factor", &PixelShuffle::factor);
    v("inverse", &PixelShuffle::inverse);
  }
};

// x; keeps the upper or lower triangle of the last two axes.
struct Triangle {
  static constexpr std::string_view kName = "triangle";
  bool operator==(const Triangle&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// x; circular shift.
struct Roll {
  static constexpr std::string_view kName = "roll";
  IntList axes, shifts;
  bool operator==(const Roll&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axes", &Roll::axes);
    v("shifts", &Roll::shifts);
  }
};

// indices -> one axis of `depth` entries more. indices, [depth].
struct OneHot {
  static constexpr std::string_view kName = "one_hot";
  std::int64_t axis = -1;
  std::optional<std::int64_t> depth;
  ElementType element = ElementType::kFloat32;
  bool operator==(const OneHot&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("axis", &OneHot::axis);
    v("depth", &OneHot::depth);
    v("element", &OneHot::element);
  }
};

// x -> its extents [rank], from axis `begin` to `end`. Computed on the host, never on the GPU.
struct ShapeOf {
  static constexpr std::string_view kName = "shape_of";
  std::int64_t begin = 0;
  std::optional<std::int64_t> end;
  bool count_only = false;  // the number of elements instead (ONNX Size)
  bool operator==(const ShapeOf&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("begin", &ShapeOf::begin);
    v("end", &ShapeOf::end);
    v("count_only", &ShapeOf::count_only);
  }
};

// shape -> a tensor of one value (random ones too).
struct Fill {
  static constexpr std::string_view kName = "fill";
  ElementType element = ElementType::kFloat32;
  double value = 0.0;
  bool operator==(const Fill&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("element", &Fill::element);
    v("value", &Fill::value);
  }
};

// start, limit, delta.
struct Range {
  static constexpr std::string_view kName = "range";
  bool operator==(const Range&) const = default;
  template <typename V>
  static void fields(V&&) {}
};

// condition, captures of both bodies. The dearer body is costed.
struct If {
  static constexpr std::string_view kName = "if";
  std::uint32_t then_body = 0, else_body = 0;  // indices into Graph::bodies
  std::int64_t then_captures = 0;              // that many inputs after the condition go to then_body, the rest to else
  bool operator==(const If&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("then_body", &If::then_body);
    v("else_body", &If::else_body);
    v("then_captures", &If::then_captures);
  }
};

// [trip count], [condition], states..., captures... -> states..., scanned outputs... (stacked along axis 0).
// Body: iteration, condition, states..., captures... -> condition, states..., scanned.
struct Loop {
  static constexpr std::string_view kName = "loop";
  std::uint32_t body = 0;
  std::int64_t states = 0;
  bool operator==(const Loop&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("body", &Loop::body);
    v("states", &Loop::states);
  }
};

// states..., scanned inputs..., captures... -> states..., scanned outputs... Trip count: extent of the scanned axis 0.
struct Scan {
  static constexpr std::string_view kName = "scan";
  std::uint32_t body = 0;
  std::int64_t states = 0, scanned = 0;
  bool operator==(const Scan&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("body", &Scan::body);
    v("states", &Scan::states);
    v("scanned", &Scan::scanned);
  }
};

// Anything else: kept, costed by its bytes, named in every output. Output types as far as the file declares them;
// extents that nothing tells are those of the first input.
struct Opaque {
  static constexpr std::string_view kName = "opaque";
  std::string name;                      // the foreign operator, e.g. "NonMaxSuppression"
  std::vector<TensorType> output_types;  // empty where the file says nothing
  bool operator==(const Opaque&) const = default;
  template <typename V>
  static void fields(V&& v) {
    v("name", &Opaque::name);
    v("output_types", &Opaque::output_types);
  }
};

using Operator =
    std::variant<Conv, Linear, MatMul, Attention, BatchNorm, LayerNorm, GroupNorm, InstanceNorm, RmsNorm, Pool,
                 AdaptivePool, Activation, Softmax, Unary, Binary, Where, Concat, Split, Slice, Pad, Reshape, Flatten,
                 Squeeze, Unsqueeze, Transpose, Expand, Tile, Gather, Scatter, Reduce, Cumulate, TopK, Resize,
                 GridSample, Embedding, Dropout, StochasticDepth, Rnn, Cast, Quantize, Dequantize, PixelShuffle,
                 Triangle, Roll, OneHot, ShapeOf, Fill, Range, If, Loop, Scan, Opaque>;

// "conv", "linear", ...
std::string_view name(const Operator& op);
// The name people know: "Conv2d"-less, with the kind where one tells more: "conv", "relu", "add", "max_pool", ...;
// the foreign name for Opaque.
std::string label(const Operator& op);

// The names of an enum's values, in their order, as the text form writes them ("max", "gelu_tanh", ...).
std::string_view name(PoolKind kind);
std::string_view name(ActivationKind kind);
std::string_view name(UnaryKind kind);
std::string_view name(BinaryKind kind);
std::string_view name(GatherKind kind);
std::string_view name(ReduceKind kind);
std::string_view name(ResizeKind kind);
std::string_view name(RnnKind kind);

}  // namespace joulecast
