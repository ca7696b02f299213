// SPDX-License-Identifier: Apache-2.0
// Operations of keras.ops that move, part and join.
#include <algorithm>
#include <numeric>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

Result<std::int64_t> counted_from_front(LayerContext& layer, std::int64_t axis, std::size_t rank) {
  const auto place = tensorflow::axis_of(axis, rank);
  if (!place) return layer.wrong("axis", "is none of the input");
  return static_cast<std::int64_t>(*place);
}

Result<void> transposed(LayerContext& layer, IntList order) {
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Transpose", {layer.input(), layer.ints(std::move(order))}));
  return layer.finish(out);
}

Result<void> finish_all(LayerContext& layer, const std::vector<Tensor>& parts) {
  for (std::size_t i = 0; i < parts.size(); ++i) JC_RETURN_IF_ERROR(layer.finish(parts[i], i));
  return {};
}

}  // namespace

// Extents that a program did not know when it was built are null: that of the input at the same place.
Result<void> lower_new_shape(LayerContext& layer) {
  const Json* given = layer.config().find("newshape");
  if (given == nullptr) return layer.opaque();
  if (given->is(JsonKind::kArray) && given->members().size() > kMaxRank) return layer.wrong("newshape", "is too long");
  IntList target;
  bool copies = false;
  for (const JsonMember& member : given->members()) {
    const bool open = member.value.is(JsonKind::kNull);
    copies = copies || open;
    target.push_back(open ? 0 : member.value.whole());
  }
  if (given->is(JsonKind::kInteger)) target = {given->whole()};
  if (copies) return layer.finish(layer.add(Reshape{}, {layer.plain(layer.input()), layer.plain(layer.ints(target))}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Reshape", {layer.input(), layer.ints(std::move(target))}));
  return layer.finish(out);
}

Result<void> lower_ravel(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Reshape", {layer.input(), layer.ints({-1})}));
  return layer.finish(out);
}

// Without an order the axes stand the other way round.
Result<void> lower_transpose(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList order, layer.integers("axes"));
  if (order.empty()) {
    JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
    order.resize(rank);
    std::iota(order.rbegin(), order.rend(), 0);
  }
  return transposed(layer, std::move(order));
}

Result<void> lower_swap_axes(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  IntList order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::vector<std::size_t> places;
  for (const std::string_view key : {"axis1", "axis2"}) {
    JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer(key, 0));
    JC_ASSIGN_OR_RETURN(const std::int64_t place, counted_from_front(layer, axis, rank));
    places.push_back(static_cast<std::size_t>(place));
  }
  std::swap(order[places[0]], order[places[1]]);
  return transposed(layer, std::move(order));
}

// The axes of `source` become those of `destination`; the others keep their order.
Result<void> lower_move_axis(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  JC_ASSIGN_OR_RETURN(IntList from, layer.integers("source"));
  JC_ASSIGN_OR_RETURN(IntList to, layer.integers("destination"));
  if (from.size() != to.size()) return layer.wrong("destination", "has another length than 'source'");
  IntList order(rank, -1);
  for (std::size_t i = 0; i < from.size(); ++i) {
    JC_ASSIGN_OR_RETURN(from[i], counted_from_front(layer, from[i], rank));
    JC_ASSIGN_OR_RETURN(to[i], counted_from_front(layer, to[i], rank));
    order[static_cast<std::size_t>(to[i])] = from[i];
  }
  std::int64_t next = 0;
  for (std::int64_t& axis : order) {
    if (axis >= 0) continue;
    while (std::find(from.begin(), from.end(), next) != from.end()) ++next;
    axis = next++;
  }
  return transposed(layer, std::move(order));
}

Result<void> lower_expand_dims(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList axes, layer.integers("axis"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  for (std::int64_t& axis : axes) {
    JC_ASSIGN_OR_RETURN(axis, counted_from_front(layer, axis, rank + axes.size()));
  }
  std::sort(axes.begin(), axes.end());
  Tensor out = layer.input();
  for (const std::int64_t axis : axes) {
    JC_ASSIGN_OR_RETURN(out, layer.apply("ExpandDims", {out, layer.ints({axis})}));
  }
  return layer.finish(out);
}

Result<void> lower_squeeze(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList axes, layer.integers("axis"));
  Attributes attributes;
  if (!axes.empty()) attributes.list("squeeze_dims", axes);
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Squeeze", {layer.input()}, std::move(attributes)));
  return layer.finish(out);
}

Result<void> lower_stack(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", 0));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Pack", layer.operands(), Attributes().integer("axis", axis)));
  return layer.finish(out);
}

Result<void> lower_unstack(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", 0));
  JC_ASSIGN_OR_RETURN(const std::int64_t count, layer.extent(layer.input(), axis));
  JC_ASSIGN_OR_RETURN(const auto parts, layer.apply_all("Unpack", {layer.input()},
                                                        Attributes().integer("num", count).integer("axis", axis),
                                                        static_cast<std::size_t>(count)));
  return finish_all(layer, parts);
}

// Into as many equal parts, or at these places.
Result<void> lower_split(LayerContext& layer) {
  constexpr std::int64_t kMostParts = 10'000;
  JC_ASSIGN_OR_RETURN(const IntList places, layer.integers("indices_or_sections"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", 0));
  const Json* given = layer.config().find("indices_or_sections");
  if (given == nullptr) return layer.opaque();
  IntList sizes;
  if (given->is(JsonKind::kInteger)) {
    JC_ASSIGN_OR_RETURN(const std::int64_t extent, layer.extent(layer.input(), axis));
    if (places[0] < 1 || places[0] > kMostParts || extent % places[0] != 0)
      return layer.wrong("indices_or_sections", "does not part the axis");
    sizes.assign(static_cast<std::size_t>(places[0]), extent / places[0]);
  } else {
    std::int64_t last = 0;
    for (const std::int64_t place : places) {
      if (place < last) return layer.wrong("indices_or_sections", "goes back");
      sizes.push_back(place - last);
      last = place;
    }
    sizes.push_back(-1);
  }
  const std::size_t count = sizes.size();
  JC_ASSIGN_OR_RETURN(const auto parts,
                      layer.apply_all("SplitV", {layer.input(), layer.ints(std::move(sizes)), layer.ints({axis})},
                                      Attributes().integer("num_split", static_cast<std::int64_t>(count)), count));
  return finish_all(layer, parts);
}

// Where it begins is an argument, how long it is stands in the configuration.
Result<void> lower_slice(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList sizes, layer.integers("shape"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  const Json* start = layer.argument(1, "start_indices");
  IntList begin;
  for (std::size_t i = 0; start != nullptr && i < std::min(start->members().size(), rank); ++i) {
    begin.push_back(start->members()[i].value.whole());
  }
  if (sizes.size() != rank || begin.size() != rank) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Slice", {layer.input(), layer.ints(begin), layer.ints(sizes)}));
  return layer.finish(out);
}

Result<void> lower_take(LayerContext& layer) {
  std::vector<Tensor> all = layer.operands();
  JC_ASSIGN_OR_RETURN(const IntList axis, layer.integers("axis"));
  if (all.size() != 2 || axis.size() != 1) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("GatherV2", {all[0], all[1], layer.ints(axis)}));
  return layer.finish(out);
}

Result<void> lower_pad(LayerContext& layer) {
  const Json* widths = layer.config().find("pad_width");
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (widths == nullptr) return layer.wrong("pad_width", "is missing");
  IntList pairs;
  for (std::size_t i = 0; i < rank; ++i) {
    // One number or pair is for all axes.
    const auto members = widths->members();
    const bool each = members.size() == rank && members[0].value.is(JsonKind::kArray);
    const Json& one = each ? members[i].value : members.size() == 1 ? members[0].value : *widths;
    const auto pair = one.members();
    if (pair.size() != 2 && !one.is(JsonKind::kInteger)) return layer.opaque();
    pairs.push_back(pair.empty() ? one.whole() : pair[0].value.whole());
    pairs.push_back(pair.empty() ? one.whole() : pair[1].value.whole());
  }
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Pad", {layer.input(), layer.matrix(pairs, 2)}));
  return layer.finish(out);
}

Result<void> lower_flip(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList axes, layer.integers("axis"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  for (std::size_t i = 0; axes.size() < rank && layer.config().find("axis") == nullptr; ++i) {
    axes.push_back(static_cast<std::int64_t>(i));
  }
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("ReverseV2", {layer.input(), layer.ints(axes)}));
  return layer.finish(out);
}

Result<void> lower_roll(LayerContext& layer) {
  Roll op;
  JC_ASSIGN_OR_RETURN(op.shifts, layer.integers("shift"));
  JC_ASSIGN_OR_RETURN(const IntList axes, layer.integers("axis"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (axes.empty() || axes.size() != op.shifts.size()) return layer.opaque();
  const Tensor& x = layer.input();
  for (const std::int64_t axis : axes) {
    JC_ASSIGN_OR_RETURN(const std::int64_t place, counted_from_front(layer, axis, rank));
    op.axes.push_back(static_cast<std::int64_t>(x.layout.in_value(static_cast<std::size_t>(place))));
  }
  return layer.finish(layer.add(std::move(op), {layer.node().canvas().arranged(x, x.layout)}, x.layout));
}

Result<void> lower_tile(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList repeats, layer.integers("repeats"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (repeats.size() > rank) return layer.opaque();
  repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Tile", {layer.input(), layer.ints(std::move(repeats))}));
  return layer.finish(out);
}

// Each entry along the axis as often, one copy behind the other.
Result<void> lower_repeat(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList repeats, layer.integers("repeats"));
  JC_ASSIGN_OR_RETURN(const IntList axes, layer.integers("axis"));
  const auto shape = layer.extents(layer.input());
  if (!shape || repeats.size() != 1 || axes.size() != 1) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, counted_from_front(layer, axes[0], shape->size()));
  const auto place = static_cast<std::size_t>(axis);
  if ((*shape)[place] < 0 || repeats[0] < 1 || std::count(shape->begin(), shape->end(), -1) > 1) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor apart, layer.apply("ExpandDims", {layer.input(), layer.ints({axis + 1})}));
  IntList copies(shape->size() + 1, 1);
  copies[place + 1] = repeats[0];
  JC_ASSIGN_OR_RETURN(const Tensor copied, layer.apply("Tile", {apart, layer.ints(std::move(copies))}));
  IntList joined(shape->begin(), shape->end());
  if (joined[place] > kMaxElements / repeats[0]) return layer.wrong("repeats", "is absurd");
  joined[place] *= repeats[0];
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Reshape", {copied, layer.ints(std::move(joined))}));
  return layer.finish(out);
}

// Open extents are those of the input.
Result<void> lower_broadcast_to(LayerContext& layer) {
  const Json* given = layer.config().find("shape");
  if (given == nullptr || given->members().empty() || given->members().size() > kMaxRank) return layer.opaque();
  IntList target;
  for (const JsonMember& member : given->members()) {
    const bool known = member.value.is(JsonKind::kInteger) && member.value.whole() >= 0;
    target.push_back(known ? member.value.whole() : 1);
  }
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("BroadcastTo", {layer.input(), layer.ints(std::move(target))}));
  return layer.finish(out);
}

}  // namespace joulecast::keras
