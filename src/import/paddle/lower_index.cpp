// SPDX-License-Identifier: Apache-2.0
// Gathering, scattering, sorting, reducing.
#include <fmt/format.h>

#include "import/paddle/lowerings.h"

namespace joulecast::paddle {

// Paddle 1's: places stand in a last axis of 1.
Result<void> lower_lookup_table(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId table, call.tensor("weight"));
  JC_ASSIGN_OR_RETURN(const ValueId places, call.tensor("indices"));
  return call.emit(Embedding{}, {table, call.step(Squeeze{{-1}}, {places}, "places")});
}

Result<void> lower_gather(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId index, call.tensor("index"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("axis", 0));
  // Paddle takes a column of places for a vector of them.
  const bool column =
      call.guess(index).rank == 2U && call.declared(0) && call.guess(x).rank == call.declared(0)->shape.size();
  const ValueId places = column ? call.step(Squeeze{{1}}, {index}, "places") : index;
  return call.emit(Gather{GatherKind::kSlices, axis, 0}, {x, places});
}

Result<void> lower_gather_nd(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId index, call.tensor("index"));
  return call.emit(Gather{GatherKind::kNd, 0, 0}, {x, index});
}

Result<void> lower_index_sample(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId index, call.tensor("index"));
  return call.emit(Gather{GatherKind::kElements, 1, 0}, {x, index});
}

// Rows of x are replaced, or added to.
Result<void> lower_scatter_rows(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId index, call.tensor("index"));
  JC_ASSIGN_OR_RETURN(const ValueId updates, call.tensor("updates"));
  return call.emit(Scatter{GatherKind::kSlices, 0}, {x, index, updates});
}

Result<void> lower_scatter_nd(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId index, call.tensor("index"));
  JC_ASSIGN_OR_RETURN(const ValueId updates, call.tensor("updates"));
  return call.emit(Scatter{GatherKind::kNd, 0}, {x, index, updates});
}

Result<void> lower_one_hot(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::int64_t depth, call.number("num_classes", -1));
  if (depth < 0) return unsupported("the number of classes depends on data");
  return call.emit(OneHot{-1, depth, ElementType::kFloat32}, {x});
}

namespace {

// No axes, or reduce_all: all of them.
Result<IntList> reduced_axes(const Call& call) {
  JC_ASSIGN_OR_RETURN(const bool all, call.flag("reduce_all", false));
  if (all) return IntList{};
  return call.numbers("axis");
}

bool is_sum(ReduceKind kind) {
  return kind == ReduceKind::kSum || kind == ReduceKind::kMean || kind == ReduceKind::kProd;
}

}  // namespace

// Sums of bools and small integers are of the type that the file declares.
Result<void> lower_reduce_of(Call& call, ReduceKind kind) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(IntList axes, reduced_axes(call));
  JC_ASSIGN_OR_RETURN(const bool keep, call.flag("keepdim", false));
  const auto& declared = call.declared(0);
  const bool other =
      declared && declared->element != ElementType::kUnknown && declared->element != call.guess(x).element;
  if (is_sum(kind) && other) x = call.step(Cast{declared->element}, {x}, "cast");
  return call.emit(Reduce{kind, std::move(axes), keep, false}, {x});
}

Result<void> lower_arg_of(Call& call, ReduceKind kind) {
  JC_ASSIGN_OR_RETURN(ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(std::int64_t axis, call.number("axis", 0));
  JC_ASSIGN_OR_RETURN(const bool keep, call.flag("keepdims", false));
  JC_ASSIGN_OR_RETURN(const bool flat, call.flag("flatten", false));
  if (flat && !keep) {
    x = call.step(Reshape{}, {x, call.int_vector({-1})}, "flat");
    axis = 0;
  } else if (flat) {
    return unsupported("of all axes, which stay");
  }
  return call.emit(Reduce{kind, {axis}, keep, false}, {x});
}

// Values and places.
Result<void> lower_argsort(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("axis", -1));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  JC_ASSIGN_OR_RETURN(const std::size_t at, axis_of(call, "axis", axis, rank));
  const auto begin = static_cast<std::int64_t>(at);
  const ValueId length = call.step(ShapeOf{begin, begin + 1, false}, {x}, "length");
  return call.emit(TopK{begin, std::nullopt}, {x, length}, 2);
}

Result<void> lower_cumulate(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("axis", -1));
  JC_ASSIGN_OR_RETURN(const bool flat, call.flag("flatten", false));
  if (flat) return call.emit(Cumulate{0}, {call.step(Reshape{}, {x, call.int_vector({-1})}, "flat")});
  return call.emit(Cumulate{axis}, {x});
}

}  // namespace joulecast::paddle
