// SPDX-License-Identifier: Apache-2.0
// Lists of tensors of one shape, held as one value with the elements along axis 0.
#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

Tensor list_of(ValueId id) {
  Tensor out = Tensor::value(id);
  out.kind = Tensor::Kind::kList;
  return out;
}

Result<void> needs_list(const NodeContext& node, std::size_t i = 0) {
  if (node.input(i).kind == Tensor::Kind::kList && node.input(i).id != kNoValue) return {};
  return unsupported("the list is not filled where we can follow it");
}

Result<void> get_item(NodeContext& node, std::size_t list, std::size_t index) {
  JC_RETURN_IF_ERROR(needs_list(node, list));
  return node.emit(Gather{}, {node.input(list).id, node.value(index)});
}

// A loop that fills the list so gives it back as a whole.
Result<void> set_item(NodeContext& node, std::size_t item) {
  Tensor list = list_of(kNoValue);
  list.item = node.value(item);
  return node.output(0, list);
}

Result<void> stack(NodeContext& node, std::size_t list) {
  JC_RETURN_IF_ERROR(needs_list(node, list));
  return node.output(0, Tensor::value(node.input(list).id));
}

Result<void> length(NodeContext& node, std::size_t list) {
  JC_RETURN_IF_ERROR(needs_list(node, list));
  const ValueId shape = node.step(ShapeOf{}, {node.input(list).id}, "shape");
  return node.emit(Gather{}, {shape, node.int_scalar(0)});
}

}  // namespace

// x [elements, ...], shape of an element.
Result<void> lower_list_from_tensor(NodeContext& node) {
  return node.output(0, list_of(node.value(0)));
}

// An empty list, which a loop fills.
Result<void> lower_list_reserve(NodeContext& node) {
  return node.output(0, list_of(kNoValue));
}

// list, index, shape of an element.
Result<void> lower_list_get_item(NodeContext& node) {
  return get_item(node, 0, 1);
}

// list, index, element.
Result<void> lower_list_set_item(NodeContext& node) {
  return set_item(node, 2);
}

Result<void> lower_list_stack(NodeContext& node) {
  return stack(node, 0);
}

Result<void> lower_list_length(NodeContext& node) {
  return length(node, 0);
}

// Arrays of TensorFlow 1: what holds the elements here is the `flow`, which goes from each operator to the next; the
// handle says nothing. Outputs: handle, flow.
Result<void> lower_array(NodeContext& node) {
  JC_RETURN_IF_ERROR(node.output(0, Tensor{}));
  return node.output(1, list_of(kNoValue));
}

// handle, indices, x [elements, ...], flow. All elements in order, as a loop is given its input.
Result<void> lower_array_scatter(NodeContext& node) {
  return node.output(0, list_of(node.value(2)));
}

// handle, index, flow.
Result<void> lower_array_read(NodeContext& node) {
  return get_item(node, 2, 1);
}

// handle, index, element, flow.
Result<void> lower_array_write(NodeContext& node) {
  return set_item(node, 2);
}

// handle, indices, flow. All elements in order.
Result<void> lower_array_gather(NodeContext& node) {
  return stack(node, 2);
}

// handle, flow.
Result<void> lower_array_size(NodeContext& node) {
  return length(node, 1);
}

}  // namespace joulecast::tensorflow
