// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <limits>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

Result<std::vector<ValueId>> some_tensors(const Call& call, std::string_view name) {
  JC_ASSIGN_OR_RETURN(std::vector<ValueId> out, call.tensors(name));
  if (out.empty()) return call.wrong(name, "is empty");
  for (const ValueId id : out) {
    if (id == kNoValue) return call.wrong(name, "has a None");
  }
  return out;
}

}  // namespace

Result<void> lower_cat(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> tensors, some_tensors(call, "tensors"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  return call.emit(Concat{axis}, tensors);
}

Result<void> lower_stack(Call& call) {
  JC_ASSIGN_OR_RETURN(std::vector<ValueId> tensors, some_tensors(call, "tensors"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  if (tensors.size() == 1) return call.emit(Unsqueeze{{axis}}, {tensors[0]});
  for (ValueId& id : tensors) id = call.step(Unsqueeze{{axis}}, {id}, "part");
  return call.emit(Concat{axis}, std::move(tensors));
}

namespace {

// A single part is the tensor itself.
Result<void> emit_split(Call& call, ValueId x, std::int64_t axis, const std::vector<Integer>& sizes) {
  if (call.output_count() == 1) return call.alias(0, x);
  Split op{axis, {}};
  ValueId input = kNoValue;
  bool plain = true;
  for (const Integer& size : sizes) plain = plain && !size.symbolic();
  for (const Integer& size : sizes) {
    if (plain) op.sizes.push_back(size.value);
  }
  if (!plain) input = call.vector(sizes);
  return call.emit(std::move(op), {x, input}, call.output_count());
}

}  // namespace

// Parts of split_size; the last has the rest.
Result<void> lower_split(Call& call) {
  if (call.is<std::vector<Integer>>("split_size")) return lower_split_with_sizes(call);
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const Integer size, call.integer("split_size", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  const std::size_t parts = call.output_count();
  if (parts < 2) return call.alias(0, x);
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::int64_t counted = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (counted < 0 || counted >= static_cast<std::int64_t>(rank)) return call.wrong("dim", "is no axis");
  const ValueId whole = call.extent(x, static_cast<std::size_t>(counted));
  const ValueId before = call.step(
      Binary{BinaryKind::kMul}, {call.scalar(size), call.int_scalar(static_cast<std::int64_t>(parts) - 1)}, "before");
  std::vector<Integer> sizes(parts, size);
  sizes.back() = Integer{0, call.step(Binary{BinaryKind::kSub}, {whole, before}, "rest")};
  return emit_split(call, x, axis, sizes);
}

Result<void> lower_split_with_sizes(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> sizes, call.integers("split_size"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  if (sizes.size() != call.output_count()) {
    return invalid(fmt::format("{} sizes for {} outputs", sizes.size(), call.output_count()));
  }
  return emit_split(call, x, axis, sizes);
}

// chunk, tensor_split: equal parts.
Result<void> lower_chunk(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  if (!call.is<Integer>("chunks")) return unsupported("is split at given places");
  return emit_split(call, x, axis, {});
}

Result<void> lower_unbind(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    if (!call.used(i)) continue;
    const ValueId place = call.int_scalar(static_cast<std::int64_t>(i));
    JC_RETURN_IF_ERROR(call.emit_output(i, Gather{GatherKind::kSlices, axis, 0}, {x, place}));
  }
  return {};
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

Result<void> emit_slice(Call& call, ValueId x, std::int64_t axis, const Integer& start, const Integer& end,
                        std::int64_t step) {
  const bool whole = start == Integer{0} && end == Integer{kEnd} && step == 1;
  if (whole) return call.alias(0, x);
  const ValueId starts = call.vector({start});
  const ValueId ends = call.vector({end});
  const ValueId steps = step == 1 ? kNoValue : call.int_vector({step});
  return call.emit(Slice{}, {x, starts, ends, call.int_vector({axis}), steps});
}

}  // namespace

Result<void> lower_slice(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  JC_ASSIGN_OR_RETURN(const Integer start, call.integer("start", 0));
  JC_ASSIGN_OR_RETURN(const Integer end, call.integer("end", kEnd));
  JC_ASSIGN_OR_RETURN(const std::int64_t step, call.number("step", 1));
  if (step < 1) return call.wrong("step", fmt::format("is {}", step));
  return emit_slice(call, x, axis, start, end, step);
}

Result<void> lower_select(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const Integer place, call.integer("index", 0));
  return call.emit(Gather{GatherKind::kSlices, axis, 0}, {x, call.scalar(place)});
}

Result<void> lower_narrow(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const Integer start, call.integer("start", 0));
  JC_ASSIGN_OR_RETURN(const Integer length, call.integer("length", 0));
  const ValueId end = call.step(Binary{BinaryKind::kAdd}, {call.scalar(start), call.scalar(length)}, "end");
  return emit_slice(call, x, axis, start, Integer{0, end}, 1);
}

// Pairs from the last axis on: [last begin, last end, second to last begin, ...].
Result<void> lower_pad(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> pairs, call.integers("pad"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::size_t axes = pairs.size() / 2;
  if (pairs.size() % 2 != 0 || axes > rank) {
    return call.wrong("pad", fmt::format("has {} entries for {} axes", pairs.size(), rank));
  }
  if (axes == 0) return call.alias(0, x);
  std::vector<Integer> pads(2 * rank);
  for (std::size_t i = 0; i < axes; ++i) {
    pads[rank - 1 - i] = pairs[2 * i];
    pads[2 * rank - 1 - i] = pairs[2 * i + 1];
  }
  return call.emit(Pad{}, {x, call.vector(pads)});
}

Result<void> lower_roll(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  Roll op;
  JC_ASSIGN_OR_RETURN(op.shifts, call.numbers("shifts"));
  JC_ASSIGN_OR_RETURN(op.axes, call.numbers("dims"));
  if (op.axes.size() != op.shifts.size()) return unsupported("rolls all axes as one");
  return call.emit(std::move(op), {x});
}

Result<void> lower_flip(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const IntList axes, call.numbers("dims"));
  if (axes.empty()) return call.alias(0, x);
  const IntList starts(axes.size(), -1);
  const IntList ends(axes.size(), std::numeric_limits<std::int64_t>::min());
  return call.emit(Slice{},
                   {x, call.int_vector(starts), call.int_vector(ends), call.int_vector(axes), call.int_vector(starts)});
}

Result<void> lower_pixel_shuffle(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t factor, call.number("upscale_factor"));
  if (call.guess(x).rank.value_or(4) != 4) return unsupported("is not on four axes");
  return call.emit(PixelShuffle{factor, false}, {x});
}

Result<void> lower_pixel_unshuffle(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t factor, call.number("downscale_factor"));
  if (call.guess(x).rank.value_or(4) != 4) return unsupported("is not on four axes");
  return call.emit(PixelShuffle{factor, true}, {x});
}

}  // namespace joulecast::aten
