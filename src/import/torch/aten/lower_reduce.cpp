// SPDX-License-Identifier: Apache-2.0
#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

struct Reduced {
  ValueId x = kNoValue;
  IntList axes;
  bool keep_axes = false;
};

Result<Reduced> read_reduced(const Call& call) {
  Reduced out;
  JC_ASSIGN_OR_RETURN(out.x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(out.axes, call.numbers("dim"));
  JC_ASSIGN_OR_RETURN(out.keep_axes, call.flag("keepdim", false));
  return out;
}

// Sums and means are computed in the type of the result where that is another: of bools, or as asked for.
Result<void> cast_first(Call& call, Reduced& reduced) {
  JC_ASSIGN_OR_RETURN(ElementType to, call.element("dtype", ElementType::kUnknown));
  const ElementType own = call.guess(reduced.x).element;
  if (to == ElementType::kUnknown && own == ElementType::kBool) to = ElementType::kInt64;
  if (to != ElementType::kUnknown && to != own) reduced.x = call.step(Cast{to}, {reduced.x}, "cast");
  return {};
}

}  // namespace

Result<void> lower_reduce_of(Call& call, ReduceKind kind) {
  JC_ASSIGN_OR_RETURN(Reduced reduced, read_reduced(call));
  if (kind != ReduceKind::kAny && kind != ReduceKind::kAll) JC_RETURN_IF_ERROR(cast_first(call, reduced));
  return call.emit(Reduce{kind, std::move(reduced.axes), reduced.keep_axes, false}, {reduced.x});
}

// Of a tensor, along an axis (with the places), or of two tensors.
Result<void> lower_extreme_of(Call& call, ReduceKind value, ReduceKind place, BinaryKind pair) {
  if (call.is<ValueId>("other")) return lower_binary_of(call, pair);
  JC_ASSIGN_OR_RETURN(const Reduced reduced, read_reduced(call));
  if (call.used(0) || !call.used(1)) {
    JC_RETURN_IF_ERROR(call.emit_output(0, Reduce{value, reduced.axes, reduced.keep_axes, false}, {reduced.x}));
  }
  if (!call.used(1)) return {};
  return call.emit_output(1, Reduce{place, reduced.axes, reduced.keep_axes, false}, {reduced.x});
}

Result<void> lower_max(Call& call) {
  return lower_extreme_of(call, ReduceKind::kMax, ReduceKind::kArgMax, BinaryKind::kMax);
}
Result<void> lower_min(Call& call) {
  return lower_extreme_of(call, ReduceKind::kMin, ReduceKind::kArgMin, BinaryKind::kMin);
}

// Without an axis: the place in the flattened tensor.
Result<void> lower_arg_of(Call& call, ReduceKind kind) {
  JC_ASSIGN_OR_RETURN(const Reduced reduced, read_reduced(call));
  if (!reduced.axes.empty()) return call.emit(Reduce{kind, reduced.axes, reduced.keep_axes, false}, {reduced.x});
  const ValueId flat = call.step(Reshape{}, {reduced.x, call.int_vector({-1})}, "flat");
  return call.emit(Reduce{kind, {0}, false, false}, {flat});
}

// The mean, what is left of each element, its square, and their mean: exporters to ONNX write the same.
Result<void> lower_variance_of(Call& call, bool root, bool with_mean) {
  JC_ASSIGN_OR_RETURN(Reduced reduced, read_reduced(call));
  if (call.is<bool>("dim")) reduced.axes.clear();  // var(self, unbiased)
  const ValueId x = reduced.x;
  const ValueId mean = call.step(Reduce{ReduceKind::kMean, reduced.axes, true, false}, {x}, "mean");
  const ValueId centred = call.step(Binary{BinaryKind::kSub}, {x, mean}, "centred");
  const ValueId square = call.step(Binary{BinaryKind::kMul}, {centred, centred}, "square");
  const Reduce last{ReduceKind::kMean, reduced.axes, reduced.keep_axes, false};
  if (with_mean && call.used(1)) JC_RETURN_IF_ERROR(call.emit_output(1, last, {x}));
  if (!root) return call.emit_output(0, last, {square});
  return call.emit_output(0, Unary{UnaryKind::kSqrt}, {call.step(last, {square}, "variance")});
}

Result<void> lower_vector_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(Reduced reduced, read_reduced(call));
  JC_ASSIGN_OR_RETURN(const double order, call.real("ord", 2.0));
  if (order != 1.0 && order != 2.0) return unsupported("is a norm of another order than 1 and 2");
  JC_RETURN_IF_ERROR(cast_first(call, reduced));
  const ReduceKind kind = order == 1.0 ? ReduceKind::kL1 : ReduceKind::kL2;
  return call.emit(Reduce{kind, std::move(reduced.axes), reduced.keep_axes, false}, {reduced.x});
}

// Both vectors by their lengths, which are at least eps, and the sum of their products: as PyTorch computes it.
Result<void> lower_cosine_similarity(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 1));
  JC_ASSIGN_OR_RETURN(const double eps, call.real("eps", 1e-8));
  std::vector<ValueId> units;
  for (const std::string_view name : {"x1", "x2"}) {
    JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor(name));
    const ValueId length = call.step(Reduce{ReduceKind::kL2, {axis}, true, false}, {x}, "length");
    const ValueId least = call.step(Binary{BinaryKind::kMax}, {length, call.real_scalar(eps)}, "least");
    units.push_back(call.step(Binary{BinaryKind::kDiv}, {x, least}, "unit"));
  }
  const ValueId products = call.step(Binary{BinaryKind::kMul}, {units[0], units[1]}, "products");
  return call.emit(Reduce{ReduceKind::kSum, {axis}, false, false}, {products});
}

}  // namespace joulecast::aten
