// SPDX-License-Identifier: Apache-2.0
// Operators without a counterpart whose outputs are still known in part: what comes out depends on data.
#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

constexpr std::int64_t kUnknown = -1;

}  // namespace

Result<void> lower_non_max_suppression(NodeContext& node) {
  return node.opaque({TensorType{ElementType::kInt64, {kUnknown, 3}}});
}

Result<void> lower_non_zero(NodeContext& node) {
  const auto rank = static_cast<std::int64_t>(node.guess(0).rank.value_or(1));
  return node.opaque({TensorType{ElementType::kInt64, {rank, kUnknown}}});
}

// x, rois, batch indices -> [rois, channels, height, width].
Result<void> lower_roi_align(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t height, node.integer("output_height", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t width, node.integer("output_width", 1));
  if (height < 1 || height > kMaxElements) return node.wrong_attribute("output_height", "is no extent");
  if (width < 1 || width > kMaxElements) return node.wrong_attribute("output_width", "is no extent");
  return node.opaque({TensorType{node.guess(0).element, {kUnknown, kUnknown, height, width}}});
}

Result<void> lower_unique(NodeContext& node) {
  const TensorType places{ElementType::kInt64, {kUnknown}};
  if (node.has_attribute("axis")) return node.opaque();
  return node.opaque({TensorType{node.guess(0).element, {kUnknown}}, places, places, places});
}

}  // namespace joulecast::onnx
