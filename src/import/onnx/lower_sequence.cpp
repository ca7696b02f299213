// SPDX-License-Identifier: Apache-2.0
// Sequences: lists of tensors, taken apart while the file is read. What cannot be is kept as it is.
#include "import/onnx/lowerings.h"

namespace joulecast::onnx {
namespace {

// The place of an element, from the front; nothing where it is not known or outside.
std::optional<std::size_t> position(const NodeContext& node, std::size_t input, std::size_t size) {
  const auto at = node.evaluated_integer(input);
  if (!at) return std::nullopt;
  const auto count = static_cast<std::int64_t>(size);
  const std::int64_t from_front = *at < 0 ? *at + count : *at;
  if (from_front < 0 || from_front >= count) return std::nullopt;
  return static_cast<std::size_t>(from_front);
}

}  // namespace

Result<void> lower_sequence_empty(NodeContext& node) {
  return node.emit_sequence({});
}

Result<void> lower_sequence_construct(NodeContext& node) {
  return node.emit_sequence(node.inputs());
}

// sequence, tensor, [position].
Result<void> lower_sequence_insert(NodeContext& node) {
  const std::vector<ValueId>* sequence = node.sequence(0);
  if (sequence == nullptr || !node.has(1)) return node.opaque();
  std::vector<ValueId> out = *sequence;
  const auto at = node.has(2) ? position(node, 2, out.size() + 1) : out.size();
  if (!at) return node.opaque();
  out.insert(out.begin() + static_cast<std::ptrdiff_t>(*at), node.input(1));
  return node.emit_sequence(std::move(out));
}

// sequence, [position].
Result<void> lower_sequence_erase(NodeContext& node) {
  const std::vector<ValueId>* sequence = node.sequence(0);
  if (sequence == nullptr || sequence->empty()) return node.opaque();
  std::vector<ValueId> out = *sequence;
  const auto at = node.has(1) ? position(node, 1, out.size()) : out.size() - 1;
  if (!at) return node.opaque();
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(*at));
  return node.emit_sequence(std::move(out));
}

Result<void> lower_sequence_at(NodeContext& node) {
  const std::vector<ValueId>* sequence = node.sequence(0);
  const auto at = sequence == nullptr ? std::nullopt : position(node, 1, sequence->size());
  return at ? node.alias(0, (*sequence)[*at]) : node.opaque();
}

Result<void> lower_sequence_length(NodeContext& node) {
  const std::vector<ValueId>* sequence = node.sequence(0);
  if (sequence == nullptr) return node.opaque();
  return node.alias(0, node.int_scalar(static_cast<std::int64_t>(sequence->size())));
}

Result<void> lower_concat_from_sequence(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis"));
  JC_ASSIGN_OR_RETURN(const bool new_axis, node.flag("new_axis", false));
  const std::vector<ValueId>* sequence = node.sequence(0);
  if (sequence == nullptr || sequence->empty()) return node.opaque();
  JC_RETURN_IF_ERROR(node.count_work(10 * sequence->size()));
  std::vector<ValueId> parts = *sequence;
  for (ValueId& part : parts) {
    if (new_axis) part = node.step(Unsqueeze{{axis}}, {part}, "part");
  }
  return node.emit(Concat{axis}, std::move(parts));
}

// input, [sizes of the parts]: one size for all, or none, leaves the number of parts open.
Result<void> lower_split_to_sequence(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, node.integer("axis", 0));
  const Contents* sizes = node.known(1);
  if (sizes == nullptr || sizes->ints.empty() || node.guess(1).rank != 1U) return node.opaque();
  return node.emit_sequence(node.steps(Split{axis, sizes->ints}, {node.input(0)}, sizes->ints.size(), "part"));
}

}  // namespace joulecast::onnx
