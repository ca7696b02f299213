// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

Result<std::size_t> counted(const Call& call, std::string_view name, std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (axis < -signed_rank || axis >= signed_rank) return call.wrong(name, fmt::format("is {}, of {} axes", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

// An extent of 0 is one, and not a copy of the input's as for Reshape.
bool has_zero(const std::vector<Integer>& size) {
  return std::any_of(size.begin(), size.end(), [](const Integer& n) { return !n.symbolic() && n.value == 0; });
}

}  // namespace

Result<void> lower_view(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  if (call.is<ElementType>("dtype")) {
    JC_ASSIGN_OR_RETURN(const ElementType to, call.element("dtype", ElementType::kUnknown));
    if (bit_width(to) != bit_width(call.guess(x).element)) return unsupported("changes the number of elements");
    return call.emit(Cast{to}, {x});
  }
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> size, call.integers("size"));
  return call.emit(Reshape{.allow_zero = has_zero(size)}, {x, call.vector(size)});
}

Result<void> lower_view_as(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId other, call.tensor("other"));
  return call.emit(Reshape{.allow_zero = true}, {x, call.step(ShapeOf{}, {other}, "shape")});
}

Result<void> lower_flatten(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t first, call.number("start_dim", 0));
  JC_ASSIGN_OR_RETURN(const std::int64_t last, call.number("end_dim", -1));
  if (call.guess(x).rank == 0U) return call.emit(Reshape{}, {x, call.int_vector({1})});
  return call.emit(Flatten{first, last}, {x});
}

Result<void> lower_unflatten(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> sizes, call.integers("sizes"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  JC_ASSIGN_OR_RETURN(const std::size_t axis, counted(call, "dim", dim, rank));
  std::vector<ValueId> parts;
  const auto at = static_cast<std::int64_t>(axis);
  if (axis > 0) parts.push_back(call.step(ShapeOf{0, at, false}, {x}, "front"));
  parts.push_back(call.vector(sizes));
  if (axis + 1 < rank) parts.push_back(call.step(ShapeOf{at + 1, std::nullopt, false}, {x}, "back"));
  const ValueId shape = parts.size() == 1 ? parts[0] : call.step(Concat{0}, parts, "shape");
  return call.emit(Reshape{.allow_zero = true}, {x, shape});
}

// Axes that are longer than 1 stay: only what the file declares tells.
Result<void> lower_squeeze(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  if (!call.has("dim")) return call.emit(Squeeze{}, {x});
  JC_ASSIGN_OR_RETURN(const IntList axes, call.numbers("dim"));
  const auto rank = call.guess(x).rank;
  if (axes.empty() || rank == 0U) return call.alias(0, x);
  const auto& declared = call.declared(0);
  if (declared && rank && declared->shape.size() == *rank) return call.alias(0, x);
  return call.emit(Squeeze{axes}, {x});
}

Result<void> lower_unsqueeze(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  return call.emit(Unsqueeze{{axis}}, {x});
}

namespace {

Result<void> swap_axes(Call& call, std::int64_t first, std::int64_t second) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank < 2) return call.alias(0, x);
  JC_ASSIGN_OR_RETURN(const std::size_t a, counted(call, "dim0", first, rank));
  JC_ASSIGN_OR_RETURN(const std::size_t b, counted(call, "dim1", second, rank));
  IntList order;
  for (std::size_t i = 0; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  std::swap(order[a], order[b]);
  return call.emit(Transpose{std::move(order)}, {x});
}

}  // namespace

Result<void> lower_transpose(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::int64_t first, call.number("dim0"));
  JC_ASSIGN_OR_RETURN(const std::int64_t second, call.number("dim1"));
  return swap_axes(call, first, second);
}

// t, mT, adjoint.
Result<void> lower_swap_last(Call& call) {
  return swap_axes(call, -2, -1);
}

Result<void> lower_permute(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(IntList order, call.numbers("dims"));
  for (std::int64_t& axis : order) {
    JC_ASSIGN_OR_RETURN(const std::size_t place, counted(call, "dims", axis, order.size()));
    axis = static_cast<std::int64_t>(place);
  }
  if (order.empty() && call.has("dims")) return call.alias(0, x);
  return call.emit(Transpose{std::move(order)}, {x});
}

Result<void> lower_movedim(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const IntList sources, call.numbers("source"));
  JC_ASSIGN_OR_RETURN(const IntList destinations, call.numbers("destination"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (sources.size() != destinations.size()) return call.wrong("destination", "is of another length");
  IntList order(rank, -1);
  std::vector<bool> moved(rank, false);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const std::size_t from, counted(call, "source", sources[i], rank));
    JC_ASSIGN_OR_RETURN(const std::size_t to, counted(call, "destination", destinations[i], rank));
    if (rank == 0 || moved[from] || order[to] >= 0) return call.wrong("source", "moves an axis twice");
    order[to] = static_cast<std::int64_t>(from);
    moved[from] = true;
  }
  std::size_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (next < rank && moved[next]) ++next;
    axis = static_cast<std::int64_t>(next++);
  }
  return call.emit(Transpose{std::move(order)}, {x});
}

// An extent of -1 keeps the input's, as 1 does for Expand.
Result<void> lower_expand(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(std::vector<Integer> size, call.integers("size"));
  for (Integer& extent : size) {
    if (!extent.symbolic() && extent.value == -1) extent.value = 1;
  }
  return call.emit(Expand{}, {x, call.vector(size)});
}

Result<void> lower_expand_as(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId other, call.tensor("other"));
  return call.emit(Expand{}, {x, call.step(ShapeOf{}, {other}, "shape")});
}

// Views of each in the shape of all. What the file does not tell is left to the readers, which broadcast themselves.
Result<void> lower_broadcast_tensors(Call& call) {
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> all, call.tensors("tensors"));
  if (all.size() != call.output_count()) return call.wrong("tensors", "are not as many as the outputs");
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& declared = call.declared(i);
    const TensorType* own = call.type(all[i]);
    const bool known =
        declared && own != nullptr &&
        std::none_of(declared->shape.begin(), declared->shape.end(), [](std::int64_t e) { return e < 0; });
    if (!known || own->shape == declared->shape) {
      JC_RETURN_IF_ERROR(call.alias(i, all[i]));
      continue;
    }
    const IntList shape(declared->shape.begin(), declared->shape.end());
    JC_RETURN_IF_ERROR(call.emit_output(i, Expand{}, {all[i], call.int_vector(shape)}));
  }
  return {};
}

// More repeats than axes: axes of 1 in front; fewer (torch.tile): repeats of 1.
Result<void> lower_repeat(Call& call) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(std::vector<Integer> repeats, call.integers("repeats"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (repeats.size() > kMaxRank) return call.wrong("repeats", "has too many entries");
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), Integer{1});
  if (repeats.size() > rank) {
    IntList axes;
    for (std::size_t i = 0; i < repeats.size() - rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    x = call.step(Unsqueeze{std::move(axes)}, {x}, "axes");
  }
  return call.emit(Tile{}, {x, call.vector(repeats)});
}

// Each entry of an axis so many times, one after the other; without an axis each element.
Result<void> lower_repeat_interleave(Call& call) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const Integer times, call.integer("repeats", 1));
  if (times.value < 0) return call.wrong("repeats", fmt::format("is {}", times.value));
  JC_ASSIGN_OR_RETURN(std::size_t rank, call.rank(x));
  std::size_t axis = 0;
  if (call.has("dim")) {
    JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dim"));
    JC_ASSIGN_OR_RETURN(axis, counted(call, "dim", dim, rank));
  } else {
    x = call.step(Reshape{}, {x, call.int_vector({-1})}, "flat");
    rank = 1;
  }
  if (rank >= kMaxRank) return unsupported("a tensor of so many axes");
  std::vector<Integer> repeats(rank + 1, Integer{1});
  repeats[axis + 1] = times;
  const auto at = static_cast<std::int64_t>(axis);
  const ValueId apart = call.step(Unsqueeze{{at + 1}}, {x}, "apart");
  const ValueId more = call.step(Tile{}, {apart, call.vector(repeats)}, "repeated");
  return call.emit(Flatten{at, at + 1}, {more});
}

Result<void> lower_sym_size(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank == 0) return call.wrong("self", "is a scalar");
  JC_ASSIGN_OR_RETURN(const std::size_t axis, counted(call, "dim", dim, rank));
  const auto begin = static_cast<std::int64_t>(axis);
  const ValueId vector = call.step(ShapeOf{begin, begin + 1, false}, {x}, "extent");
  return call.emit(Squeeze{{0}}, {vector});
}

// Of a tensor without gaps: the product of the extents behind the axis.
Result<void> lower_sym_stride(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  if (!call.has("dim")) return unsupported("all strides as a list");
  JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (rank == 0) return call.wrong("self", "is a scalar");
  JC_ASSIGN_OR_RETURN(const std::size_t axis, counted(call, "dim", dim, rank));
  ValueId out = call.int_scalar(1);
  for (std::size_t i = axis + 1; i < rank; ++i) {
    out = call.step(Binary{BinaryKind::kMul}, {out, call.extent(x, i)}, "stride");
  }
  return call.alias(0, call.folded(out, "stride"));
}

Result<void> lower_sym_storage_offset(Call& call) {
  return call.alias(0, call.int_scalar(0));
}

Result<void> lower_sym_numel(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.emit(ShapeOf{0, std::nullopt, true}, {x});
}

}  // namespace joulecast::aten
