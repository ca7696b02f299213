// SPDX-License-Identifier: Apache-2.0
// Other extents for the same elements, parts of tensors, and tensors made from nothing.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "import/paddle/lowerings.h"

namespace joulecast::paddle {

Result<ValueId> vector_of(Call& call, std::string_view name) {
  if (call.is<ValueId>(name)) return call.tensor(name);
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> list, call.integers(name));
  return call.vector(list);
}

Result<std::size_t> axis_of(const Call& call, std::string_view name, std::int64_t axis, std::size_t rank) {
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  if (axis < -count || axis >= count) return call.wrong(name, fmt::format("is {}, of {} axes", axis, rank));
  return static_cast<std::size_t>(axis < 0 ? axis + count : axis);
}

// 0 copies an extent, as for ours.
Result<void> lower_reshape(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  if (!call.has("shape")) return call.wrong("shape", "is missing");
  JC_ASSIGN_OR_RETURN(const ValueId shape, vector_of(call, "shape"));
  return call.emit(Reshape{}, {x, shape});
}

// Paddle 1's: always a matrix.
Result<void> lower_flatten_to_matrix(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("axis", 1));
  return call.emit(Flatten{axis, std::nullopt}, {x});
}

// Axes that are longer than 1 stay: only what the file declares tells.
Result<void> lower_squeeze(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const IntList axes, call.numbers("axis"));
  const auto rank = call.guess(x).rank;
  const auto& declared = call.declared(0);
  if (declared && rank && declared->shape.size() == *rank) return call.alias(0, x);
  return call.emit(Squeeze{axes}, {x});
}

Result<void> lower_unsqueeze(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(IntList axes, call.numbers("axis"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  if (axes.empty()) return call.alias(0, x);
  if (rank + axes.size() > kMaxRank) return call.wrong("axis", "has too many entries");
  if (axes.size() == 1) return call.emit(Unsqueeze{axes}, {x});
  // One after the other, each counted in what is there by then: from the front they may stand together.
  for (std::size_t i = 0; i < axes.size(); ++i) {
    JC_ASSIGN_OR_RETURN(const std::size_t at, axis_of(call, "axis", axes[i], rank + i + 1));
    for (std::size_t before = 0; before < i; ++before) {
      if (axes[before] >= static_cast<std::int64_t>(at)) ++axes[before];
    }
    axes[i] = static_cast<std::int64_t>(at);
  }
  std::sort(axes.begin(), axes.end());
  return call.emit(Unsqueeze{std::move(axes)}, {x});
}

Result<void> lower_shape(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  return call.emit(ShapeOf{}, {x});
}

namespace {

// One size of -1 is the rest.
Result<std::vector<Integer>> sizes_of(Call& call, ValueId x, std::size_t axis) {
  JC_ASSIGN_OR_RETURN(std::vector<Integer> sizes, call.integers("sections"));
  if (sizes.size() != call.output_count()) {
    return invalid(fmt::format("{} sizes for {} outputs", sizes.size(), call.output_count()));
  }
  const auto open =
      std::find_if(sizes.begin(), sizes.end(), [](const Integer& n) { return !n.symbolic() && n.value < 0; });
  if (open == sizes.end()) return sizes;
  ValueId rest = call.extent(x, axis);
  for (auto one = sizes.begin(); one != sizes.end(); ++one) {
    if (one == open) continue;
    if (!one->symbolic() && one->value < 0) return call.wrong("sections", "leaves more than one size open");
    rest = call.step(Binary{BinaryKind::kSub}, {rest, call.scalar(*one)}, "rest");
  }
  *open = Integer{0, rest};
  return sizes;
}

}  // namespace

Result<void> lower_split(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, call.number("axis", 0));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  JC_ASSIGN_OR_RETURN(const std::size_t at, axis_of(call, "axis", axis, rank));
  if (call.output_count() == 1) return call.alias(0, x);
  Split op{static_cast<std::int64_t>(at), {}};
  if (call.is<ValueId>("sections")) return unsupported("at places that are computed");
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> given, call.integers("sections"));
  if (given.empty()) return call.emit(std::move(op), {x}, call.output_count());
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> sizes, sizes_of(call, x, at));
  const bool plain = std::none_of(sizes.begin(), sizes.end(), [](const Integer& n) { return n.symbolic(); });
  if (!plain) return call.emit(std::move(op), {x, call.vector(sizes)}, call.output_count());
  for (const Integer& size : sizes) op.sizes.push_back(size.value);
  return call.emit(std::move(op), {x}, call.output_count());
}

// slice and strided_slice; axes in decrease_axis, of which one entry is taken, go.
Result<void> lower_slice(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(const IntList axes, call.numbers("axes"));
  JC_ASSIGN_OR_RETURN(const IntList gone, call.numbers("decrease_axis"));
  JC_ASSIGN_OR_RETURN(const ValueId starts, vector_of(call, "starts"));
  JC_ASSIGN_OR_RETURN(const ValueId ends, vector_of(call, "ends"));
  JC_ASSIGN_OR_RETURN(const ValueId steps,
                      call.has("strides") ? vector_of(call, "strides") : Result<ValueId>(kNoValue));
  if (axes.empty()) return call.wrong("axes", "is empty");
  std::vector<ValueId> inputs{x, starts, ends, call.int_vector(axes), steps};
  if (gone.empty()) return call.emit(Slice{}, std::move(inputs));
  return call.emit(Squeeze{gone}, {call.step(Slice{}, std::move(inputs), "slice")});
}

// An extent of -1 keeps the input's, as 1 does for Expand.
Result<void> lower_expand(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  if (call.is<ValueId>("shape")) {
    JC_ASSIGN_OR_RETURN(const ValueId shape, call.tensor("shape"));
    return call.emit(Expand{}, {x, shape});
  }
  JC_ASSIGN_OR_RETURN(std::vector<Integer> shape, call.integers("shape"));
  for (Integer& extent : shape) {
    if (!extent.symbolic() && extent.value < 0) extent.value = 1;
  }
  return call.emit(Expand{}, {x, call.vector(shape)});
}

// To the shape of another tensor, or to one that is written down.
Result<void> lower_expand_as(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const ValueId like, call.optional_tensor("y"));
  if (like != kNoValue) return call.emit(Expand{}, {x, call.step(ShapeOf{}, {like}, "shape")});
  JC_ASSIGN_OR_RETURN(IntList shape, call.numbers("target_shape"));
  for (std::int64_t& extent : shape) extent = std::max<std::int64_t>(extent, 1);
  return call.emit(Expand{}, {x, call.int_vector(shape)});
}

Result<void> lower_tile(Call& call) {
  if (!call.is<ValueId>("repeats")) return aten::lower_repeat(call);
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("self"));
  JC_ASSIGN_OR_RETURN(const ValueId repeats, call.tensor("repeats"));
  const bool fits = call.guess(x).rank && call.guess(repeats).length == call.guess(x).rank;
  if (!fits) return unsupported("repeats of unknown length");
  return call.emit(Tile{}, {x, repeats});
}

// pad2d, pad3d: [left, right, top, bottom, front, back], Paddle 1's pad2d the other way round.
Result<void> lower_pad(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> pairs, call.integers("paddings"));
  JC_ASSIGN_OR_RETURN(const std::string_view format, call.text("data_format", "NCDHW"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(x));
  const std::size_t axes = pairs.size() / 2;
  if (pairs.size() % 2 != 0 || axes + 2 != rank) {
    return call.wrong("paddings", fmt::format("has {} entries for {} axes", pairs.size(), rank));
  }
  const std::size_t last = format.ends_with('C') ? rank - 2 : rank - 1;
  std::vector<Integer> pads(2 * rank);
  const bool from_first = call.target() == "pad2d";
  for (std::size_t i = 0; i < axes; ++i) {
    const std::size_t axis = from_first ? last - axes + 1 + i : last - i;
    pads[axis] = pairs[2 * i];
    pads[rank + axis] = pairs[2 * i + 1];
  }
  return call.emit(Pad{}, {x, call.vector(pads)});
}

// pad: before and behind of every axis.
Result<void> lower_pad_axes(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId x, call.tensor("x"));
  JC_ASSIGN_OR_RETURN(const std::vector<Integer> pairs, call.integers("paddings"));
  std::vector<Integer> pads(pairs.size());
  if (pairs.size() % 2 != 0 || pairs.empty())
    return call.wrong("paddings", fmt::format("has {} entries", pairs.size()));
  for (std::size_t i = 0; i < pairs.size(); ++i) pads[i / 2 + (i % 2 == 0 ? 0 : pairs.size() / 2)] = pairs[i];
  return call.emit(Pad{}, {x, call.vector(pads)});
}

namespace {

// The attribute, else what the file declares.
Result<ElementType> made_element(const Call& call) {
  JC_ASSIGN_OR_RETURN(ElementType out, call.element("dtype", ElementType::kUnknown));
  if (out == ElementType::kUnknown && call.declared(0)) out = call.declared(0)->element;
  if (out == ElementType::kUnknown) return unsupported("of an unknown element type");
  return out;
}

// A computed number is one nobody knows: 0.
double filled(const Call& call) {
  const auto value = call.real("value", 0.0);
  return value ? *value : 0.0;
}

}  // namespace

// full and random tensors of a shape that may be computed.
Result<void> lower_full(Call& call) {
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call));
  JC_ASSIGN_OR_RETURN(const ValueId shape, vector_of(call, "shape"));
  return call.emit(Fill{element, filled(call)}, {shape});
}

// The shape, but for one extent that is the input's.
Result<void> lower_full_batch_size_like(Call& call) {
  JC_ASSIGN_OR_RETURN(const ValueId like, call.tensor("input"));
  JC_ASSIGN_OR_RETURN(std::vector<Integer> shape, call.integers("shape"));
  JC_ASSIGN_OR_RETURN(const std::int64_t from, call.number("input_dim_idx", 0));
  JC_ASSIGN_OR_RETURN(const std::int64_t to, call.number("output_dim_idx", 0));
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, call.rank(like));
  JC_ASSIGN_OR_RETURN(const std::size_t axis, axis_of(call, "input_dim_idx", from, rank));
  if (to < 0 || static_cast<std::size_t>(to) >= shape.size()) return call.wrong("output_dim_idx", "is no axis");
  shape[static_cast<std::size_t>(to)] = Integer{0, call.extent(like, axis)};
  return call.emit(Fill{element, filled(call)}, {call.vector(shape)});
}

Result<void> lower_linspace(Call& call) {
  JC_ASSIGN_OR_RETURN(const Integer count, call.integer("number", 100));
  JC_ASSIGN_OR_RETURN(const ElementType element, made_element(call));
  return call.emit(Fill{element, 0.0}, {call.vector({count})});
}

}  // namespace joulecast::paddle
