// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "import/paddle/lowerings.h"

namespace joulecast::paddle {
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

// Channels last: turned for the operator, and back. Nothing where they are first.
Result<std::optional<IntList>> channels_first(const Call& call, ValueId x) {
  JC_ASSIGN_OR_RETURN(const std::string_view format, call.text("data_format", "NCHW"));
  const auto rank = call.guess(x).rank;
  if (!format.ends_with('C') || format.size() < 3 || !rank || *rank < 3) return std::optional<IntList>{};
  IntList out{0, static_cast<std::int64_t>(*rank) - 1};
  for (std::size_t i = 1; i + 1 < *rank; ++i) out.push_back(static_cast<std::int64_t>(i));
  return std::optional(std::move(out));
}

IntList back(const IntList& order) {
  IntList out(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) out[static_cast<std::size_t>(order[i])] = static_cast<std::int64_t>(i);
  return out;
}

Result<void> emit_norm(Call& call, Operator op, std::vector<ValueId> inputs) {
  JC_ASSIGN_OR_RETURN(const auto order, channels_first(call, inputs[0]));
  if (!order) return call.emit(std::move(op), std::move(inputs));
  inputs[0] = call.step(Transpose{*order}, {inputs[0]}, "channels_first");
  return call.emit(Transpose{back(*order)}, {call.step(std::move(op), std::move(inputs), "norm")});
}

}  // namespace

Result<void> lower_batch_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const ValueId mean, call.optional_tensor("mean"));
  JC_ASSIGN_OR_RETURN(const ValueId variance, call.optional_tensor("variance"));
  return emit_norm(call, BatchNorm{}, {in.x, in.scale, in.shift, mean, variance});
}

namespace {

// The extents from `begin` on, computed only where the file leaves one open.
ValueId normalised(Call& call, ValueId x, std::int64_t begin) {
  IntList out;
  const auto& declared = call.declared(0);
  for (auto i = static_cast<std::size_t>(begin); declared && i < declared->shape.size(); ++i) {
    out.push_back(declared->shape[i]);
  }
  const bool open = out.empty() || std::find(out.begin(), out.end(), -1) != out.end();
  return open ? call.step(ShapeOf{begin, std::nullopt, false}, {x}, "normalised") : call.int_vector(out);
}

}  // namespace

// Over several axes scale and shift are stored flat. Mean and variance, where somebody reads them, have no counterpart.
Result<void> lower_layer_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const std::int64_t begin, call.number("begin_norm_axis", 1));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(in.x));
  const std::int64_t axes = static_cast<std::int64_t>(rank) - begin;
  if (begin < 0 || axes < 1) return call.wrong("begin_norm_axis", fmt::format("is {}, of {} axes", begin, rank));
  if (call.any_used_after(0)) return call.opaque();
  for (ValueId* one : {&in.scale, &in.shift}) {
    if (*one == kNoValue || axes == 1) continue;
    *one = call.step(Reshape{}, {*one, normalised(call, in.x, begin)}, "unflattened");
  }
  return call.emit(LayerNorm{axes, false}, {in.x, in.scale, in.shift});
}

// Since Paddle 3.3 with the shape that it normalises, and the scale behind x. Before, with a residual or a bias of its
// input, it was more than a norm.
Result<void> lower_rms_norm(Call& call) {
  if (call.has("normalized_shape")) {
    JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
    JC_ASSIGN_OR_RETURN(const ValueId scale, call.optional_tensor("added"));
    JC_ASSIGN_OR_RETURN(const auto shape, call.integers("normalized_shape"));
    if (shape.empty() || shape.size() > kMaxRank) return call.wrong("normalized_shape", "has no axis, or too many");
    if (call.any_used_after(0)) return call.opaque();
    return call.emit(RmsNorm{static_cast<std::int64_t>(shape.size())}, {x, scale});
  }
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(in.x));
  JC_ASSIGN_OR_RETURN(const std::int64_t begin, call.number("begin_norm_axis", static_cast<std::int64_t>(rank) - 1));
  const std::int64_t counted = begin < 0 ? begin + static_cast<std::int64_t>(rank) : begin;
  if (counted < 0 || counted >= static_cast<std::int64_t>(rank)) return call.wrong("begin_norm_axis", "is no axis");
  if (call.has("added") || call.has("residual") || in.shift != kNoValue || call.any_used_after(0)) return call.opaque();
  return call.emit(RmsNorm{static_cast<std::int64_t>(rank) - counted}, {in.x, in.scale});
}

Result<void> lower_group_norm(Call& call) {
  JC_ASSIGN_OR_RETURN(const Affine in, affine(call));
  JC_ASSIGN_OR_RETURN(const std::int64_t groups, call.number("groups", 1));
  if (groups < 1 || groups > kMaxElements) return call.wrong("groups", fmt::format("is {}", groups));
  if (call.any_used_after(0)) return call.opaque();
  return emit_norm(call, GroupNorm{groups}, {in.x, in.scale, in.shift});
}

}  // namespace joulecast::paddle
