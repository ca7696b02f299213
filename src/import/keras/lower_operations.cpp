// SPDX-License-Identifier: Apache-2.0
// Operations of keras.ops that compute: one number from one, or one from many.
#include <algorithm>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

Tensor first_operand(LayerContext& layer) {
  const std::vector<Tensor> all = layer.operands();
  return all.empty() ? Tensor{} : all[0];
}

// Those of the configuration, or all.
Result<IntList> reduced_axes(LayerContext& layer, const Tensor& x) {
  JC_ASSIGN_OR_RETURN(IntList axes, layer.integers("axis"));
  if (!axes.empty()) return axes;
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(x));
  for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
  return axes;
}

Result<Tensor> reduce(LayerContext& layer, std::string_view op, const Tensor& x, const IntList& axes, bool keep) {
  return layer.apply(op, {x, layer.ints(axes)}, Attributes().flag("keep_dims", keep));
}

Result<Tensor> variance(LayerContext& layer) {
  const Tensor& x = layer.input();
  JC_ASSIGN_OR_RETURN(const IntList axes, reduced_axes(layer, x));
  JC_ASSIGN_OR_RETURN(const bool keep, layer.flag("keepdims", false));
  JC_ASSIGN_OR_RETURN(const Tensor mean, reduce(layer, "Mean", x, axes, true));
  JC_ASSIGN_OR_RETURN(const Tensor squares, layer.apply("SquaredDifference", {x, mean}));
  return reduce(layer, "Mean", squares, axes, keep);
}

}  // namespace

Result<void> lower_pointwise(LayerContext& layer, std::string_view op) {
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply(op, {first_operand(layer)}));
  return layer.finish(out);
}

Result<void> lower_cast(LayerContext& layer) {
  const Tensor x = first_operand(layer);
  const ElementType to = element_of(layer.config().find("dtype"));
  return layer.finish(layer.add(Cast{to}, {layer.node().canvas().arranged(x, x.layout)}, x.layout));
}

// Bounds stand in the configuration.
Result<void> lower_clip(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const double least, layer.real("x_min", 0.0));
  JC_ASSIGN_OR_RETURN(const double most, layer.real("x_max", 1.0));
  JC_ASSIGN_OR_RETURN(const Tensor out,
                      layer.apply("ClipByValue", {layer.input(), layer.number(least), layer.number(most)}));
  return layer.finish(out);
}

// condition, where it is true, where it is not.
Result<void> lower_where(LayerContext& layer) {
  std::vector<Tensor> all = layer.operands();
  if (all.size() != 3) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("SelectV2", std::move(all)));
  return layer.finish(out);
}

Result<void> lower_reduction(LayerContext& layer, std::string_view op) {
  JC_ASSIGN_OR_RETURN(const IntList axes, reduced_axes(layer, layer.input()));
  JC_ASSIGN_OR_RETURN(const bool keep, layer.flag("keepdims", false));
  JC_ASSIGN_OR_RETURN(const Tensor out, reduce(layer, op, layer.input(), axes, keep));
  return layer.finish(out);
}

Result<void> lower_variance(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Tensor out, variance(layer));
  return layer.finish(out);
}

Result<void> lower_deviation(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Tensor square, variance(layer));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Sqrt", {square}));
  return layer.finish(out);
}

// The maximum goes first, so that no exponential is too large.
Result<void> lower_log_sum_exp(LayerContext& layer) {
  const Tensor& x = layer.input();
  JC_ASSIGN_OR_RETURN(const IntList axes, reduced_axes(layer, x));
  JC_ASSIGN_OR_RETURN(const bool keep, layer.flag("keepdims", false));
  JC_ASSIGN_OR_RETURN(const Tensor most, reduce(layer, "Max", x, axes, true));
  JC_ASSIGN_OR_RETURN(const Tensor less, layer.apply("Sub", {x, most}));
  JC_ASSIGN_OR_RETURN(const Tensor powers, layer.apply("Exp", {less}));
  JC_ASSIGN_OR_RETURN(const Tensor sum, reduce(layer, "Sum", powers, axes, true));
  JC_ASSIGN_OR_RETURN(const Tensor log, layer.apply("Log", {sum}));
  JC_ASSIGN_OR_RETURN(Tensor out, layer.apply("AddV2", {log, most}));
  if (!keep) {
    JC_ASSIGN_OR_RETURN(out, layer.apply("Squeeze", {out}, Attributes().list("squeeze_dims", axes)));
  }
  return layer.finish(out);
}

// x over its length along an axis; of other orders than 2 the same work.
Result<void> lower_normalize(LayerContext& layer) {
  const Tensor& x = layer.input();
  JC_ASSIGN_OR_RETURN(const IntList axes, reduced_axes(layer, x));
  JC_ASSIGN_OR_RETURN(const Tensor squares, layer.apply("Square", {x}));
  JC_ASSIGN_OR_RETURN(const Tensor sum, reduce(layer, "Sum", squares, axes, true));
  JC_ASSIGN_OR_RETURN(const Tensor bounded, layer.apply("Maximum", {sum, layer.number(1e-12)}));
  JC_ASSIGN_OR_RETURN(const Tensor factor, layer.apply("Rsqrt", {bounded}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Mul", {x, factor}));
  return layer.finish(out);
}

namespace {

// The axis, and the tensor that it is counted in: without one, that of all elements in a row.
struct Line {
  Tensor x;
  std::int64_t axis = 0;
};

Result<Line> read_line(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const IntList axes, layer.integers("axis"));
  if (axes.size() == 1) return Line{layer.input(), axes[0]};
  JC_ASSIGN_OR_RETURN(const Tensor flat, layer.apply("Reshape", {layer.input(), layer.ints({-1})}));
  return Line{flat, 0};
}

}  // namespace

Result<void> lower_arg(LayerContext& layer, std::string_view op) {
  JC_ASSIGN_OR_RETURN(const Line line, read_line(layer));
  JC_ASSIGN_OR_RETURN(const bool keep, layer.flag("keepdims", false));
  JC_ASSIGN_OR_RETURN(Tensor out, layer.apply(op, {line.x, layer.ints({line.axis})}));
  if (keep && layer.config().find("axis") != nullptr) {
    JC_ASSIGN_OR_RETURN(out, layer.apply("ExpandDims", {out, layer.ints({line.axis})}));
  }
  return layer.finish(out);
}

Result<void> lower_cumulate(LayerContext& layer, std::string_view op) {
  JC_ASSIGN_OR_RETURN(const Line line, read_line(layer));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply(op, {line.x, layer.ints({line.axis})}));
  return layer.finish(out);
}

// The largest along the last axis, and where they stand.
Result<void> lower_top_k(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t k, layer.integer("k"));
  JC_ASSIGN_OR_RETURN(const auto out, layer.apply_all("TopKV2", {layer.input(), layer.ints({k})}, {}, 2));
  for (std::size_t i = 0; i < out.size(); ++i) JC_RETURN_IF_ERROR(layer.finish(out[i], i));
  return {};
}

// Half of the channels times what the sigmoid makes of the others.
Result<void> lower_glu(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", -1));
  JC_ASSIGN_OR_RETURN(const auto halves, layer.apply_all("Split", {layer.ints({axis}), layer.input()},
                                                         Attributes().integer("num_split", 2), 2));
  if (halves.size() != 2) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Tensor gate, layer.apply("Sigmoid", {halves[1]}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("Mul", {halves[0], gate}));
  return layer.finish(out);
}

}  // namespace joulecast::keras
