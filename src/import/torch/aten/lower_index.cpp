// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "import/torch/aten/lowerings.h"

namespace joulecast::aten {

Result<void> lower_embedding(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId table, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId indices, call.tensor("indices"));
  if (call.guess(table).rank.value_or(2) != 2) return call.emit(Gather{}, {table, indices});
  return call.emit(Embedding{}, {table, indices});
}

namespace {

// [bags, entries] of a vector: bags start at the offsets, and are taken as equally long.
Result<ValueId> in_bags(Call& call, ValueId vector, ValueId offsets) {
  JC_ASSIGN_OR_RETURN(const bool with_end, call.flag("include_last_offset", false));
  const auto binary = [&](BinaryKind kind, ValueId a, ValueId b) { return call.step(Binary{kind}, {a, b}, "bags"); };
  const ValueId bags = binary(BinaryKind::kSub, call.extent(offsets, 0), call.int_scalar(with_end ? 1 : 0));
  const ValueId entries = binary(BinaryKind::kDiv, call.extent(vector, 0), bags);
  const ValueId all = call.folded(call.vector({{0, binary(BinaryKind::kMul, bags, entries)}}), "all");
  const ValueId whole = call.step(Slice{}, {vector, call.int_vector({0}), all, call.int_vector({0})}, "whole");
  const ValueId shape = call.folded(call.vector({{0, bags}, {0, entries}}), "shape");
  call.note("embedding_bag: bags are taken as equally long");
  return call.step(Reshape{.allow_zero = true}, {whole, shape}, "bags");
}

ReduceKind bag_reduction(std::int64_t mode) {
  return mode == 0 ? ReduceKind::kSum : mode == 1 ? ReduceKind::kMean : ReduceKind::kMax;
}

}  // namespace

// Only the rows that are looked up are read. Weighted sums are products of a row of weights with a bag's rows.
Result<void> lower_embedding_bag(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId table, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(ValueId indices, call.tensor("indices"));
  JC_ASSIGN_OR_RETURN(const ValueId offsets, call.optional_tensor("offsets"));
  JC_ASSIGN_OR_RETURN(ValueId weights, call.optional_tensor("per_sample_weights"));
  JC_ASSIGN_OR_RETURN(const std::int64_t mode, call.number("mode", 0));
  if (call.any_used_after(0)) return unsupported("which bag each entry is in depends on data");
  if (call.guess(indices).rank != 2U) {
    if (offsets == kNoValue) return call.wrong("offsets", "is missing");
    JC_ASSIGN_OR_RETURN(indices, in_bags(call, indices, offsets));
    if (weights != kNoValue) {
      JC_ASSIGN_OR_RETURN(weights, in_bags(call, weights, offsets));
    }
  }
  const ValueId rows = call.step(Embedding{}, {table, indices}, "rows");
  if (weights == kNoValue) return call.emit(Reduce{bag_reduction(mode), {1}, false, false}, {rows});
  const ValueId row = call.step(Unsqueeze{{1}}, {weights}, "weights");
  return call.emit(Squeeze{{1}}, {call.step(MatMul{}, {row, rows}, "sums")});
}

Result<void> lower_index_select(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const ValueId indices, call.tensor("index"));
  return call.emit(Gather{GatherKind::kSlices, axis, 0}, {x, indices});
}

Result<void> lower_gather(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const ValueId indices, call.tensor("index"));
  return call.emit(Gather{GatherKind::kElements, axis, 0}, {x, indices});
}

namespace {

// x[:, i, j]: integer tensors for axes beside each other, broadcast to each other.
struct Places {
  std::size_t first = 0;
  std::vector<ValueId> indices;
};

Result<Places> places(const Call& call, const std::vector<ValueId>& indices) {
  Places out;
  bool ended = false;
  for (std::size_t axis = 0; axis < indices.size(); ++axis) {
    if (indices[axis] == kNoValue) {
      ended = ended || !out.indices.empty();
      continue;
    }
    if (!is_integer(call.guess(indices[axis]).element)) return unsupported("how many a mask selects depends on data");
    if (ended) return unsupported("indices for axes apart from each other");
    if (out.indices.empty()) out.first = axis;
    out.indices.push_back(indices[axis]);
  }
  if (out.indices.empty()) return call.wrong("indices", "has no tensor");
  return out;
}

// [..., one entry a tensor].
ValueId stacked(Call& call, const std::vector<ValueId>& indices) {
  ValueId shape = kNoValue;
  if (indices.size() > 1) {
    ValueId sum = indices[0];
    for (std::size_t i = 1; i < indices.size(); ++i) {
      sum = call.step(Binary{BinaryKind::kAdd}, {sum, indices[i]}, "broadcast");
    }
    shape = call.step(ShapeOf{}, {sum}, "shape");
  }
  std::vector<ValueId> columns;
  for (ValueId id : indices) {
    if (shape != kNoValue) id = call.step(Expand{}, {id, shape}, "indices");
    columns.push_back(call.step(Unsqueeze{{-1}}, {id}, "column"));
  }
  return columns.size() == 1 ? columns[0] : call.step(Concat{-1}, std::move(columns), "places");
}

// The axes from `first` on, `count` of them, in front of the others.
IntList axes_in_front(std::size_t rank, std::size_t first, std::size_t count) {
  IntList order;
  for (std::size_t i = 0; i < count; ++i) order.push_back(static_cast<std::int64_t>(first + i));
  for (std::size_t i = 0; i < rank; ++i) {
    if (i < first || i >= first + count) order.push_back(static_cast<std::int64_t>(i));
  }
  return order;
}

// The first `moved` axes of `rank` to place `to`.
IntList axes_back(std::size_t rank, std::size_t moved, std::size_t to) {
  IntList order;
  for (std::size_t i = 0; i < to; ++i) order.push_back(static_cast<std::int64_t>(moved + i));
  for (std::size_t i = 0; i < moved; ++i) order.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = moved + to; i < rank; ++i) order.push_back(static_cast<std::int64_t>(i));
  return order;
}

Result<std::size_t> broadcast_rank(const Call& call, const std::vector<ValueId>& indices) {
  std::size_t out = 0;
  for (const ValueId id : indices) {
    JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(id));
    out = std::max(out, rank);
  }
  return out;
}

}  // namespace

// x[i]: rows of a matrix of weights are an embedding, one index of an axis is a take.
Result<void> lower_index(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> indices, call.tensors("indices"));
  JC_ASSIGN_OR_RETURN(const Places at, places(call, indices));
  const auto axis = static_cast<std::int64_t>(at.first);
  if (at.indices.size() == 1) {
    const bool table = call.guess(x).parameter && call.guess(x).rank == 2U && is_floating(call.guess(x).element);
    if (table && axis == 0) return call.emit(Embedding{}, {x, at.indices[0]});
    return call.emit(Gather{GatherKind::kSlices, axis, 0}, {x, at.indices[0]});
  }
  if (at.first == 0) return call.emit(Gather{GatherKind::kNd, 0, 0}, {x, stacked(call, at.indices)});
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  JC_ASSIGN_OR_RETURN(const std::size_t index_rank, broadcast_rank(call, at.indices));
  if (at.first + at.indices.size() > rank) return call.wrong("indices", "has more tensors than axes");
  const ValueId turned = call.step(Transpose{axes_in_front(rank, at.first, at.indices.size())}, {x}, "turned");
  const ValueId found = call.step(Gather{GatherKind::kNd, 0, 0}, {turned, stacked(call, at.indices)}, "found");
  return call.emit(Transpose{axes_back(rank - at.indices.size() + index_rank, index_rank, at.first)}, {found});
}

namespace {

// x with `values` at `rows` of axis 0: what is written is broadcast to the shape of what was there.
Result<void> emit_written(Call& call, ValueId x, ValueId rows, ValueId values) {
  const ValueId there = call.step(Gather{GatherKind::kNd, 0, 0}, {x, rows}, "there");
  const ValueId shape = call.step(ShapeOf{}, {there}, "shape");
  const ValueId updates = call.step(Expand{}, {values, shape}, "updates");
  return call.emit(Scatter{GatherKind::kNd, 0}, {x, rows, updates});
}

}  // namespace

Result<void> lower_index_put(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::vector<ValueId> indices, call.tensors("indices"));
  JC_ASSIGN_OR_RETURN(const ValueId values, call.tensor("values"));
  const bool masked = indices.size() == 1 && indices[0] != kNoValue &&
                      call.guess(indices[0]).element == ElementType::kBool && call.guess(values).rank == 0U;
  if (masked && call.guess(indices[0]).rank == call.guess(x).rank) return call.emit(Where{}, {indices[0], values, x});
  JC_ASSIGN_OR_RETURN(const Places at, places(call, indices));
  if (at.first != 0) return unsupported("writes behind the first axis");
  return emit_written(call, x, stacked(call, at.indices), values);
}

// src may be a number; reductions cost what the write does.
Result<void> lower_scatter(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const ValueId indices, call.tensor("index"));
  JC_ASSIGN_OR_RETURN(const ValueId source, call.operand("src", x));
  return call.emit(Scatter{GatherKind::kElements, axis}, {x, indices, source});
}

// index_add, index_copy: whole slices of an axis are written; adding costs what the write does.
Result<void> lower_index_write(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const ValueId indices, call.tensor("index"));
  JC_ASSIGN_OR_RETURN(const ValueId source, call.tensor("source"));
  if (call.guess(indices).rank != 1U) return unsupported("the places are no list");
  return call.emit(Scatter{GatherKind::kSlices, axis}, {x, indices, source});
}

// Where the mask is true the next element of `source`: its place is how often the mask was true before.
Result<void> lower_masked_scatter(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId mask, call.tensor("mask"));
  JC_ASSIGN_OR_RETURN(const ValueId source, call.tensor("source"));
  const ValueId shape = call.step(ShapeOf{}, {x}, "shape");
  const ValueId whole = call.step(Expand{}, {mask, shape}, "mask");
  const ValueId flat = call.step(Reshape{}, {whole, call.int_vector({-1})}, "mask");
  const ValueId counts = call.step(Cumulate{0}, {call.step(Cast{ElementType::kInt64}, {flat}, "counts")}, "counts");
  const ValueId from = call.step(Reshape{}, {source, call.int_vector({-1})}, "source");
  const ValueId taken = call.step(Gather{GatherKind::kSlices, 0, 0}, {from, counts}, "taken");
  return call.emit(Where{}, {mask, call.step(Reshape{.allow_zero = true}, {taken, shape}, "taken"), x});
}

// How many elements fall into each bin: every element is added to its place.
Result<void> lower_histc(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const Integer bins, call.integer("bins", 100));
  const ValueId flat = call.step(Reshape{}, {x, call.int_vector({-1})}, "flat");
  const ValueId places = call.step(Cast{ElementType::kInt64}, {flat}, "places");
  const ElementType element = call.guess(x).element;
  if (element == ElementType::kUnknown) return unsupported("of an unknown element type");
  const ValueId zeros = call.step(Fill{element, 0.0}, {call.vector({bins})}, "zeros");
  return call.emit(Scatter{GatherKind::kElements, 0}, {zeros, places, flat});
}

namespace {

// Writes `source`, whose axis `dim` has one entry a row, to `rows` [n] of that axis. Other axes are turned away first.
Result<void> write_rows(Call& call, ValueId x, std::int64_t dim, ValueId rows, ValueId source) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::int64_t axis = dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return call.wrong("dim", "is no axis");
  return call.emit(Scatter{GatherKind::kSlices, axis}, {x, rows, source});
}

}  // namespace

Result<void> lower_select_scatter(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId source, call.tensor("src"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  JC_ASSIGN_OR_RETURN(const Integer place, call.integer("index", 0));
  return write_rows(call, x, axis, call.scalar(place), source);
}

// The rows of the slice are those of a range cut in the same way.
Result<void> lower_slice_scatter(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId source, call.tensor("src"));
  JC_ASSIGN_OR_RETURN(const std::int64_t dim, call.number("dim", 0));
  JC_ASSIGN_OR_RETURN(const Integer start, call.integer("start", 0));
  JC_ASSIGN_OR_RETURN(const Integer end, call.integer("end", kMaxElements));
  JC_ASSIGN_OR_RETURN(const std::int64_t step, call.number("step", 1));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::int64_t axis = dim < 0 ? dim + static_cast<std::int64_t>(rank) : dim;
  if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) return call.wrong("dim", "is no axis");
  const ValueId length = call.extent(x, static_cast<std::size_t>(axis));
  const ValueId all = call.step(Range{}, {call.int_scalar(0), length, call.int_scalar(1)}, "all");
  const ValueId rows = call.step(
      Slice{}, {all, call.vector({start}), call.vector({end}), call.int_vector({0}), call.int_vector({step})}, "rows");
  return write_rows(call, x, axis, rows, source);
}

Result<void> lower_one_hot(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t depth, call.number("num_classes", -1));
  if (depth < 0) return unsupported("the number of classes depends on data");
  return call.emit(OneHot{-1, depth, ElementType::kInt64}, {x});
}

Result<void> lower_top_k(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const Integer k, call.integer("k", 1));
  TopK op;
  JC_ASSIGN_OR_RETURN(op.axis, call.number("dim", -1));
  if (k.symbolic()) return call.emit(op, {x, call.vector({k})}, 2);
  op.k = k.value;
  return call.emit(op, {x}, 2);
}

namespace {

// The whole axis as k.
Result<ValueId> whole_axis(Call& call, ValueId x, std::int64_t axis) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::int64_t counted = axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis;
  if (counted < 0 || counted >= static_cast<std::int64_t>(rank)) return call.wrong("dim", "is no axis");
  return call.step(ShapeOf{counted, counted + 1, false}, {x}, "length");
}

}  // namespace

Result<void> lower_sort(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", -1));
  JC_ASSIGN_OR_RETURN(const ValueId length, whole_axis(call, x, axis));
  return call.emit(TopK{axis, std::nullopt}, {x, length}, 2);
}

Result<void> lower_argsort(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim", -1));
  JC_ASSIGN_OR_RETURN(const ValueId length, whole_axis(call, x, axis));
  return call.alias(0, call.steps(TopK{axis, std::nullopt}, {x, length}, 2, "sorted")[1]);
}

Result<void> lower_cumulate(Call& call) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("dim"));
  if (call.any_used_after(0)) return call.opaque();  // the places of running maxima
  const auto& declared = call.declared(0);
  if (call.guess(x).element == ElementType::kBool) x = call.step(Cast{ElementType::kInt64}, {x}, "whole");
  if (declared && declared->element != call.guess(x).element) x = call.step(Cast{declared->element}, {x}, "cast");
  return call.emit(Cumulate{axis}, {x});
}

Result<void> lower_triangle(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  return call.emit(Triangle{}, {x});
}

}  // namespace joulecast::aten
