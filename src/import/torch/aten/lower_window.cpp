// SPDX-License-Identifier: Apache-2.0
// Windows that slide over axes, and other strided looks at a tensor. What is a view for torch is one here where slices,
// reshapes and transpositions can say it; where windows overlap, it is one take: the copy that whoever reads them
// makes.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {
namespace {

// Windows along one axis.
struct Window {
  std::int64_t size = 1, step = 1, dilation = 1, padding = 0;
};

Result<std::size_t> counted(const Call& call, std::string_view name, std::int64_t axis, std::size_t rank) {
  const auto signed_rank = static_cast<std::int64_t>(rank);
  if (axis < -signed_rank || axis >= signed_rank) return call.wrong(name, fmt::format("is {}, of {} axes", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + signed_rank : axis);
}

ValueId plus(Call& call, ValueId a, ValueId b) {
  return call.step(Binary{BinaryKind::kAdd}, {a, b}, "places");
}

ValueId times(Call& call, ValueId a, ValueId b) {
  return call.step(Binary{BinaryKind::kMul}, {a, b}, "places");
}

ValueId range(Call& call, std::int64_t start, ValueId limit, std::int64_t step) {
  return call.step(Range{}, {call.int_scalar(start), limit, call.int_scalar(step)}, "range");
}

// The first place of each window [windows], from -padding on.
ValueId starts(Call& call, ValueId extent, const Window& window) {
  const std::int64_t over = window.padding - window.dilation * (window.size - 1);
  return range(call, -window.padding, plus(call, extent, call.int_scalar(over)), window.step);
}

// The places of a window from its first on [size].
ValueId offsets(Call& call, const Window& window) {
  return range(call, 0, call.int_scalar(window.dilation * window.size), window.dilation);
}

// [size, windows]. In place of the padding's zeros the border is read: as many elements.
ValueId places(Call& call, ValueId extent, const Window& window) {
  const ValueId column = call.step(Unsqueeze{{1}}, {offsets(call, window)}, "places");
  ValueId out = plus(call, column, starts(call, extent, window));
  if (window.padding == 0) return out;
  const ValueId last = plus(call, extent, call.int_scalar(-1));
  out = call.step(Binary{BinaryKind::kMax}, {out, call.int_scalar(0)}, "places");
  return call.step(Binary{BinaryKind::kMin}, {out, last}, "places");
}

// An axis and the one behind it, with windows over both: [size, windows] each.
struct Plane {
  ValueId height = kNoValue, width = kNoValue;  // extents
  Window vertical, horizontal;
};

// [height's size * width's size, windows], in the two axes as one.
ValueId places(Call& call, const Plane& plane) {
  const ValueId rows = times(call, places(call, plane.height, plane.vertical), plane.width);
  const ValueId columns = places(call, plane.width, plane.horizontal);
  const ValueId vertical = call.step(Unsqueeze{{1, 3}}, {rows}, "rows");          // [size, 1, windows, 1]
  const ValueId horizontal = call.step(Unsqueeze{{0, 2}}, {columns}, "columns");  // [1, size, 1, windows]
  const ValueId all = plus(call, vertical, horizontal);
  const std::int64_t size = plane.vertical.size * plane.horizontal.size;
  return call.folded(call.step(Reshape{}, {all, call.int_vector({size, -1})}, "places"), "places");
}

// Arguments of im2col and col2im.
Result<Plane> read_plane(const Call& call) {
  JC_ASSIGN_OR_RETURN(const Extents size, per_axis(call, "kernel_size", 2, 1));
  JC_ASSIGN_OR_RETURN(const Extents dilation, per_axis(call, "dilation", 2, 1));
  JC_ASSIGN_OR_RETURN(const Extents padding, per_axis(call, "padding", 2, 0));
  JC_ASSIGN_OR_RETURN(const Extents step, per_axis(call, "stride", 2, 1));
  for (const auto& [name, list] : {std::pair("kernel_size", size), {"dilation", dilation}, {"stride", step}}) {
    if (list[0] < 1 || list[1] < 1) return call.wrong(name, "is less than 1");
  }
  Plane out;
  out.vertical = {size[0], step[0], dilation[0], padding[0]};
  out.horizontal = {size[1], step[1], dilation[1], padding[1]};
  return out;
}

struct Batched {
  ValueId x = kNoValue;
  bool added = false;  // the batch axis
};

Result<Batched> with_batch(Call& call, std::size_t rank) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::size_t own, call.rank(x));
  if (own == rank) return Batched{x, false};
  if (own + 1 != rank) return unsupported(fmt::format("an input of {} axes", own));
  return Batched{call.step(Unsqueeze{{0}}, {x}, "batch"), true};
}

Result<void> emit_unbatched(Call& call, const Batched& in, Operator op, std::vector<ValueId> inputs) {
  if (!in.added) return call.emit(std::move(op), std::move(inputs));
  return call.emit(Squeeze{{0}}, {call.step(std::move(op), std::move(inputs), "batched")});
}

}  // namespace

// nn.functional.unfold: [batch, channels, height, width] -> [batch, channels * size, windows].
Result<void> lower_im2col(Call& call) {
  JC_ASSIGN_OR_RETURN(const Batched in, with_batch(call, 4));
  JC_ASSIGN_OR_RETURN(Plane plane, read_plane(call));
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  const std::size_t front = in.added ? 1 : 2;
  plane.height = call.extent(x, front);
  plane.width = call.extent(x, front + 1);
  const ValueId flat = call.step(Flatten{2, 3}, {in.x}, "flat");
  const ValueId taken = call.step(Gather{GatherKind::kSlices, 2, 0}, {flat, places(call, plane)}, "windows");
  return emit_unbatched(call, in, Flatten{1, 2}, {taken});
}

namespace {

// What col2im's input and output have in common.
struct Columns {
  Batched in;
  Plane plane;
  Integer batch, channels;
  ValueId elements = kNoValue;  // of a channel in all windows
};

Result<Columns> read_columns(Call& call) {
  Columns out;
  JC_ASSIGN_OR_RETURN(out.in, with_batch(call, 3));
  JC_ASSIGN_OR_RETURN(out.plane, read_plane(call));
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  const ValueId size = call.int_scalar(out.plane.vertical.size * out.plane.horizontal.size);
  const std::size_t front = out.in.added ? 0 : 1;
  out.batch = out.in.added ? Integer{1} : Integer{0, call.extent(x, 0)};
  out.channels = {0, call.step(Binary{BinaryKind::kDiv}, {call.extent(x, front), size}, "channels")};
  out.elements = times(call, call.extent(x, front + 1), size);
  return out;
}

}  // namespace

// nn.functional.fold: [batch, channels * size, windows] -> [batch, channels, height, width]. Every element is added to
// its place; the zeros that this starts from are written by nobody.
Result<void> lower_col2im(Call& call) {
  JC_ASSIGN_OR_RETURN(Columns columns, read_columns(call));
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> size, call.integers("output_size"));
  if (size.size() != 2) return call.wrong("output_size", fmt::format("has {} entries", size.size()));
  columns.plane.height = call.scalar(size[0]);
  columns.plane.width = call.scalar(size[1]);
  const auto shape = [&](std::vector<Integer> list) {
    list.insert(list.begin(), {columns.batch, columns.channels});
    return call.folded(call.vector(list), "shape");
  };
  const ValueId x = columns.in.x;
  const ValueId area = times(call, columns.plane.height, columns.plane.width);
  const ValueId zero = call.real_scalar(0.0, call.guess(x).element);
  const ValueId zeros = call.step(Expand{}, {zero, shape({{0, area}})}, "zeros");
  const ValueId updates = call.step(Reshape{}, {x, shape({{0, columns.elements}})}, "updates");
  const ValueId flat = call.step(Reshape{}, {places(call, columns.plane), call.int_vector({-1})}, "places");
  const std::vector<ValueId> inputs{zeros, call.folded(flat, "places"), updates};
  const ValueId sums = call.step(Scatter{GatherKind::kSlices, 2}, inputs, "sums");
  return emit_unbatched(call, columns.in, Reshape{}, {sums, shape(size)});
}

namespace {

// The axes [axis, axis + moved) of `rank` behind all others.
IntList moved_to_end(std::size_t rank, std::size_t axis, std::size_t moved) {
  IntList order;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i < axis || i >= axis + moved) order.push_back(static_cast<std::int64_t>(i));
  }
  for (std::size_t i = axis; i < axis + moved; ++i) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

// x with `axis` taken at `indices`, of whose axes the last `windows` go behind all of the result's.
Result<void> emit_taken(Call& call, ValueId x, std::size_t rank, std::size_t axis, ValueId indices,
                        std::size_t windows) {
  const Gather op{GatherKind::kSlices, static_cast<std::int64_t>(axis), 0};
  if (axis + 1 == rank) return call.emit(op, {x, indices});
  const ValueId taken = call.step(op, {x, indices}, "windows");
  return call.emit(Transpose{moved_to_end(rank - 1 + 2 * windows, axis + windows, windows)}, {taken});
}

// x.unfold(axis, ...) as this file lowers it.
struct Unfolded {
  ValueId x = kNoValue, indices = kNoValue;  // [windows, size]
  std::size_t axis = 0, rank = 0;            // of x
};

std::optional<Unfolded> unfolded(const Call& call, ValueId id) {
  const Node* node = call.builder().producer(id);
  if (node != nullptr && std::holds_alternative<Transpose>(node->op)) {
    const auto& order = std::get<Transpose>(node->op).order;
    node = call.builder().producer(node->inputs[0]);
    const auto* gather = node == nullptr ? nullptr : std::get_if<Gather>(&node->op);
    if (gather == nullptr || gather->axis < 0) return std::nullopt;
    if (order != moved_to_end(order.size(), static_cast<std::size_t>(gather->axis) + 1, 1)) return std::nullopt;
  }
  const auto* gather = node == nullptr ? nullptr : std::get_if<Gather>(&node->op);
  if (gather == nullptr || gather->kind != GatherKind::kSlices || gather->axis < 0) return std::nullopt;
  const auto rank = call.guess(node->inputs[0]).rank;
  if (!rank || call.guess(node->inputs[1]).rank != 2U || call.guess(id).rank != *rank + 1) return std::nullopt;
  return Unfolded{node->inputs[0], node->inputs[1], static_cast<std::size_t>(gather->axis), *rank};
}

// Windows over two axes beside each other, x.unfold(2, ...).unfold(3, ...), are one take from both as one: torch copies
// once, where somebody reads them.
Result<void> emit_both(Call& call, const Unfolded& first, std::size_t axis, ValueId indices) {
  const bool before = first.axis < axis;
  const std::size_t front = std::min(first.axis, axis);
  const auto begin = static_cast<std::int64_t>(front);
  const ValueId width = call.extent(first.x, front + 1);
  const ValueId outer = times(call, before ? first.indices : indices, width);
  const ValueId inner = before ? indices : first.indices;
  // [windows, windows, size of the first, size of the second]
  const ValueId a = call.step(Unsqueeze{before ? IntList{1, 3} : IntList{1, 2}}, {outer}, "outer");
  const ValueId b = call.step(Unsqueeze{before ? IntList{0, 2} : IntList{0, 3}}, {inner}, "inner");
  const ValueId flat = call.step(Flatten{begin, begin + 1}, {first.x}, "flat");
  return emit_taken(call, flat, first.rank - 1, front, call.folded(plus(call, a, b), "places"), 2);
}

}  // namespace

// Tensor.unfold: `size` elements from every `step`-th on, behind all axes.
Result<void> lower_unfold(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dimension"));
  Window window;
  JC_ASSIGN_OR_RETURN(window.size, call.number("size"));
  JC_ASSIGN_OR_RETURN(window.step, call.number("step"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  JC_ASSIGN_OR_RETURN(const std::size_t axis, counted(call, "dimension", dim, rank));
  if (window.size < 0 || window.size > kMaxElements) return call.wrong("size", fmt::format("is {}", window.size));
  if (window.step < 1) return call.wrong("step", fmt::format("is {}", window.step));
  const auto first = unfolded(call, x);
  const bool both = first && axis < first->rank && (axis == first->axis + 1 || axis + 1 == first->axis);
  const ValueId extent = call.extent(both ? first->x : x, axis);
  const ValueId column = call.step(Unsqueeze{{1}}, {starts(call, extent, window)}, "starts");
  const ValueId indices = call.folded(plus(call, column, offsets(call, window)), "places");
  return both ? emit_both(call, *first, axis, indices) : emit_taken(call, x, rank, axis, indices, 1);
}

// Every (columns + 1)-th element of the two axes as one.
Result<void> lower_diagonal(Call& call) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t offset, call.number("offset", 0));
  JC_ASSIGN_OR_RETURN(const std::int64_t first, call.number("dim1", 0));
  JC_ASSIGN_OR_RETURN(const std::int64_t second, call.number("dim2", 1));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  JC_ASSIGN_OR_RETURN(const std::size_t row_axis, counted(call, "dim1", first, rank));
  JC_ASSIGN_OR_RETURN(const std::size_t column_axis, counted(call, "dim2", second, rank));
  if (row_axis == column_axis) return call.wrong("dim2", "is the same axis as dim1");
  if (offset < -kMaxElements || offset > kMaxElements) return call.wrong("offset", fmt::format("is {}", offset));
  const ValueId rows = call.extent(x, row_axis);
  const ValueId columns = call.extent(x, column_axis);
  IntList order;
  for (std::size_t i = 0; i < rank; ++i) {
    if (i != row_axis && i != column_axis) order.push_back(static_cast<std::int64_t>(i));
  }
  order.push_back(static_cast<std::int64_t>(row_axis));
  order.push_back(static_cast<std::int64_t>(column_axis));
  if (!std::is_sorted(order.begin(), order.end())) x = call.step(Transpose{order}, {x}, "turned");
  const auto front = static_cast<std::int64_t>(rank) - 2;
  const ValueId flat = call.step(Flatten{front, front + 1}, {x}, "flat");
  // Above the main diagonal it starts `offset` to the right, below it as many rows down.
  const ValueId step = plus(call, columns, call.int_scalar(1));
  const ValueId below = times(call, columns, call.int_scalar(std::max<std::int64_t>(0, -offset)));
  const ValueId start = offset >= 0 ? call.int_scalar(offset) : below;
  const ValueId down = plus(call, rows, call.int_scalar(std::min<std::int64_t>(0, offset)));
  const ValueId right = plus(call, columns, call.int_scalar(-std::max<std::int64_t>(0, offset)));
  const ValueId shorter = call.step(Binary{BinaryKind::kMin}, {down, right}, "length");
  const ValueId length = call.step(Binary{BinaryKind::kMax}, {shorter, call.int_scalar(0)}, "length");
  const ValueId end = plus(call, start, times(call, length, step));
  const auto one = [&](ValueId id) { return call.folded(call.step(Unsqueeze{{0}}, {id}, "place"), "place"); };
  return call.emit(Slice{}, {flat, one(start), one(end), call.int_vector({front}), one(step)});
}

namespace {

struct Strides {
  IntList size, stride;
  std::int64_t offset = 0;
};

Result<Strides> read_strides(const Call& call) {
  Strides out;
  JC_ASSIGN_OR_RETURN(out.size, call.numbers("size"));
  JC_ASSIGN_OR_RETURN(out.stride, call.numbers("stride"));
  JC_ASSIGN_OR_RETURN(out.offset, call.number("storage_offset", 0));
  if (out.size.size() != out.stride.size()) return call.wrong("stride", "is of another length than size");
  if (out.size.size() > kMaxRank) return unsupported("has too many axes");
  const auto fits = [](std::int64_t n) { return n >= 0 && n <= kMaxElements; };
  const bool good = std::all_of(out.size.begin(), out.size.end(), fits) && fits(out.offset) &&
                    std::all_of(out.stride.begin(), out.stride.end(), fits);
  if (!good) return call.wrong("size", "or another argument is not possible");
  Shape shape;
  for (const std::int64_t extent : out.size) shape.push_back(extent);
  if (!checked_elements(shape)) return call.wrong("size", "is not that of a possible tensor");
  return out;
}

// Axes from the longest stride to the shortest, those of stride 0 last.
IntList by_stride(const Strides& strides) {
  IntList order(strides.size.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    return strides.stride[static_cast<std::size_t>(a)] > strides.stride[static_cast<std::size_t>(b)];
  });
  return order;
}

// The elements that lie beside each other without a gap, axes in this order; nothing where there are gaps or overlaps.
std::optional<std::int64_t> dense(const Strides& strides, const IntList& order) {
  std::int64_t expected = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[i]);
    if (strides.stride[axis] == 0 || strides.size[axis] == 1) continue;
    if (strides.stride[axis] != expected) return std::nullopt;
    expected *= strides.size[axis];
  }
  return expected;
}

// 0 where that is not known.
std::int64_t known_elements(const Call& call, ValueId x) {
  const auto& extents = call.guess(x).extents;
  return extents ? checked_elements(*extents).value_or(0) : 0;
}

// The place of each element: what is added up along each axis.
ValueId strided_places(Call& call, const Strides& strides) {
  ValueId out = call.int_scalar(strides.offset);
  const std::size_t rank = strides.size.size();
  for (std::size_t axis = 0; axis < rank; ++axis) {
    const ValueId count = call.int_scalar(strides.size[axis]);
    const ValueId steps = times(call, range(call, 0, count, 1), call.int_scalar(strides.stride[axis]));
    IntList shape(rank, 1);
    shape[axis] = strides.size[axis];
    out = plus(call, out, call.step(Reshape{.allow_zero = true}, {steps, call.int_vector(shape)}, "places"));
  }
  return call.folded(out, "places");
}

}  // namespace

// Of a tensor without gaps. Axes in another order are a view, broadcast ones as well. What else it shows is a copy.
Result<void> lower_as_strided(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const Strides strides, read_strides(call));
  const ValueId flat = call.step(Reshape{}, {x, call.int_vector({-1})}, "flat");
  const IntList order = by_stride(strides);
  const auto elements = dense(strides, order);
  if (!elements || strides.offset + *elements > known_elements(call, x))
    return call.emit(Gather{GatherKind::kSlices, 0, 0}, {flat, strided_places(call, strides)});
  const ValueId part = call.step(
      Slice{},
      {flat, call.int_vector({strides.offset}), call.int_vector({strides.offset + *elements}), call.int_vector({0})},
      "part");
  IntList sorted;
  IntList back(order.size(), 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto axis = static_cast<std::size_t>(order[i]);
    sorted.push_back(strides.stride[axis] == 0 ? std::min<std::int64_t>(1, strides.size[axis]) : strides.size[axis]);
    back[axis] = static_cast<std::int64_t>(i);
  }
  ValueId shaped = call.step(Reshape{.allow_zero = true}, {part, call.int_vector(sorted)}, "shaped");
  if (!std::is_sorted(back.begin(), back.end())) shaped = call.step(Transpose{back}, {shaped}, "turned");
  return call.emit(Expand{}, {shaped, call.int_vector(strides.size)});
}

}  // namespace joulecast::aten
