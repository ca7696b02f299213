// SPDX-License-Identifier: Apache-2.0
// Part of lower.cpp: convolutions, layers, products, attention and recurrent layers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/saturating.h"
#include "predict/lower_attention.h"
#include "predict/lower_views.h"

namespace joulecast {

inline std::int64_t at(const Extents& list, std::size_t i, std::int64_t absent) {
  return i < list.size() ? list[i] : absent;
}

// PyTorch lets convolutions use TF32 by default and matrix products not (torch.backends, "TensorFloat-32 on Ampere").
inline Arithmetic arithmetic(ElementType element, Precision precision, bool convolution) {
  switch (element) {
    case ElementType::kFloat64:
      return Arithmetic::kFp64;
    case ElementType::kFloat16:
      return Arithmetic::kFp16;
    case ElementType::kBFloat16:
      return Arithmetic::kBf16;
    case ElementType::kFloat8E4M3:
    case ElementType::kFloat8E5M2:
    case ElementType::kInt8:
    case ElementType::kUInt8:
      return Arithmetic::kFp8;  // INT8 runs at the FP8 rate where both exist
    default:
      break;
  }
  if (precision == Precision::kTf32All || (precision == Precision::kTf32 && convolution)) return Arithmetic::kTf32;
  return Arithmetic::kFp32;
}

struct LowerProducts : LowerViews {
  using LowerViews::operator();

  // A product whose second factor was quantised to FP4 quantises the first on its way in. Of its gradients nothing is
  // known: in training the graph's type of the first factor decides.
  [[nodiscard]] Arithmetic of_product() const {
    const bool inference = self.options_.mode == Mode::kInference;
    if (inference && context.input(1).element == ElementType::kFloat4) return Arithmetic::kFp4;
    return arithmetic(context.input(0).element, self.options_.precision, false);
  }

  // Before the first place of the first axis of an image: half of what the output asks for, rounded down.
  static std::int64_t same_padding(const Conv& op, std::int64_t in, std::int64_t out, std::int64_t kernel) {
    const std::int64_t span = at(op.dilation, 0, 1) * (kernel - 1) + 1;
    return std::max<std::int64_t>(0, (out - 1) * at(op.stride, 0, 1) + span - in) / 2;
  }

  static void set_strides(const Conv& op, std::size_t axes, ConvWork& work) {
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
      work.stride = std::max(work.stride, at(op.stride, axis, 1));
      product = saturating_product(product, at(op.stride, axis, 1));
    }
    if (product != saturating_product(work.stride, work.stride)) work.strides = product;
  }

  void operator()(const Conv& op) {
    const TensorType& x = context.input(0);
    const Shape& weight = context.input(1).shape;
    const TensorType& y = context.output();
    const TensorType& from = op.transposed ? y : x;  // a transposed convolution is the data gradient of a plain one
    const TensorType& to = op.transposed ? x : y;
    ConvWork work{.batch = x.shape[0], .in_channels = from.shape[1], .out_channels = to.shape[1], .groups = op.groups};
    const std::size_t last = x.shape.size() - 1;
    for (std::size_t axis = 2; axis <= last; ++axis) {
      const bool width = axis == last && last > 2;
      (width ? work.in_width : work.in_height) *= from.shape[axis];
      (width ? work.out_width : work.out_height) *= to.shape[axis];
      (width ? work.kernel_width : work.kernel_height) *= weight[axis];
    }
    set_strides(op, last - 1, work);
    work.transposed = op.transposed;
    work.padding =
        op.same_padding ? same_padding(op, from.shape[2], to.shape[2], weight[2]) : at(op.padding_begin, 0, 0);
    work.element_bytes = element_bytes(x);
    work.bias = context.has(2) ? 1 : 0;
    work.arithmetic = arithmetic(x.element, self.options_.precision, true);
    work.channels_last = converted_to_channels_last();
    emit(work);
    set_storage(work.channels_last ? Storage::kChannelsLast : Storage::kContiguous);
  }
  // Either of the input and the weights decides (cudnn_conv_suggest_memory_format), and what lies otherwise is copied.
  // Models convert their images and the weights of two axes; those of one are never told apart from what was merely
  // permuted (Convolution.cpp: "avoid accidentally going through NHWC").
  bool converted_to_channels_last() {
    constexpr std::size_t kImage = 4;
    const Shape& x = context.input(0).shape;
    const bool any_rank = self.options_.runtime == Runtime::kTensorflow;
    const bool asked = self.options_.layout == Layout::kChannelsLast && (x.size() == kImage || any_rank);
    const bool last = (x.size() >= kImage || any_rank) && (channels_last() || asked);
    if (storage(0) == Storage::kContiguous) {
      const bool one_order = x.size() < kImage || x[1] == 1 || x[2] * x[3] == 1;
      if (last && self.is_eager() && !one_order) copied(0);
    } else if (!channels_last() || (!last && self.is_eager())) {
      copied(0);  // compiled kernels write in the order that is wanted
    }
    return last;
  }

  void operator()(const Linear& op) {
    contiguous(0);
    const TensorType& x = context.input(0);
    const Shape& weight = context.input(1).shape;
    const TensorType& y = context.output();
    GemmWork work{.columns = op.weight_in_out ? weight[1] : weight[0],
                  .depth = op.weight_in_out ? weight[0] : weight[1]};
    work.rows = x.elements() / std::max<std::int64_t>(1, work.depth);
    work.element_bytes = element_bytes(x);
    work.output_bytes = element_bytes(y);
    work.bias = context.has(2) ? 1 : 0;
    work.arithmetic = of_product();
    emit(work);
  }

  // Products of a batch step over gaps between its matrices and take either order of their axes.
  void factor(std::size_t i) {
    const bool batched = context.input(0).shape.size() == 3 && context.input(1).shape.size() == 3;
    if (!batched || (storage(i) != Storage::kChannelsLast && storage(i) != Storage::kPlacesCut)) contiguous(i);
  }
  void operator()(const MatMul& op) {
    factor(0);
    factor(1);
    const Shape& a = context.input(0).shape;
    const Shape& y = context.output().shape;
    const bool vector = a.size() < 2;
    GemmWork work{.depth = vector ? a.back() : (op.transpose_a ? a[a.size() - 2] : a.back()),
                  .weight = context.is_parameter(1)};
    work.columns = y.empty() ? 1 : y.back();
    work.rows = vector || y.size() < 2 ? 1 : y[y.size() - 2];
    // at::matmul folds what has a batch times a matrix or a vector, which have none, into one product.
    const std::size_t factor_axes = context.input(1).shape.size();
    if (factor_axes < 2) work.columns = 1;
    if (!vector && (factor_axes < 2 || (a.size() > 2 && factor_axes == 2 && !op.transpose_a)))
      work.rows = context.output().elements() / std::max<std::int64_t>(1, work.columns);
    work.batch = context.output().elements() / std::max<std::int64_t>(1, work.rows * work.columns);
    work.element_bytes = element_bytes(context.input(0));
    work.output_bytes = element_bytes(context.output());
    work.arithmetic = of_product();
    emit(work);
  }

  // A mask for each image and head is one of them, expanded.
  [[nodiscard]] std::int64_t mask_bytes(const TensorType& query, std::int64_t keys) const {
    if (!context.has(3)) return 0;
    const TensorType& mask = context.input(3);
    const std::int64_t most = std::max(query.shape[0], query.shape[1]) * query.shape[2] * keys;
    return std::min(mask.elements(), most) * element_bytes(mask.element == ElementType::kBool ? query : mask);
  }

  // PyTorch has fused kernels for halves and FP32; what the model writes out itself, FP64 and TensorFlow run as
  // products, scaling, mask and softmax of their own.
  void operator()(const Attention& op) {
    const TensorType& q = context.input(0);
    const Shape& k = context.input(1).shape;
    const Arithmetic math = arithmetic(q.element, self.options_.precision, false);
    const bool asked =
        has_fused_attention(op, math == Arithmetic::kFp64, self.options_.attention, self.options_.runtime);
    const bool by_engine = self.options_.attention == AttentionKernels::kEngines && q.shape.size() == 4;
    const bool fused = asked && (by_engine || !falls_back(q, k, context.input(2).shape, context.has(3)));
    if (asked && context.has(3) && context.input(3).element == ElementType::kBool) {
      const bool compiled = self.options_.runtime == Runtime::kPytorchCompiled;
      for (const LoweredOperation& kernel : converted_mask(q, context.input(3), compiled)) out.push_back(kernel);
    }
    const std::int64_t values = context.input(2).shape.back();
    if (fused) {
      emit(AttentionWork{.batch = q.shape[0],
                         .heads = q.shape[1],
                         .kv_heads = k[1],
                         .queries = q.shape[2],
                         // Fewer keys than queries: pooled keys, as of PVT and MViT.
                         .past = op.causal ? std::max<std::int64_t>(0, k[2] - q.shape[2]) : k[2] - q.shape[2],
                         .head = q.shape[3],
                         .element_bytes = element_bytes(q),
                         .kv_bytes = element_bytes(context.input(1)),
                         .window = op.window,
                         .causal = op.causal,
                         .arithmetic = math,
                         .mask_bytes = mask_bytes(q, k[2]),
                         .value_head = values == q.shape[3] ? 0 : values});
    } else {
      apart(op, math, asked);
    }
    set_storage(fused ? Storage::kHeadsInner : Storage::kContiguous);
  }
  void apart(const Attention& op, Arithmetic math, bool asked) {
    AttentionApart kernels(op, context, math, self.options_, out);
    if (asked) {
      const auto turned = [&](std::size_t i) { return storage(i) != Storage::kContiguous; };
      return kernels.fall_back({turned(0), turned(1), turned(2)});
    }
    for (std::size_t i = 0; i < 3; ++i) contiguous(i);
    kernels.by_hand();
  }

  // One product of all steps' inputs; then step by step that of the state, the gates in the same call. cuDNN's layers
  // may use TF32 where its convolutions may.
  void operator()(const Rnn& op) {
    constexpr std::size_t kProjection = 7;
    const Shape& x = context.input(0).shape;
    if (x.size() != 3) return pointwise(PointwiseKind::kOther);
    const std::int64_t gates = gate_count(op.kind);
    const std::int64_t steps = op.batch_first ? x[1] : x[0];
    const std::int64_t batch = op.batch_first ? x[0] : x[1];
    const std::int64_t size = element_bytes(context.input(0));
    if (steps == 0) return;
    GemmWork gemm{.rows = steps * batch,
                  .columns = gates * op.hidden,
                  .depth = x[2],
                  .element_bytes = size,
                  .output_bytes = size,
                  .arithmetic = arithmetic(context.input(0).element, self.options_.precision, true)};
    emit(gemm, op.directions, 1);
    const bool projects = context.has(kProjection);
    gemm.rows = batch;
    gemm.depth = projects ? context.input(kProjection).shape[1] : op.hidden;
    gemm.steps = steps;
    emit(gemm, op.directions, 0);
    if (!projects) return;
    gemm.columns = gemm.depth;
    gemm.depth = op.hidden;
    emit(gemm, op.directions, 0);
  }
};

}  // namespace joulecast
