// SPDX-License-Identifier: Apache-2.0
// Convolutions, pools, batch normalisation and resizing: what works on images, whose channels TensorFlow has last.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "import/tensorflow/lowerings.h"

namespace joulecast::tensorflow {
namespace {

// Attributes that name one number for each axis of the image, in the order of the file.
struct Image {
  std::size_t rank = 4;
  Layout layout;  // channels first

  [[nodiscard]] std::size_t spatial_axes() const { return rank - 2; }
  // Axis of the tensor that spatial axis i is.
  [[nodiscard]] std::size_t spatial(std::size_t i) const { return layout.of_tensor(i + 2); }
  [[nodiscard]] std::size_t channels() const { return layout.of_tensor(1); }
};

Result<Image> read_image(const NodeContext& node, std::size_t rank) {
  JC_ASSIGN_OR_RETURN(const std::string_view format, node.attribute("data_format", "NHWC"));
  if (format != "NHWC" && format != "NCHW" && format != "NDHWC" && format != "NCDHW") {
    return node.wrong_attribute("data_format", "is none that we know");
  }
  return Image{rank, format.starts_with("NC") ? Layout{} : Layout::channels_first(rank)};
}

constexpr std::int64_t kLargest = std::int64_t{1} << 24;

Result<Extents> read_spatial(const NodeContext& node, std::string_view name, const Image& image) {
  JC_ASSIGN_OR_RETURN(const IntList list, node.list(name));
  if (list.empty()) return Extents(image.spatial_axes(), 1);
  if (list.size() != image.rank) {
    return node.wrong_attribute(name, fmt::format("has {} entries for {} axes", list.size(), image.rank));
  }
  Extents out;
  for (std::size_t i = 0; i < image.spatial_axes(); ++i) {
    const std::int64_t value = list[image.spatial(i)];
    if (value < 1 || value > kLargest) return node.wrong_attribute(name, fmt::format("has the entry {}", value));
    out.push_back(value);
  }
  return out;
}

struct Padding {
  Extents begin, end;
  bool same = false;
};

// [begin of axis 0, end of axis 0, ...]
Result<Padding> explicit_padding(const NodeContext& node, const Image& image) {
  JC_ASSIGN_OR_RETURN(const IntList list, node.list("explicit_paddings"));
  if (list.size() != 2 * image.rank) {
    return node.wrong_attribute("explicit_paddings", fmt::format("has {} entries", list.size()));
  }
  Padding out;
  for (std::size_t i = 0; i < image.spatial_axes(); ++i) {
    const std::size_t axis = image.spatial(i);
    for (const std::int64_t pad : {list[2 * axis], list[2 * axis + 1]}) {
      if (pad < 0 || pad > kLargest) return node.wrong_attribute("explicit_paddings", fmt::format("has {}", pad));
    }
    out.begin.push_back(list[2 * axis]);
    out.end.push_back(list[2 * axis + 1]);
  }
  return out;
}

Result<Padding> read_padding(const NodeContext& node, const Image& image) {
  JC_ASSIGN_OR_RETURN(const std::string_view mode, node.attribute("padding", "VALID"));
  if (mode == "SAME") return Padding{{}, {}, true};
  if (mode == "EXPLICIT") return explicit_padding(node, image);
  if (mode != "VALID") return node.wrong_attribute("padding", "has an unknown mode");
  return Padding{Extents(image.spatial_axes(), 0), Extents(image.spatial_axes(), 0), false};
}

// One that works on images taken apart: its own windows are dense and move by one pixel.
Result<void> dilate(const NodeContext& node, const Image& image, Conv& op) {
  const Dilation& dilation = *node.dilation();
  const auto all = [](const Extents& list, std::int64_t value) {
    return std::all_of(list.begin(), list.end(), [&](std::int64_t one) { return one == value; });
  };
  const bool padded = op.same_padding || !all(op.padding_begin, 0) || !all(op.padding_end, 0);
  if (padded || !all(op.stride, 1) || !all(op.dilation, 1) || image.channels() != image.rank - 1) {
    return unsupported("pads or strides between SpaceToBatchND and BatchToSpaceND");
  }
  for (std::size_t i = 0; i < image.spatial_axes(); ++i) {
    op.dilation[i] = dilation.block[image.spatial(i)];
    op.padding_begin[i] = dilation.begin[image.spatial(i)];
    op.padding_end[i] = dilation.end[image.spatial(i)];
  }
  return {};
}

Result<Conv> read_conv(const NodeContext& node, const Image& image) {
  Conv out;
  JC_ASSIGN_OR_RETURN(out.stride, read_spatial(node, "strides", image));
  JC_ASSIGN_OR_RETURN(out.dilation, read_spatial(node, "dilations", image));
  JC_ASSIGN_OR_RETURN(const Padding padding, read_padding(node, image));
  out.padding_begin = padding.begin;
  out.padding_end = padding.end;
  out.same_padding = padding.same;
  if (node.dilation() != nullptr) JC_RETURN_IF_ERROR(dilate(node, image, out));
  return out;
}

// Filters [spatial..., in, out] as [out, in, spatial...].
Layout filter_layout(std::size_t rank) {
  InlineVector<std::uint8_t, kMaxRank> axes{static_cast<std::uint8_t>(rank - 1), static_cast<std::uint8_t>(rank - 2)};
  for (std::size_t i = 0; i + 2 < rank; ++i) axes.push_back(static_cast<std::uint8_t>(i));
  return Layout(axes);
}

Result<std::size_t> filter_rank(const NodeContext& node, std::size_t input) {
  const std::size_t rank = node.rank(input).value_or(4);
  if (rank < 3 || rank > 5) return unsupported(fmt::format("filters of rank {}", rank));
  return rank;
}

}  // namespace

// Conv2D, Conv3D: x, filters, and in files of other kinds the bias. Filters for fewer channels than there are make
// groups.
Result<void> lower_conv(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, filter_rank(node, 1));
  JC_ASSIGN_OR_RETURN(const Image image, read_image(node, rank));
  JC_ASSIGN_OR_RETURN(Conv op, read_conv(node, image));
  const auto x = node.extents(0);
  const auto filter = node.extents(1);
  if (x && filter && x->size() == rank && (*filter)[rank - 2] > 0) {
    op.groups = std::max<std::int64_t>(1, (*x)[image.channels()] / (*filter)[rank - 2]);
  }
  return node.emit(op, {node.value(0, image.layout), node.value(1, filter_layout(rank)), node.value(2)}, image.layout);
}

// Filters [height, width, channels, multiplier] become [channels * multiplier, 1, height, width].
Result<void> lower_depthwise_conv(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Image image, read_image(node, 4));
  JC_ASSIGN_OR_RETURN(Conv op, read_conv(node, image));
  const auto filter = node.extents(1);
  if (!filter || filter->size() != 4 || (*filter)[2] < 1 || (*filter)[3] < 0) {
    return unsupported("the shape of the filters is not in the file");
  }
  op.groups = (*filter)[2];
  const Shape shape{(*filter)[2] * (*filter)[3], 1, (*filter)[0], (*filter)[1]};
  ValueId weight = kNoValue;
  if (node.input(1).is_source()) {
    weight = node.canvas().reshaped(*node.input(1).source, shape);
  } else {
    const ValueId turned = node.step(Transpose{{2, 3, 0, 1}}, {node.value(1)}, "filters");
    weight = node.step(Reshape{}, {turned, node.int_vector(IntList(shape.begin(), shape.end()))}, "filters");
  }
  return node.emit(op, {node.value(0, image.layout), weight, node.value(2)}, image.layout);
}

// Part of a dilated convolution (dilated.cpp); in no other place has it been seen.
Result<void> lower_kept(NodeContext& node) {
  return node.opaque();
}

// sizes of the result, filters [spatial..., out, in], x. Only the sizes tell how the strides were rounded.
Result<void> lower_conv_backprop(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const std::size_t rank, filter_rank(node, 1));
  JC_ASSIGN_OR_RETURN(const Image image, read_image(node, rank));
  JC_ASSIGN_OR_RETURN(Conv op, read_conv(node, image));
  op.transposed = true;
  const auto x = node.extents(2);
  const auto filter = node.extents(1);
  const auto sizes = node.canvas().numbers(node.input(0));
  if (!op.same_padding) op.output_padding = Extents(image.spatial_axes(), 0);
  for (std::size_t i = 0; i < image.spatial_axes() && !op.same_padding; ++i) {
    const std::size_t axis = image.spatial(i);
    if (!x || !filter || !sizes || x->size() != rank || sizes->size() != rank || !(*sizes)[axis]) continue;
    if ((*x)[axis] < 1) continue;
    const std::int64_t least = ((*x)[axis] - 1) * op.stride[i] + op.dilation[i] * ((*filter)[i] - 1) + 1 -
                               op.padding_begin[i] - op.padding_end[i];
    const std::int64_t more = *(*sizes)[axis] - least;
    if (more > 0 && more < op.stride[i]) op.output_padding[i] = more;
  }
  return node.emit(op, {node.value(2, image.layout), node.value(1, filter_layout(rank)), node.value(3)}, image.layout);
}

// Since MaxPoolV2 the window may be an input.
Result<void> lower_pool_of(NodeContext& node, PoolKind kind) {
  JC_ASSIGN_OR_RETURN(const IntList window, node.list("ksize"));
  if (window.size() < 3 || window.size() > 5) return node.wrong_attribute("ksize", "is not that of an image");
  JC_ASSIGN_OR_RETURN(const Image image, read_image(node, window.size()));
  Pool op;
  op.kind = kind;
  JC_ASSIGN_OR_RETURN(op.kernel, read_spatial(node, "ksize", image));
  JC_ASSIGN_OR_RETURN(op.stride, read_spatial(node, "strides", image));
  JC_ASSIGN_OR_RETURN(const Padding padding, read_padding(node, image));
  op.dilation = Extents(image.spatial_axes(), 1);
  op.padding_begin = padding.begin;
  op.padding_end = padding.end;
  op.same_padding = padding.same;
  return node.emit(op, {node.value(0, image.layout)}, image.layout);
}

// x, scale, shift, mean, variance; in training the last two are empty.
Result<void> lower_batch_norm(NodeContext& node) {
  JC_ASSIGN_OR_RETURN(const Image image, read_image(node, node.rank(0).value_or(4)));
  std::vector<ValueId> inputs{node.value(0, image.layout)};
  for (std::size_t i = 1; i < 5; ++i) {
    const auto shape = node.extents(i);
    const bool empty = !shape || (shape->size() == 1 && (*shape)[0] == 0);
    inputs.push_back(empty ? kNoValue : node.value(i));
  }
  return node.emit(BatchNorm{}, std::move(inputs), image.layout);
}

// x [batch, height, width, channels], size [2].
Result<void> lower_resize_of(NodeContext& node, ResizeKind kind) {
  const Layout layout = Layout::channels_first(4);
  return node.emit(Resize{kind, {2, 3}}, {node.value(0, layout), kNoValue, node.value(1)}, layout);
}

Result<void> lower_pixel_shuffle_of(NodeContext& node, bool inverse) {
  JC_ASSIGN_OR_RETURN(const std::int64_t factor, node.attribute("block_size", std::int64_t{0}));
  if (factor < 1 || factor > kLargest) return node.wrong_attribute("block_size", fmt::format("is {}", factor));
  JC_ASSIGN_OR_RETURN(const Image image, read_image(node, 4));
  return node.emit(PixelShuffle{factor, inverse}, {node.value(0, image.layout)}, image.layout);
}

}  // namespace joulecast::tensorflow
