// SPDX-License-Identifier: Apache-2.0
// Attention that no kernel does whole: two products, and what happens to the scores between them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/saturating.h"
#include "joulecast/cost.h"
#include "joulecast/operators.h"
#include "predict/lower.h"

namespace joulecast {

// Of "pytorch 2.4.1, ..."; what says no version is taken for a new one.
AttentionKernels attention_of(std::string_view software);

// Whether the framework has kernels that do it whole, which want four axes besides. `doubles`: it is in FP64.
bool has_fused_attention(const Attention& op, bool doubles, AttentionKernels kernels, Runtime runtime);

// Whether PyTorch, asked for it whole, falls back to products: its kernels take four axes, and only FlashAttention,
// which has halves, heads of up to 256 as wide as the values and no mask, takes fewer heads of keys than of queries
// (check_batch_size_and_num_heads_dense, aten/src/ATen/native/transformers/cuda/sdp_utils.cpp). That it does not run
// before Ampere either is not known here.
bool falls_back(const TensorType& query, const Shape& key, const Shape& value, bool masked);

// What scaled_dot_product_attention makes of a mask of booleans first (convert_boolean_attn_mask): numbers to add.
std::vector<LoweredOperation> converted_mask(const TensorType& query, const TensorType& mask, bool compiled);

class AttentionApart {
 public:
  // `math` is what the products of such operands run in; kernels are appended to `out`.
  AttentionApart(const Attention& op, const CostContext& context, Arithmetic math, const LowerOptions& options,
                 std::vector<LoweredOperation>& out);

  // As a model writes it out. Requires: operands lie contiguous.
  void by_hand();
  // What scaled_dot_product_attention falls back to (_scaled_dot_product_attention_math): query and key are
  // scaled; since PyTorch 2.5 all of it is in FP32, its operands and both of its results are cast, and rows that are
  // masked as a whole are looked for. `turned`: query, key and value that lie otherwise than contiguous, in which they
  // are scaled before they are copied.
  void fall_back(const std::array<bool, 3>& turned);

 private:
  void emit(const Work& work) { out_.push_back({work, 1, 1}); }
  void over(PointwiseKind kind, std::int64_t elements, std::int64_t forward, std::int64_t backward);
  void each_way(PointwiseKind kind, std::int64_t elements, std::int64_t bytes) {
    over(kind, elements, saturating_product(bytes, elements), saturating_product(bytes, elements));
  }
  void product_of_values();
  void softmax(std::int64_t size);
  void soften_by_hand();
  void soften_eagerly(std::int64_t size, bool safe);
  void dropout(std::int64_t size);
  [[nodiscard]] std::int64_t masks() const;
  [[nodiscard]] bool compiled() const { return options_.runtime == Runtime::kPytorchCompiled; }

  const Attention& op_;
  const CostContext& context_;
  const LowerOptions& options_;
  std::vector<LoweredOperation>& out_;
  std::int64_t size_;  // bytes of an operand's element
  std::int64_t rows_, columns_;
  GemmWork gemm_;
};

}  // namespace joulecast
