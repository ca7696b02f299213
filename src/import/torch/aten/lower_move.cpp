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

// Equal parts; the last may be shorter.
Result<void> lower_chunk(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  return emit_split(call, x, axis, {});
}

namespace {

constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();

// Parts between the places.
Result<void> split_at(Call& call, ValueId x, std::int64_t axis, const std::vector<Integer>& places) {
  if (places.size() + 1 != call.output_count()) {
    return invalid(fmt::format("{} places for {} outputs", places.size(), call.output_count()));
  }
  for (std::size_t i = 0; i <= places.size(); ++i) {
    if (!call.used(i)) continue;
    const ValueId start = call.vector({i == 0 ? Integer{0} : places[i - 1]});
    const ValueId end = call.vector({i == places.size() ? Integer{kEnd} : places[i]});
    JC_RETURN_IF_ERROR(call.emit_output(i, Slice{}, {x, start, end, call.int_vector({axis})}));
  }
  return {};
}

// Lengths that differ by one at most, the longer ones first: (extent + parts - 1 - i) / parts.
Result<ValueId> even_sizes(Call& call, ValueId x, std::int64_t dim, std::int64_t parts) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::int64_t axis = dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return call.wrong("dim", "is no axis");
  IntList rest;
  for (std::int64_t i = parts; i-- > 0;) rest.push_back(i);
  const ValueId whole = call.extent(x, static_cast<std::size_t>(axis));
  const ValueId sum = call.step(Binary{BinaryKind::kAdd}, {whole, call.int_vector(rest)}, "sizes");
  return call.folded(call.step(Binary{BinaryKind::kDiv}, {sum, call.int_scalar(parts)}, "sizes"), "sizes");
}

}  // namespace

// At places, or into parts.
Result<void> lower_tensor_split(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  if (call.is<std::vector<Integer>>("sections")) {
    JC_ASSIGN_OR_RETURN(const std::vector<Integer> places, call.integers("sections"));
    return split_at(call, x, axis, places);
  }
  if (!call.is<Integer>("sections")) return unsupported("is split where a tensor says");
  const auto parts = static_cast<std::int64_t>(call.output_count());
  if (parts < 2) return call.alias(0, x);
  JC_ASSIGN_OR_RETURN(const ValueId sizes, even_sizes(call, x, axis, parts));
  return call.emit(Split{axis, {}}, {x, sizes}, call.output_count());
}

// All parts at once, whose gradient is one tensor again; of one alone as select.
Result<void> lower_unbind(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", 0));
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < call.output_count(); ++i) {
    if (call.used(i)) used.push_back(i);
  }
  if (used.size() < 2) {
    for (const std::size_t i : used) {
      const ValueId place = call.int_scalar(static_cast<std::int64_t>(i));
      JC_RETURN_IF_ERROR(call.emit_output(i, Gather{GatherKind::kSlices, axis, 0}, {x, place}));
    }
    return {};
  }
  const Split split{axis, IntList(call.output_count(), 1)};
  const std::vector<ValueId> parts = call.steps(split, {x}, call.output_count(), "part");
  for (const std::size_t i : used) JC_RETURN_IF_ERROR(call.emit_output(i, Squeeze{{axis}}, {parts[i]}));
  return {};
}

namespace {

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

// What each element has more than the one before it, n times.
Result<void> lower_diff(Call& call) {
  constexpr std::int64_t kMaxTimes = 64;
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t times, call.number("n", 1));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", -1));
  JC_ASSIGN_OR_RETURN(const ValueId before, call.optional_tensor("prepend"));
  JC_ASSIGN_OR_RETURN(const ValueId behind, call.optional_tensor("append"));
  if (times < 0 || times > kMaxTimes) return call.wrong("n", fmt::format("is {}", times));
  std::vector<ValueId> parts{before, x, behind};
  std::erase(parts, kNoValue);
  if (times == 0) return call.alias(0, x);
  if (parts.size() > 1) x = call.step(Concat{axis}, std::move(parts), "joined");
  const BinaryKind kind = call.guess(x).element == ElementType::kBool ? BinaryKind::kXor : BinaryKind::kSub;
  const ValueId axes = call.int_vector({axis});
  for (std::int64_t i = 1;; ++i) {
    const ValueId later = call.step(Slice{}, {x, call.int_vector({1}), call.int_vector({kEnd}), axes}, "later");
    const ValueId earlier = call.step(Slice{}, {x, call.int_vector({0}), call.int_vector({-1}), axes}, "earlier");
    if (i == times) return call.emit(Binary{kind}, {later, earlier});
    x = call.step(Binary{kind}, {later, earlier}, "differences");
  }
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
