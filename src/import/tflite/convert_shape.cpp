// SPDX-License-Identifier: Apache-2.0
// What moves and cuts: attributes of the one are inputs of the other.
#include <fmt/format.h>

#include "import/tflite/convert_operators.h"

namespace joulecast::tflite {
namespace {

constexpr std::size_t kMaxList = 1000;  // entries of a list in options

std::vector<std::int32_t> list(const FlatTable& options, std::size_t field) {
  const FlatVector found = options.vector(field, sizeof(std::int32_t));
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < found.size() && i < kMaxList; ++i) out.push_back(found.number<std::int32_t>(i));
  return out;
}

}  // namespace

// The shape is an input, or an option of old files.
Result<void> convert_reshape(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  JC_ASSIGN_OR_RETURN(const std::string_view shape, op.has(1) ? op.input(1) : op.ints(list(op.options(), 0)));
  return op.finish("Reshape", {x, shape});
}

Result<void> convert_squeeze(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  const std::vector<std::int32_t> axes = list(op.options(), 0);
  Attributes attributes;
  if (!axes.empty()) attributes.list("squeeze_dims", {axes.begin(), axes.end()});
  return op.finish("Squeeze", {x}, std::move(attributes));
}

Result<void> convert_concatenation(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  JC_ASSIGN_OR_RETURN(const std::string_view axis, op.number(static_cast<std::int32_t>(op.options().integer(0))));
  inputs.push_back(axis);
  return op.finish_active(op.options().number<std::uint8_t>(1, 0), "ConcatV2", std::move(inputs));
}

Result<void> convert_split(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish(op.target(), std::move(inputs), Attributes().integer("num_split", op.options().integer(0)));
}

Result<void> convert_pack(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish("Pack", std::move(inputs), Attributes().integer("axis", op.options().integer(1)));
}

Result<void> convert_unpack(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view x, op.input(0));
  return op.finish("Unpack", {x},
                   Attributes().integer("num", op.options().integer(0)).integer("axis", op.options().integer(1)));
}

Result<void> convert_strided_slice(OperatorConverter& op) {
  const FlatTable& options = op.options();
  if (options.flag(5)) return op.opaque("STRIDED_SLICE");  // ends count from the begins
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  Attributes attributes;
  attributes.integer("begin_mask", options.integer(0)).integer("end_mask", options.integer(1));
  attributes.integer("ellipsis_mask", options.integer(2)).integer("new_axis_mask", options.integer(3));
  attributes.integer("shrink_axis_mask", options.integer(4));
  return op.finish("StridedSlice", std::move(inputs), std::move(attributes));
}

Result<void> convert_gather(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  JC_ASSIGN_OR_RETURN(const std::string_view axis, op.number(static_cast<std::int32_t>(op.options().integer(0))));
  inputs.push_back(axis);
  return op.finish("GatherV2", std::move(inputs), Attributes().integer("batch_dims", op.options().integer(1)));
}

// indices, table.
Result<void> convert_embedding_lookup(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(const std::string_view indices, op.input(0));
  JC_ASSIGN_OR_RETURN(const std::string_view table, op.input(1));
  return op.finish("Gather", {table, indices});
}

Result<void> convert_one_hot(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish("OneHot", std::move(inputs), Attributes().integer("axis", op.options().integer(0)));
}

Result<void> convert_reduce(OperatorConverter& op) {
  JC_ASSIGN_OR_RETURN(std::vector<std::string_view> inputs, op.inputs());
  return op.finish(op.target(), std::move(inputs), Attributes().flag("keep_dims", op.options().flag(0)));
}

}  // namespace joulecast::tflite
