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

Result<void> needs_list(const NodeContext& node) {
  if (node.input(0).kind == Tensor::Kind::kList && node.input(0).id != kNoValue) return {};
  return unsupported("the list is not filled where we can follow it");
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
  JC_RETURN_IF_ERROR(needs_list(node));
  return node.emit(Gather{}, {node.input(0).id, node.value(1)});
}

// list, index, element. A loop that fills the list so gives it back as a whole.
Result<void> lower_list_set_item(NodeContext& node) {
  Tensor list = list_of(kNoValue);
  list.item = node.value(2);
  return node.output(0, list);
}

Result<void> lower_list_stack(NodeContext& node) {
  JC_RETURN_IF_ERROR(needs_list(node));
  return node.output(0, Tensor::value(node.input(0).id));
}

Result<void> lower_list_length(NodeContext& node) {
  JC_RETURN_IF_ERROR(needs_list(node));
  const ValueId shape = node.step(ShapeOf{}, {node.input(0).id}, "shape");
  return node.emit(Gather{}, {shape, node.int_scalar(0)});
}

}  // namespace joulecast::tensorflow
