// SPDX-License-Identifier: Apache-2.0
// Losses, by the kernels that PyTorch runs for them (ATen/native/Loss.cpp, LossNLL.cpp): signs, weights of classes and
// the factors of a mean are part of the kernel that picks or sums up.
#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

// at::Reduction
constexpr std::int64_t kNone = 0, kMean = 1;

Result<void> emit_reduced(Call& call, ValueId losses, std::int64_t reduction) {
  if (reduction == kNone) return call.alias(0, losses);
  const ReduceKind kind = reduction == kMean ? ReduceKind::kMean : ReduceKind::kSum;
  return call.emit_output(0, Reduce{kind, {}, false, false}, {losses});
}

// Classes stand at axis 1, of a single sample's at axis 0.
Result<std::int64_t> class_axis(const Call& call, ValueId x) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  return rank > 1 ? 1 : 0;
}

// Of each sample that of its class.
ValueId picked(Call& call, ValueId logs, ValueId classes, std::int64_t axis) {
  const ValueId column = call.step(Unsqueeze{{axis}}, {classes}, "classes");
  const ValueId found = call.step(Gather{GatherKind::kElements, axis, 0}, {logs, column}, "picked");
  return call.step(Squeeze{{axis}}, {found}, "losses");
}

// Classes smoothed: part of the loss is the mean over all classes.
Result<void> emit_smoothed(Call& call, ValueId logs, ValueId losses, std::int64_t axis, std::int64_t reduction) {
  const ValueId all = call.step(Reduce{ReduceKind::kSum, {axis}, false, false}, {logs}, "all");
  if (reduction == kNone) return call.emit(Binary{BinaryKind::kAdd}, {losses, all});
  const ReduceKind kind = reduction == kMean ? ReduceKind::kMean : ReduceKind::kSum;
  const ValueId one = call.step(Reduce{kind, {}, false, false}, {losses}, "loss");
  const ValueId other = call.step(Reduce{kind, {}, false, false}, {all}, "smooth");
  return call.emit(Binary{BinaryKind::kAdd}, {one, other});
}

// The target has a probability for each class.
Result<void> emit_soft_targets(Call& call, ValueId logs, ValueId target, std::int64_t axis, std::int64_t reduction) {
  const ValueId products = call.step(Binary{BinaryKind::kMul}, {logs, target}, "products");
  const IntList axes = reduction == kNone ? IntList{axis} : IntList{};
  return call.emit(Reduce{ReduceKind::kSum, axes, false, false}, {products});
}

}  // namespace

Result<void> lower_cross_entropy(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId target, call.tensor("target"));
  JC_ASSIGN_OR_RETURN(const std::int64_t reduction, call.number("reduction", kMean));
  JC_ASSIGN_OR_RETURN(const double smoothing, call.real("label_smoothing", 0.0));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, class_axis(call, x));
  const ValueId logs = call.step(Softmax{axis, true}, {x}, "logs");
  if (!is_integer(call.guess(target).element)) return emit_soft_targets(call, logs, target, axis, reduction);
  const ValueId losses = picked(call, logs, target, axis);
  return smoothing > 0.0 ? emit_smoothed(call, logs, losses, axis, reduction) : emit_reduced(call, losses, reduction);
}

// Also the forms that PyTorch splits cross entropy into, with the samples' weight as a second output.
Result<void> lower_nll(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId target, call.tensor("target"));
  JC_ASSIGN_OR_RETURN(const std::int64_t reduction, call.number("reduction", kMean));
  if (call.any_used_after(0)) return unsupported("what the samples weigh depends on data");
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, class_axis(call, x));
  return emit_reduced(call, picked(call, x, target, axis), reduction);
}

// Squared or absolute differences. Both kernels, and those of the losses that are both, move the same.
Result<void> lower_distance_of(Call& call, UnaryKind each, ReduceKind all) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId target, call.tensor("target"));
  JC_ASSIGN_OR_RETURN(const std::int64_t reduction, call.number("reduction", kMean));
  const ValueId difference = call.step(Binary{BinaryKind::kSub}, {x, target}, "difference");
  if (reduction == kNone) return call.emit(Unary{each}, {difference});
  return call.emit(Reduce{all, {}, false, false}, {difference});
}

// (1 - target) x - log(sigmoid(x))
Result<void> lower_logistic_loss(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId target, call.tensor("target"));
  JC_ASSIGN_OR_RETURN(const ValueId weight, call.optional_tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId of_true, call.optional_tensor("pos_weight"));
  JC_ASSIGN_OR_RETURN(const std::int64_t reduction, call.number("reduction", kMean));
  const auto binary = [&](BinaryKind kind, ValueId a, ValueId b, std::string_view name) {
    return call.step(Binary{kind}, {a, b}, name);
  };
  const ValueId others = binary(BinaryKind::kSub, call.real_scalar(1.0), target, "others");
  const ValueId product = binary(BinaryKind::kMul, others, x, "product");
  ValueId logs = call.step(Activation{ActivationKind::kLogSigmoid}, {x}, "logs");
  if (of_true != kNoValue) {
    const ValueId more = binary(BinaryKind::kMul, of_true, target, "more");
    logs = binary(BinaryKind::kMul, logs, binary(BinaryKind::kAdd, more, call.real_scalar(1.0), "factors"), "logs");
  }
  ValueId losses = binary(BinaryKind::kSub, product, logs, "losses");
  if (weight != kNoValue) losses = binary(BinaryKind::kMul, losses, weight, "weighed");
  return emit_reduced(call, losses, reduction);
}

}  // namespace joulecast::aten
