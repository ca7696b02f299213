// SPDX-License-Identifier: Apache-2.0
// What moves, cuts and joins, and what passes through.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

std::optional<std::int64_t> known_product(const Shape& shape, std::size_t first) {
  std::int64_t out = 1;
  for (std::size_t i = first; i < shape.size(); ++i) {
    if (shape[i] < 0) return std::nullopt;
    out *= shape[i];
  }
  return out;
}

// Pairs of what stands before and behind each axis of the image: a number, a number for each axis, or pairs.
Result<IntList> read_pairs(LayerContext& layer, std::string_view key, std::size_t axes) {
  const Json* found = layer.config().find(key);
  if (found == nullptr) return layer.wrong(key, "is missing");
  IntList out;
  const auto add = [&](const Json& value) {
    out.push_back(value.whole());
    return value.is(JsonKind::kInteger) && value.whole() >= 0 && value.whole() <= (std::int64_t{1} << 32);
  };
  bool good = true;
  if (found->is(JsonKind::kInteger)) {
    for (std::size_t i = 0; i < 2 * axes; ++i) good = good && add(*found);
  }
  const auto members = found->members();
  const bool flat_pair = axes == 1 && members.size() == 2 && members[0].value.is(JsonKind::kInteger);
  for (std::size_t i = 0; i < std::min<std::size_t>(members.size(), 3); ++i) {
    const Json& one = members[i].value;
    if (one.is(JsonKind::kArray)) {
      for (std::size_t j = 0; j < std::min<std::size_t>(one.members().size(), 3); ++j)
        good = good && add(one.members()[j].value);
    } else {
      good = good && add(one);
      if (!flat_pair) out.push_back(one.whole());
    }
  }
  if (!good || out.size() != 2 * axes) return layer.wrong(key, fmt::format("does not fit {} axes", axes));
  return out;
}

// The pairs of the image with those of batch and channels.
IntList with_ends(const IntList& pairs, bool first) {
  IntList out{0, 0};
  if (first) out.insert(out.end(), {0, 0});
  out.insert(out.end(), pairs.begin(), pairs.end());
  if (!first) out.insert(out.end(), {0, 0});
  return out;
}

Result<void> zero_padding(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const IntList pairs, read_pairs(layer, "padding", axes));
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Pad", {layer.input(), layer.matrix(with_ends(pairs, first), 2)}));
  return layer.finish(out);
}

Result<void> cropping(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const IntList pairs, read_pairs(layer, "cropping", axes));
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  const IntList all = with_ends(pairs, first);
  IntList begin, end;
  std::int64_t to_the_end = 0;
  for (std::size_t i = 0; 2 * i < all.size(); ++i) {
    begin.push_back(all[2 * i]);
    end.push_back(-all[2 * i + 1]);
    if (all[2 * i + 1] == 0) to_the_end |= std::int64_t{1} << i;
  }
  const IntList steps(begin.size(), 1);
  JC_ASSIGN_OR_RETURN(
      const Tensor out,
      layer.apply("StridedSlice", {layer.input(), layer.ints(begin), layer.ints(end), layer.ints(steps)},
                  Attributes().integer("end_mask", to_the_end)));
  return layer.finish(out);
}

Result<void> up_sampling(LayerContext& layer, std::size_t axes) {
  JC_ASSIGN_OR_RETURN(const IntList size, layer.per_axis("size", axes, 2));
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const std::string_view kind, layer.text("interpolation", "nearest"));
  Resize op;
  op.kind = kind == "nearest" ? ResizeKind::kNearest : kind == "bicubic" ? ResizeKind::kCubic : ResizeKind::kLinear;
  Contents scales;
  for (std::size_t i = 0; i < axes; ++i) {
    op.axes.push_back(static_cast<std::int64_t>(i + 2));
    scales.reals.push_back(static_cast<double>(size[i]));
  }
  const ImageLayout layout = first ? ImageLayout{} : ImageLayout::channels_first(axes + 2);
  tensorflow::Canvas& canvas = layer.node().canvas();
  const TensorType type{ElementType::kFloat32, Shape{static_cast<std::int64_t>(axes)}};
  const ValueId factors = canvas.add_constant(layer.node().output_name(0) + "/factors", type, std::move(scales));
  return layer.finish(layer.add(std::move(op), {canvas.arranged(layer.input(), layout), factors}, layout));
}

}  // namespace

Result<void> lower_zero_padding_1d(LayerContext& layer) {
  return zero_padding(layer, 1);
}
Result<void> lower_zero_padding_2d(LayerContext& layer) {
  return zero_padding(layer, 2);
}
Result<void> lower_zero_padding_3d(LayerContext& layer) {
  return zero_padding(layer, 3);
}
Result<void> lower_cropping_1d(LayerContext& layer) {
  return cropping(layer, 1);
}
Result<void> lower_cropping_2d(LayerContext& layer) {
  return cropping(layer, 2);
}
Result<void> lower_cropping_3d(LayerContext& layer) {
  return cropping(layer, 3);
}
Result<void> lower_up_sampling_1d(LayerContext& layer) {
  return up_sampling(layer, 1);
}
Result<void> lower_up_sampling_2d(LayerContext& layer) {
  return up_sampling(layer, 2);
}
Result<void> lower_up_sampling_3d(LayerContext& layer) {
  return up_sampling(layer, 3);
}

namespace {

// To one size, whatever comes in.
Result<void> resized(LayerContext& layer, std::int64_t height, std::int64_t width) {
  JC_ASSIGN_OR_RETURN(const std::string_view kind, layer.text("interpolation", "bilinear"));
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (first || rank != 4) return layer.opaque();
  const std::string_view op = kind == "nearest"   ? "ResizeNearestNeighbor"
                              : kind == "bicubic" ? "ResizeBicubic"
                                                  : "ResizeBilinear";
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply(op, {layer.input(), layer.ints({height, width})}));
  return layer.finish(out);
}

}  // namespace

// The middle of an image that is large enough; another is resized first, to its shorter side.
Result<void> lower_center_crop(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t height, layer.integer("height"));
  JC_ASSIGN_OR_RETURN(const std::int64_t width, layer.integer("width"));
  JC_ASSIGN_OR_RETURN(const bool first, layer.channels_first());
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (rank != 4) return layer.opaque();
  IntList begin(rank, 0);
  IntList size(rank, -1);
  for (const auto& [axis, extent] : {std::pair(first ? 2 : 1, height), std::pair(first ? 3 : 2, width)}) {
    JC_ASSIGN_OR_RETURN(const std::int64_t whole, layer.extent(layer.input(), axis));
    if (whole < extent) return resized(layer, height, width);
    begin[static_cast<std::size_t>(axis)] = (whole - extent) / 2;
    size[static_cast<std::size_t>(axis)] = extent;
  }
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Slice", {layer.input(), layer.ints(begin), layer.ints(size)}));
  return layer.finish(out);
}

Result<void> lower_resizing(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t height, layer.integer("height"));
  JC_ASSIGN_OR_RETURN(const std::int64_t width, layer.integer("width"));
  return resized(layer, height, width);
}

// The operation.
Result<void> lower_resize(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList size, layer.per_axis("size", 2, 1));
  return resized(layer, size[0], size[1]);
}

Result<void> lower_flatten(LayerContext& layer) {
  const auto shape = layer.extents(layer.input());
  if (shape && shape->size() == 2) return layer.finish(layer.input());
  const auto product = shape ? known_product(*shape, 1) : std::nullopt;
  if (!product) return layer.finish(layer.add(Flatten{}, {layer.plain(layer.input())}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Reshape", {layer.input(), layer.ints({-1, *product})}));
  return layer.finish(out);
}

// The batch stays; -1 follows from the rest.
Result<void> lower_reshape(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList target, layer.integers("target_shape"));
  const auto shape = layer.extents(layer.input());
  const auto product = shape ? known_product(*shape, 1) : std::nullopt;
  const auto open = std::find(target.begin(), target.end(), -1);
  std::int64_t known = 1;
  for (const std::int64_t extent : target) {
    if (extent == 0 || extent < -1) return layer.wrong("target_shape", fmt::format("has the entry {}", extent));
    if (extent > 0 && known > kMaxElements / extent) return layer.wrong("target_shape", "is absurd");
    if (extent > 0) known *= extent;
  }
  if (open != target.end() && product) *open = *product / known;
  const bool resolved = std::count(target.begin(), target.end(), -1) == 0;
  if (!resolved) {
    target.insert(target.begin(), 0);  // that of the input
    return layer.finish(layer.add(Reshape{}, {layer.plain(layer.input()), layer.plain(layer.ints(target))}));
  }
  target.insert(target.begin(), -1);
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Reshape", {layer.input(), layer.ints(target)}));
  return layer.finish(out);
}

// Axes count from 1, behind the batch.
Result<void> lower_permute(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList order, layer.integers("dims"));
  order.insert(order.begin(), 0);
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Transpose", {layer.input(), layer.ints(std::move(order))}));
  return layer.finish(out);
}

Result<void> lower_repeat_vector(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t count, layer.integer("n"));
  JC_ASSIGN_OR_RETURN(const Tensor row, layer.apply("ExpandDims", {layer.input(), layer.ints({1})}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Tile", {row, layer.ints({1, count, 1})}));
  return layer.finish(out);
}

Result<void> lower_concatenate(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", -1));
  std::vector<Tensor> inputs = layer.node().inputs();
  inputs.push_back(layer.ints({axis}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("ConcatV2", std::move(inputs)));
  return layer.finish(out);
}

Result<void> lower_merge(LayerContext& layer, std::string_view op) {
  const std::vector<Tensor> all = layer.operands();
  constexpr std::size_t kMost = 10'000;
  if (all.empty()) return layer.opaque();
  if (all.size() > kMost) return unsupported(fmt::format("has {} inputs, more than {}", all.size(), kMost));
  Tensor out = all[0];
  for (std::size_t i = 1; i < all.size(); ++i) {
    JC_ASSIGN_OR_RETURN(out, layer.apply(op, {out, all[i]}));
  }
  return layer.finish(out);
}

namespace {

struct TensorflowFunction {
  std::string_view name, op;
};
constexpr std::array kFunctions{
    TensorflowFunction{"add", "AddV2"},
    TensorflowFunction{"subtract", "Sub"},
    TensorflowFunction{"multiply", "Mul"},
    TensorflowFunction{"truediv", "RealDiv"},
    TensorflowFunction{"divide", "RealDiv"},
    TensorflowFunction{"maximum", "Maximum"},
    TensorflowFunction{"minimum", "Minimum"},
    TensorflowFunction{"pow", "Pow"},
    TensorflowFunction{"matmul", "BatchMatMulV2"},
};

// Numbers among the keywords of a call, as version 2 writes them.
void add_keywords(LayerContext& layer, const Json& value, std::vector<Tensor>& out) {
  for (const JsonMember& member : value.members()) {
    const bool number = member.value.is(JsonKind::kInteger) || member.value.is(JsonKind::kReal);
    if (value.is(JsonKind::kArray)) add_keywords(layer, member.value, out);
    if (!value.is(JsonKind::kObject) || !number || out.size() > 2) continue;
    const double real =
        member.value.is(JsonKind::kReal) ? member.value.real() : static_cast<double>(member.value.whole());
    out.push_back(layer.number(real));
  }
}

}  // namespace

// A function of TensorFlow between layers ("math.multiply"), version 2.
Result<void> lower_tensorflow_function(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::string_view function, layer.text("function", ""));
  const std::string_view name = function.substr(function.rfind('.') + 1);
  std::vector<Tensor> all = layer.node().inputs();
  const auto* const it = std::find_if(kFunctions.begin(), kFunctions.end(),
                                      [&](const TensorflowFunction& one) { return one.name == name; });
  if (it == kFunctions.end()) {
    JC_ASSIGN_OR_RETURN(const Tensor out, activation_named(layer, layer.input(), name));
    return layer.finish(out);
  }
  if (layer.arguments() != nullptr) add_keywords(layer, *layer.arguments(), all);
  if (all.size() != 2) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply(it->op, std::move(all)));
  return layer.finish(out);
}

Result<void> lower_average(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Tensor sum, layer.apply("AddN", layer.node().inputs()));
  const auto count = static_cast<double>(layer.node().input_count());
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("RealDiv", {sum, layer.number(count)}));
  return layer.finish(out);
}

// Products along one axis of each, for every entry of the batch.
Result<void> lower_dot(LayerContext& layer) {
  if (layer.node().input_count() != 2) return layer.opaque();
  JC_ASSIGN_OR_RETURN(IntList axes, layer.integers("axes"));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input(0)));
  JC_ASSIGN_OR_RETURN(const std::size_t other, layer.rank(layer.input(1)));
  if (axes.size() == 1) axes.push_back(axes[0]);
  if (axes.size() != 2 || rank != other || (rank != 2 && rank != 3)) return layer.opaque();
  if (rank == 2) {
    JC_ASSIGN_OR_RETURN(const Tensor product, layer.apply("Mul", {layer.input(0), layer.input(1)}));
    JC_ASSIGN_OR_RETURN(const Tensor out,
                        layer.apply("Sum", {product, layer.ints({1})}, Attributes().flag("keep_dims", true)));
    return layer.finish(out);
  }
  const bool turn_first = axes[0] == 1 || axes[0] == -2;
  const bool turn_second = axes[1] == 2 || axes[1] == -1;
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("BatchMatMulV2", {layer.input(0), layer.input(1)},
                                                    Attributes().flag("adj_x", turn_first).flag("adj_y", turn_second)));
  return layer.finish(out);
}

Result<void> lower_dropout(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const double rate, layer.real("rate", 0.5));
  const Tensor& x = layer.input();
  if (!x.is_value() || rate <= 0.0 || rate >= 1.0) return layer.finish(x);
  return layer.finish(layer.add(Dropout{rate}, {x.id}, x.layout));
}

// Noise of training, masks, and what only has a name.
Result<void> lower_identity(LayerContext& layer) {
  for (std::size_t i = 0; i < layer.node().input_count(); ++i) JC_RETURN_IF_ERROR(layer.finish(layer.input(i), i));
  return {};
}

namespace {

struct Cut {
  IntList begin, end, step;
  std::int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;
};

std::int64_t bound_of(const Json* value, std::int64_t absent) {
  return value != nullptr && value->is(JsonKind::kInteger) ? value->whole() : absent;
}

bool is_index(std::int64_t value) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 40;
  return value >= -kLargest && value <= kLargest;
}

bool add_cut(const Json& key, Cut& out) {
  const std::int64_t bit = std::int64_t{1} << out.begin.size();
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t step = 1;
  const Json* class_name = key.find("class_name");
  const Json* config = key.find("config");
  if (key.is(JsonKind::kInteger) && is_index(key.whole())) {
    begin = key.whole();
    end = begin + 1;
    out.shrink_mask |= bit;
  } else if (key.is(JsonKind::kNull)) {
    out.new_axis_mask |= bit;
  } else if (class_name != nullptr && class_name->text() == "__ellipsis__") {
    out.ellipsis_mask |= bit;
  } else if (class_name != nullptr && class_name->text() == "__slice__" && config != nullptr) {
    if (config->find("start") == nullptr) out.begin_mask |= bit;
    if (config->find("stop") == nullptr) out.end_mask |= bit;
    begin = bound_of(config->find("start"), 0);
    end = bound_of(config->find("stop"), 0);
    step = bound_of(config->find("step"), 1);
  } else {
    return false;
  }
  out.begin.push_back(begin);
  out.end.push_back(end);
  out.step.push_back(step);
  return is_index(begin) && is_index(end) && is_index(step);
}

}  // namespace

// x[..., 0] and the like.
Result<void> lower_get_item(LayerContext& layer) {
  const Json* arguments = layer.arguments() == nullptr ? nullptr : layer.arguments()->find("args");
  if (arguments == nullptr || arguments->members().size() != 2) return layer.opaque();
  const Json& key = arguments->members()[1].value;
  Cut cut;
  if (key.is(JsonKind::kArray)) {
    if (key.members().size() > kMaxRank) return layer.opaque();
    for (const JsonMember& member : key.members()) {
      if (!add_cut(member.value, cut)) return layer.opaque();
    }
  } else if (!add_cut(key, cut)) {
    return layer.opaque();
  }
  Attributes attributes;
  attributes.integer("begin_mask", cut.begin_mask).integer("end_mask", cut.end_mask);
  attributes.integer("ellipsis_mask", cut.ellipsis_mask).integer("new_axis_mask", cut.new_axis_mask);
  attributes.integer("shrink_axis_mask", cut.shrink_mask);
  JC_ASSIGN_OR_RETURN(
      const Tensor out,
      layer.apply("StridedSlice", {layer.input(), layer.ints(cut.begin), layer.ints(cut.end), layer.ints(cut.step)},
                  std::move(attributes)));
  return layer.finish(out);
}

}  // namespace joulecast::keras
