// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

struct Affine {
  ValueId x = kNoValue, scale = kNoValue, shift = kNoValue;
};

Result<Affine> affine(const Call& call) {
  Affine out;
  JC_ASSIGN_OR_RETURN(out.x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(out.scale, call.optional_tensor("weight"));
  JC_ASSIGN_OR_RETURN(out.shift, call.optional_tensor("bias"));
  return out;
}

// How many trailing axes are normalised.
Result<std::int64_t> normalised_axes(const Call& call) {
  JC_ASSIGN_OR_RETURN(const auto shape, call.integers("normalized_shape"));
  if (shape.empty() || shape.size() > kMaxRank) {
    return call.wrong("normalized_shape", fmt::format("has {} entries", shape.size()));
  }
  return static_cast<std::int64_t>(shape.size());
}

}  // namespace

// Outputs after the first are statistics, of the shape of the running ones, and nothing to compute in inference.
Result<void> lower_batch_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const ValueId mean, call.optional_tensor("running_mean"));
  JC_ASSIGN_OR_RETURN(const ValueId variance, call.optional_tensor("running_var"));
  for (std::size_t i = 1; i < call.output_count(); ++i) {
    const ValueId statistic = i % 2 == 1 ? mean : variance;
    if (call.used(i) && statistic == kNoValue) return call.opaque();
    JC_RETURN_IF_ERROR(call.alias(i, statistic));
  }
  return call.emit(BatchNorm{}, {in.x, in.scale, in.shift, mean, variance});
}

// Mean and inverse deviation, where somebody reads them, have no counterpart.
Result<void> lower_layer_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const std::int64_t axes, normalised_axes(call));
  if (call.any_used_after(0)) return call.opaque();
  return call.emit(LayerNorm{axes, false}, {in.x, in.scale, in.shift});
}

Result<void> lower_rms_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const std::int64_t axes, normalised_axes(call));
  if (call.any_used_after(0)) return call.opaque();
  return call.emit(RmsNorm{axes}, {in.x, in.scale});
}

Result<void> lower_group_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const std::int64_t groups, call.number("num_groups"));
  if (call.any_used_after(0)) return call.opaque();
  return call.emit(GroupNorm{groups}, {in.x, in.scale, in.shift});
}

// v * g / |v|, the norm over all axes but `dim`; the second output is the norm.
Result<void> lower_weight_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId v, call.tensor("v"));
  JC_ASSIGN_OR_RETURN(const ValueId g, call.tensor("g"));
  JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dim", 0));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(v));
  Reduce op{ReduceKind::kL2, {}, dim != -1, false};
  for (std::size_t axis = 0; dim != -1 && axis < rank; ++axis) {
    if (static_cast<std::int64_t>(axis) != dim) op.axes.push_back(static_cast<std::int64_t>(axis));
  }
  if (dim != -1 && op.axes.size() + 1 != rank) return call.wrong("dim", fmt::format("is {}, of {} axes", dim, rank));
  op.noop_with_empty_axes = dim != -1;
  const ValueId norm = call.step(op, {v}, "norm");
  if (call.used(1)) JC_RETURN_IF_ERROR(call.alias(1, norm));
  const ValueId scale = call.step(Binary{BinaryKind::kDiv}, {g, norm}, "scale");
  return call.emit(Binary{BinaryKind::kMul}, {v, scale});
}

// With running statistics in use it is a batch norm.
Result<void> lower_instance_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const bool from_input, call.flag("use_input_stats", true));
  if (!from_input) return lower_batch_norm(call);
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  return call.emit(InstanceNorm{}, {in.x, in.scale, in.shift});
}

}  // namespace joulecast::aten
