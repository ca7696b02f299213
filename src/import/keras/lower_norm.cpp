// SPDX-License-Identifier: Apache-2.0
// Normalisation, and what is added to or multiplied with constants.
#include <algorithm>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

// Weights that are left out where a flag says so.
Result<Tensor> optional_weight(LayerContext& layer, std::string_view flag, const std::string& name,
                               const Shape& shape) {
  JC_ASSIGN_OR_RETURN(const bool there, layer.flag(flag, true));
  return there ? layer.weight(name, shape) : Result<Tensor>(Tensor{});
}

// An axis, as a number or a list of one.
Result<std::int64_t> single_axis(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList axes, layer.integers("axis"));
  if (axes.size() > 1) return layer.wrong("axis", "has several entries");
  return axes.empty() ? std::int64_t{-1} : axes[0];
}

}  // namespace

Result<void> lower_batch_norm(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, single_axis(layer));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  const auto place = tensorflow::axis_of(axis, rank);
  const bool last = place && *place + 1 == rank;
  if (!place || (!last && *place != 1)) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, layer.extent(layer.input(), axis));
  const Shape shape{channels};
  JC_ASSIGN_OR_RETURN(const Tensor scale, optional_weight(layer, "scale", "gamma", shape));
  JC_ASSIGN_OR_RETURN(const Tensor shift, optional_weight(layer, "center", "beta", shape));
  JC_ASSIGN_OR_RETURN(const Tensor mean, layer.weight("moving_mean", shape));
  JC_ASSIGN_OR_RETURN(const Tensor variance, layer.weight("moving_variance", shape));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("FusedBatchNormV3", {layer.input(), scale, shift, mean, variance},
                                                    Attributes().text("data_format", last ? "NHWC" : "NCHW")));
  return layer.finish(out);
}

// Over the last axes.
Result<void> lower_layer_norm(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(IntList axes, layer.integers("axis"));
  if (axes.empty()) axes = {-1};
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  Shape shape;
  std::vector<std::size_t> places;
  for (const std::int64_t axis : axes) {
    const auto place = tensorflow::axis_of(axis, rank);
    if (!place) return layer.wrong("axis", "is none of the input");
    places.push_back(*place);
  }
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != rank - places.size() + i) return layer.opaque();
    JC_ASSIGN_OR_RETURN(const std::int64_t extent, layer.extent(layer.input(), static_cast<std::int64_t>(places[i])));
    shape.push_back(extent);
  }
  JC_ASSIGN_OR_RETURN(const bool rms, layer.flag("rms_scaling", false));
  const auto count = static_cast<std::int64_t>(axes.size());
  JC_ASSIGN_OR_RETURN(const Tensor scale,
                      rms ? layer.weight("gamma", shape) : optional_weight(layer, "scale", "gamma", shape));
  if (rms || layer.layer().class_name == "RMSNormalization") {
    return layer.finish(layer.add(RmsNorm{count}, {layer.plain(layer.input()), layer.plain(scale)}));
  }
  JC_ASSIGN_OR_RETURN(const Tensor shift, optional_weight(layer, "center", "beta", shape));
  return layer.finish(
      layer.add(LayerNorm{count}, {layer.plain(layer.input()), layer.plain(scale), layer.plain(shift)}));
}

Result<void> lower_group_norm(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, single_axis(layer));
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  JC_ASSIGN_OR_RETURN(const std::int64_t channels, layer.extent(layer.input(), axis));
  JC_ASSIGN_OR_RETURN(std::int64_t groups, layer.integer("groups", 32));
  if (groups == -1) groups = channels;
  if (groups < 1 || channels % groups != 0) return layer.wrong("groups", "does not divide the channels");
  const auto place = tensorflow::axis_of(axis, rank);
  if (!place || (*place != rank - 1 && *place != 1)) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor scale, optional_weight(layer, "scale", "gamma", Shape{channels}));
  JC_ASSIGN_OR_RETURN(const Tensor shift, optional_weight(layer, "center", "beta", Shape{channels}));
  const ImageLayout layout = *place == 1 ? ImageLayout{} : ImageLayout::channels_first(rank);
  return layer.finish(layer.add(
      GroupNorm{groups},
      {layer.node().canvas().arranged(layer.input(), layout), layer.plain(scale), layer.plain(shift)}, layout));
}

// x * scale + offset, of real numbers. Where there is nothing to add, nothing is added.
Result<void> lower_rescaling(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(Tensor x, layer.apply("Cast", {layer.input()}, Attributes().type("DstT", 1)));
  JC_ASSIGN_OR_RETURN(const double scale, layer.real("scale", 1.0));
  JC_ASSIGN_OR_RETURN(const double offset, layer.real("offset", 0.0));
  JC_ASSIGN_OR_RETURN(x, layer.apply("Mul", {x, layer.number(scale)}));
  JC_ASSIGN_OR_RETURN(x, layer.apply("AddV2", {x, layer.number(offset)}));
  return layer.finish(x);
}

// (x - mean) / deviation; both were learnt, or are numbers of the configuration.
Result<void> lower_normalization(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, single_axis(layer));
  JC_ASSIGN_OR_RETURN(Tensor x, layer.apply("Cast", {layer.input()}, Attributes().type("DstT", 1)));
  Tensor mean = layer.number(0.0);
  Tensor deviation = layer.number(1.0);
  if (layer.config().find("mean") == nullptr && layer.config().find("axis") != nullptr) {
    JC_ASSIGN_OR_RETURN(const std::int64_t channels, layer.extent(layer.input(), axis));
    JC_ASSIGN_OR_RETURN(mean, layer.weight("mean", Shape{channels}));
    JC_ASSIGN_OR_RETURN(deviation, layer.weight("variance", Shape{channels}));
  }
  JC_ASSIGN_OR_RETURN(x, layer.apply("Sub", {x, mean}));
  JC_ASSIGN_OR_RETURN(x, layer.apply("RealDiv", {x, deviation}));
  return layer.finish(x);
}

}  // namespace joulecast::keras
