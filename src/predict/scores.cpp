// SPDX-License-Identifier: Apache-2.0
#include "predict/scores.h"

#include <algorithm>
#include <cstdint>

#include "predict/lower_attention.h"

namespace joulecast {
namespace {

constexpr double kFloat = 4.0;

// Of each score, without dropout; `fits`: for the framework's kernels.
Scores bytes_of_plain_score(const Attention& op, const TensorType& query, bool fits, const PrepareOptions& options) {
  const double size = static_cast<double>(bit_width(query.element)) / 8.0;
  const bool halves = size < kFloat;
  if (!has_fused_attention(op, size > kFloat, options.attention, options.runtime)) {
    const bool in_float = op.in_float || (options.precision && is_autocast(*options.precision));
    if (halves && in_float) return {size + kFloat, size + kFloat};
    return {size, 2.0 * size};
  }
  if (fits) return {};
  // _safe_softmax leaves its choice beside what the softmax made.
  if (options.attention == AttentionKernels::kFusedOrFp32) return {2.0 * kFloat, 3.0 * kFloat};
  return {size, 2.0 * size};
}

// Dropout keeps a byte of mask, and where the softmax's result itself was multiplied, that after it besides.
Scores bytes_of_score(const Attention& op, const TensorType& query, bool fits, const PrepareOptions& options) {
  Scores out = bytes_of_plain_score(op, query, fits, options);
  if (out.kept <= 0.0 || op.dropout <= 0.0 || options.mode != Mode::kTraining) return out;
  const double size = static_cast<double>(bit_width(query.element)) / 8.0;
  out.kept += 1.0 + (out.kept <= size ? size : 0.0);
  return out;
}

// Of a mask of booleans, which becomes one of numbers that backward reads.
double converted_mask_bytes(const Attention& op, const TensorType& query, const TensorType& mask,
                            const PrepareOptions& options) {
  const double size = static_cast<double>(bit_width(query.element)) / 8.0;
  const bool asked = has_fused_attention(op, size > kFloat, options.attention, options.runtime);
  return asked && mask.element == ElementType::kBool ? size * static_cast<double>(mask.elements()) : 0.0;
}

}  // namespace

Scores scores_of(const Node& node, const TypeTable& types, const PrepareOptions& options) {
  const auto* attention = std::get_if<Attention>(&node.op);
  if (attention == nullptr) return {};
  const TensorType& query = types.type(node.inputs[0]);
  const Shape& key = types.type(node.inputs[1]).shape;
  const ValueId mask = node.inputs.size() > 3 ? node.inputs[3] : kNoValue;
  const bool fits = !falls_back(query, key, types.type(node.inputs[2]).shape, mask != kNoValue);
  const Scores each = bytes_of_score(*attention, query, fits, options);
  const double rows =
      static_cast<double>(query.elements()) / static_cast<double>(std::max<std::int64_t>(1, query.shape.back()));
  const double count = rows * static_cast<double>(key[key.size() - 2]);
  const double converted = mask == kNoValue ? 0.0 : converted_mask_bytes(*attention, query, types.type(mask), options);
  // Backward makes nothing of the kind besides.
  return {each.kept * count + converted, each.at_once * count + (options.mode == Mode::kInference ? converted : 0.0)};
}

}  // namespace joulecast
