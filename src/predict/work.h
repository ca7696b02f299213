// SPDX-License-Identifier: Apache-2.0
// What the estimator sees of one operation: a handful of integers. Equal work takes equal time, so a network is a
// multiset of these, and a row of a measurement table is one of them.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <variant>

#include "joulecast/tensor.h"

namespace joulecast {

// The arithmetic a matrix kernel runs in.
enum class Arithmetic : std::uint8_t { kFp64, kFp32, kTf32, kFp16, kBf16, kFp8, kFp4 };
inline constexpr std::size_t kArithmetics = 7;

// Convolutions of any number of spatial axes, folded to two: a third multiplies height.
struct ConvWork {
  std::int64_t batch = 1, in_channels = 1, out_channels = 1, groups = 1;
  std::int64_t in_height = 1, in_width = 1, out_height = 1, out_width = 1;
  std::int64_t kernel_height = 1, kernel_width = 1, stride = 1, padding = 0;  // stride: the largest of all axes
  std::int64_t strides = 0;                                                   // their product; 0: the stride's square
  std::int64_t element_bytes = 4, bias = 0;
  Arithmetic arithmetic = Arithmetic::kFp32;
  bool channels_last = false;  // input and output lie that way: nothing is copied for tensor kernels
  // TensorFlow: the fastest of all algorithms, which it tries, and depthwise kernels of its own.
  bool autotuned = false;
  bool transposed = false;  // the layer goes the other way: what it reads is `out`
  auto operator<=>(const ConvWork&) const = default;
};

// Of so many places of the input one is the first of a window: so much less of the kernel meets each in the gradient.
inline double places_of_stride(const ConvWork& w) {
  const auto stride = static_cast<double>(w.stride);
  return w.strides > 0 ? static_cast<double>(w.strides) : stride * stride;
}

// A product of vectors, as squeeze-and-excitation has them: it lies in memory as a linear layer's does.
inline bool is_of_vectors(const ConvWork& w) {
  return w.kernel_height == 1 && w.kernel_width == 1 && w.in_height * w.in_width == 1 &&
         w.out_height * w.out_width == 1;
}

// `batch` products of [rows, depth] x [depth, columns]. A linear layer has batch 1 and its weight as second factor.
struct GemmWork {
  std::int64_t batch = 1, rows = 1, columns = 1, depth = 1;
  std::int64_t element_bytes = 4, output_bytes = 4, bias = 0;
  bool weight = true;  // the second factor is a parameter (linear), not an activation (batched product)
  Arithmetic arithmetic = Arithmetic::kFp32;
  // Of a recurrent layer: so many products of one weight, each behind its gates and the step before; 0: of no such.
  std::int64_t steps = 0;
  auto operator<=>(const GemmWork&) const = default;
};

enum class PointwiseKind : std::uint8_t {
  kRelu,
  kSigmoid,
  kSilu,
  kGelu,
  kTanh,
  kAdd,
  kMul,
  kDiv,
  kPow,
  kAddScalar,
  kMulScalar,
  kDivScalar,
  kPowScalar,
  kStochasticDepth,
  kCopy,
  kDropout,
  kOther,
  kFused,  // a chain of elementwise work, norms and reductions in one kernel
};

// Every output element depends on one place of each input.
struct PointwiseWork {
  PointwiseKind kind = PointwiseKind::kOther;
  std::int64_t elements = 0;       // of the output
  std::int64_t forward_bytes = 0;  // moved in all, by one kernel that reads and writes everything once
  std::int64_t backward_bytes = 0;
  std::int64_t in_place = 0;
  bool active = true;           // StochasticDepth and Dropout: really drops
  std::int64_t in_turn = 0;     // values that each thread makes one behind the other, however few threads there are
  std::int64_t placed = 0;      // elements whose places in strided memory are worked out one by one, by divisions
  std::int64_t gated_rows = 0;  // of a gated activation by an engine's kernel, with a block for each row; 0: PyTorch's
  std::int64_t element_bytes = 4;  // of gradients that the operation benchmark adds up
  auto operator<=>(const PointwiseWork&) const = default;
};

enum class ReductionKind : std::uint8_t {
  kSoftmax,
  kLayerNorm,
  kBatchNorm,
  kAdaptivePool,
  kAveragePool,
  kMaxPool,
  kGroupNorm,
  kReduce,
};

// What a plain reduction's gradient is: that of a sum is the result's, seen in the input's shape.
enum class ReductionGradient : std::uint8_t { kTwoKernels, kOneKernel, kView };

// Norms, softmax, pooling: `rows` independent rows of `columns` elements; batch norm has one row a channel.
struct ReductionWork {
  ReductionKind kind = ReductionKind::kReduce;
  std::int64_t in_elements = 0, out_elements = 0;
  std::int64_t channels = 1, spatial = 1;  // extent of axis 1 and product of the axes after it
  std::int64_t rows = 1, columns = 1;
  std::int64_t window = 1;  // elements a pooling window covers
  std::int64_t element_bytes = 4;
  bool by_engine = false;      // a norm by an engine's kernel, with a block for each row; else PyTorch's
  bool channels_last = false;  // batch norm, of images that lie so: no plane of theirs has a block
  bool of_rows = false;        // batch norm, of features of rows, which lie side by side
  ReductionGradient gradient = ReductionGradient::kTwoKernels;  // of kReduce
  auto operator<=>(const ReductionWork&) const = default;
};

// Fused attention. `past` keys precede the `queries`.
struct AttentionWork {
  std::int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, past = 0, head = 64;
  std::int64_t element_bytes = 2, kv_bytes = 2;
  std::int64_t window = 0;  // keys that a query sees at most, the last ones; 0: no limit
  bool causal = true;
  Arithmetic arithmetic = Arithmetic::kBf16;
  std::int64_t mask_bytes = 0;  // of a mask that is added to the scores; 0: none, or `causal` says it
  std::int64_t value_head = 0;  // numbers of a value where they are not those of a key; 0: `head`
  auto operator<=>(const AttentionWork&) const = default;
};

// The mean of a key's numbers and a value's: what both products together come to, and both operands.
constexpr double mean_head(const AttentionWork& work) {
  return 0.5 * static_cast<double>(work.head + (work.value_head > 0 ? work.value_head : work.head));
}

// One new query over a past: other kernels than prompts have.
constexpr bool is_decode(const AttentionWork& work) {
  return work.queries == 1 && work.past > 0;
}

using Work = std::variant<ConvWork, GemmWork, PointwiseWork, ReductionWork, AttentionWork>;

// Steps of a recurrent layer, of which nothing is learnt: their law stands by itself.
inline bool is_recurrent(const Work& work) {
  const auto* gemm = std::get_if<GemmWork>(&work);
  return gemm != nullptr && gemm->steps > 0;
}

}  // namespace joulecast
