// SPDX-License-Identifier: Apache-2.0
#include "predict/lower_attention.h"

#include <algorithm>
#include <charconv>

#include "predict/attention_kernels.h"

namespace joulecast {
namespace {

constexpr std::int64_t kFloat = 4;

}  // namespace

AttentionKernels attention_of(std::string_view software) {
  constexpr std::string_view kName = "pytorch ";
  constexpr int kFirstFused = 2, kFirstInFp32 = 5;
  if (!software.starts_with(kName)) return AttentionKernels::kFusedOrFp32;
  const std::string_view version = software.substr(kName.size());
  int major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error != std::errc{}) return AttentionKernels::kFusedOrFp32;
  if (major < kFirstFused) return AttentionKernels::kProducts;
  if (dot == end || std::from_chars(dot + 1, end, minor).ec != std::errc{}) return AttentionKernels::kFusedOrFp32;
  return major == kFirstFused && minor < kFirstInFp32 ? AttentionKernels::kFused : AttentionKernels::kFusedOrFp32;
}

bool has_fused_attention(const Attention& op, bool doubles, AttentionKernels kernels, Runtime runtime) {
  return !op.by_hand && !doubles && kernels != AttentionKernels::kProducts && runtime != Runtime::kTensorflow;
}

bool falls_back(const TensorType& query, const Shape& key, const Shape& value, bool masked) {
  if (query.shape.size() != 4) return true;
  const std::int64_t head = query.shape.back();
  const bool flash = bit_width(query.element) < 32 && !masked && value.back() == head && head <= kWidestFlashHead;
  return key[1] != query.shape[1] && !flash;
}

std::vector<LoweredOperation> converted_mask(const TensorType& query, const TensorType& mask, bool compiled) {
  const std::int64_t elements = mask.elements(), size = element_bytes(query);
  const auto kernel = [&](std::int64_t bytes) {
    return LoweredOperation{PointwiseWork{.kind = PointwiseKind::kOther,
                                          .elements = elements,
                                          .forward_bytes = bytes * elements,
                                          .element_bytes = size},
                            1, 1};
  };
  if (compiled) return {kernel(1 + size)};
  return {kernel(2), kernel(1 + size)};  // turned round, and what it lets in chosen
}

AttentionApart::AttentionApart(const Attention& op, const CostContext& context, Arithmetic math,
                               const LowerOptions& options, std::vector<LoweredOperation>& out)
    : op_(op), context_(context), options_(options), out_(out), size_(element_bytes(context.input(0))) {
  const Shape &q = context.input(0).shape, &k = context.input(1).shape;
  const std::int64_t queries = q[q.size() - 2];
  columns_ = k[k.size() - 2];
  rows_ = context.input(0).elements() / std::max<std::int64_t>(1, q.back());
  gemm_ = {.batch = rows_ / std::max<std::int64_t>(1, queries),
           .rows = queries,
           .columns = columns_,
           .depth = q.back(),
           .element_bytes = size_,
           .output_bytes = size_,
           .weight = false,
           .arithmetic = math};
}

void AttentionApart::over(PointwiseKind kind, std::int64_t elements, std::int64_t forward, std::int64_t backward) {
  emit(PointwiseWork{.kind = kind,
                     .elements = elements,
                     .forward_bytes = forward,
                     .backward_bytes = backward,
                     .element_bytes = size_});
}

void AttentionApart::product_of_values() {
  GemmWork work = gemm_;
  work.columns = context_.input(2).shape.back();
  work.depth = columns_;
  emit(work);
}

void AttentionApart::softmax(std::int64_t size) {
  const Shape& q = context_.input(0).shape;
  const std::int64_t scores = rows_ * columns_;
  const std::int64_t channels = q.size() > 3 ? q[q.size() - 3] : 1;
  emit(ReductionWork{.kind = ReductionKind::kSoftmax,
                     .in_elements = scores,
                     .out_elements = scores,
                     .channels = channels,
                     .spatial = q[q.size() - 2] * columns_,
                     .rows = rows_,
                     .columns = columns_,
                     .element_bytes = size});
}

std::int64_t AttentionApart::masks() const {
  return std::max<std::int64_t>(op_.masks, context_.has(3) && op_.fills == 0 ? 1 : 0);
}

// Its mask has a byte an element.
void AttentionApart::dropout(std::int64_t size) {
  if (options_.mode == Mode::kTraining && op_.dropout > 0.0)
    each_way(PointwiseKind::kDropout, rows_ * columns_, 2 * size + 1);
}

// What happens between the two products, kernel by kernel.
void AttentionApart::soften_by_hand() {
  const std::int64_t scores = rows_ * columns_;
  const std::int64_t both = 2 * size_;  // one read, one written
  for (std::int64_t i = 0; i < op_.scales; ++i) each_way(PointwiseKind::kMulScalar, scores, both);
  // A mask added has no kernel in backward: the sum's gradient is the scores'.
  for (std::int64_t i = 0; i < masks(); ++i) over(PointwiseKind::kAdd, scores, both * scores, 0);
  for (std::int64_t i = 0; i < op_.fills; ++i) {
    const std::int64_t mask = i == 0 && context_.has(3) ? context_.input(3).elements() : 0;  // booleans
    over(PointwiseKind::kCopy, scores, both * scores + mask, both * scores + mask);
  }
  // Autocast takes the softmax in FP32, whose kernel reads FP16; BF16 is copied first.
  const bool cast = (is_autocast(options_.precision) || op_.in_float) && size_ < kFloat;
  if (cast && context_.input(0).element == ElementType::kBFloat16)
    each_way(PointwiseKind::kCopy, scores, size_ + kFloat);
  softmax(cast ? kFloat : size_);
  if (cast) each_way(PointwiseKind::kCopy, scores, size_ + kFloat);
  dropout(size_);
}

void AttentionApart::by_hand() {
  const std::int64_t scores = rows_ * columns_;
  // Compiled, all that the model does to its scores is one kernel, and scaling part of the one before.
  const bool one_kernel = op_.by_hand && compiled();
  if (op_.scales == 0 && !one_kernel) each_way(PointwiseKind::kMulScalar, context_.input(0).elements(), 2 * size_);
  emit(gemm_);
  if (one_kernel) {
    over(PointwiseKind::kFused, scores, 2 * size_ * scores, 3 * size_ * scores);
  } else {
    soften_by_hand();
  }
  product_of_values();
}

// Autocast is off in there. _safe_softmax compares the scores, looks whether a row has any that counts, and chooses.
void AttentionApart::soften_eagerly(std::int64_t size, bool safe) {
  const std::int64_t scores = rows_ * columns_;
  const std::int64_t mask = context_.has(3) ? context_.input(3).elements() * size_ : 0;
  for (std::int64_t i = 0; i < masks(); ++i) over(PointwiseKind::kAdd, scores, 2 * size * scores + mask, 0);
  softmax(size);
  if (safe) {
    over(PointwiseKind::kOther, scores, (size + 1) * scores, 0);
    emit(ReductionWork{
        .kind = ReductionKind::kReduce,
        .in_elements = scores,
        .out_elements = rows_,
        .rows = rows_,
        .columns = columns_,
        .element_bytes = 1,
        .gradient = options_.mode == Mode::kTraining ? ReductionGradient::kView : ReductionGradient::kTwoKernels});
    each_way(PointwiseKind::kOther, scores, 2 * size);
  }
  dropout(size);
}

void AttentionApart::fall_back(const std::array<bool, 3>& turned) {
  const bool late = options_.attention == AttentionKernels::kFusedOrFp32, cast = late && size_ < kFloat;
  const std::int64_t scores = rows_ * columns_, inner = cast ? kFloat : size_;
  const std::int64_t results = context_.output().elements();
  if (cast) {
    gemm_.element_bytes = gemm_.output_bytes = kFloat;
    gemm_.arithmetic = options_.precision == Precision::kTf32All ? Arithmetic::kTf32 : Arithmetic::kFp32;
  }
  const std::int64_t heads = context_.input(0).shape.size() == 4 ? context_.input(0).shape[1] : 1;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int64_t own = context_.input(i).elements();
    const std::int64_t few = heads > 1 ? context_.input(i).shape[1] : 1;
    const std::int64_t repeats = heads / std::max<std::int64_t>(1, few), elements = saturating_product(own, repeats);
    const bool scaled = i < 2;
    const std::int64_t moved = saturating_product(size_, saturating_sum(own, elements));
    if (repeats > 1) over(PointwiseKind::kCopy, elements, moved, moved);
    if (cast) each_way(PointwiseKind::kCopy, elements, size_ + kFloat);
    // Compiled, scaling and turning are part of the cast.
    if (cast && compiled()) continue;
    if (scaled) each_way(PointwiseKind::kMulScalar, elements, 2 * inner);
    if (turned[i]) each_way(PointwiseKind::kCopy, elements, 2 * inner);
  }
  emit(gemm_);
  if (compiled()) {
    over(PointwiseKind::kFused, scores, 2 * inner * scores, 3 * inner * scores);
  } else {
    soften_eagerly(inner, late);
  }
  product_of_values();
  if (!cast) return;
  each_way(PointwiseKind::kCopy, results, size_ + kFloat);
  // The probabilities too, which nobody reads.
  if (!compiled()) over(PointwiseKind::kCopy, scores, (size_ + kFloat) * scores, 0);
}

}  // namespace joulecast
