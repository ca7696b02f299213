// SPDX-License-Identifier: Apache-2.0
#include "predict/layer_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/csv.h"
#include "dataset/details.h"
#include "import/builder.h"

namespace joulecast {
namespace {

// Products of four of them still are numbers, and infer_types() says of which a tensor is too large.
constexpr std::int64_t kMaxExtent = (std::int64_t{1} << 15) - 1;

using Details = std::map<std::string, std::string>;

Result<std::string> word(const Details& details, const std::string& key) {
  const auto found = details.find(key);
  if (found == details.end()) return invalid(fmt::format("no {} in a layer's details", key));
  return found->second;
}

Result<std::int64_t> extent(std::optional<std::int64_t> value, std::string_view what) {
  if (!value || *value < 1 || *value > kMaxExtent)
    return invalid(fmt::format("a layer's {} is not from 1 to {}", what, kMaxExtent));
  return *value;
}
Result<std::int64_t> extent(const Details& details, const std::string& key) {
  JC_ASSIGN_OR_RETURN(const std::string text, word(details, key));
  return extent(parse_integer(text), key);
}

Result<bool> flag(const Details& details, const std::string& key) {
  JC_ASSIGN_OR_RETURN(const std::string text, word(details, key));
  if (text != "0" && text != "1") return invalid(fmt::format("a layer's {} is neither 0 nor 1", key));
  return text == "1";
}

Result<std::optional<ActivationKind>> activation(const Details& details) {
  JC_ASSIGN_OR_RETURN(const std::string text, word(details, "activation"));
  if (text == "None") return std::optional<ActivationKind>();
  if (text == "relu") return std::optional(ActivationKind::kRelu);
  if (text == "tanh") return std::optional(ActivationKind::kTanh);
  if (text == "sigmoid") return std::optional(ActivationKind::kSigmoid);
  return unsupported(fmt::format("a layer with activation '{}'", text));
}

// Adds nodes one behind the other.
class LayerBuilder {
 public:
  ValueId parameter(const Shape& shape) {
    return builder_.add_constant("w", {ElementType::kFloat32, shape}, std::nullopt, ValueKind::kParameter);
  }
  ValueId integers(std::initializer_list<std::int64_t> values) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    return builder_.add_constant("c", {ElementType::kInt64, shape}, Contents{.ints = values, .reals = {}},
                                 ValueKind::kConstant);
  }
  ValueId node(Operator op, std::vector<ValueId> inputs) {
    const ValueId out = builder_.add_computed("y", {});
    builder_.add_node({.op = std::move(op), .inputs = std::move(inputs), .outputs = {out}, .name = {}});
    return out;
  }
  // A copy in another order of the axes.
  ValueId turned(ValueId value, IntList order) {
    return node(Transpose{.order = std::move(order), .contiguous = true}, {value});
  }
  Graph take(ValueId out) && {
    builder_.graph.outputs.push_back(out);
    return std::move(builder_.graph);
  }

 private:
  GraphBuilder builder_;
};

struct ConvLayer {
  std::int64_t batch = 1, size = 1, in = 1, out = 1, kernel = 1, stride = 1;
  bool same = false, bias = false;

  [[nodiscard]] std::int64_t out_size() const {
    return same ? (size + stride - 1) / stride : (size - kernel) / stride + 1;
  }
  // Rows that the padding adds, above and below together.
  [[nodiscard]] std::int64_t padding() const {
    return same ? std::max<std::int64_t>(0, (out_size() - 1) * stride + kernel - size) : 0;
  }
  // What TensorFlow hands to cuBLAS.
  [[nodiscard]] bool is_product() const { return (kernel == 1 && stride == 1) || (kernel == size && !same); }
};

Result<ConvLayer> conv_layer(const MeasuredNetwork& row, const Details& details) {
  ConvLayer out;
  JC_ASSIGN_OR_RETURN(out.batch, extent(row.batch, "batch"));
  JC_ASSIGN_OR_RETURN(out.size, extent(row.image_size, "image size"));
  JC_ASSIGN_OR_RETURN(out.in, extent(row.channels, "channels"));
  JC_ASSIGN_OR_RETURN(out.out, extent(details, "channels_out"));
  JC_ASSIGN_OR_RETURN(out.kernel, extent(details, "kernelsize"));
  JC_ASSIGN_OR_RETURN(out.stride, extent(details, "strides"));
  JC_ASSIGN_OR_RETURN(out.same, flag(details, "padding"));
  JC_ASSIGN_OR_RETURN(out.bias, flag(details, "use_bias"));
  if (!out.same && out.kernel > out.size) return invalid("the kernel is larger than the image");
  return out;
}

// x [batch * places, in * kernel^2] as it lies there.
ValueId add_product(const ConvLayer& layer, ValueId x, LayerBuilder& builder) {
  const std::int64_t depth = layer.in * layer.kernel * layer.kernel;
  const std::int64_t places = layer.batch * layer.out_size() * layer.out_size();
  std::vector<ValueId> inputs{builder.node(Reshape{}, {x, builder.integers({places, depth})}),
                              builder.parameter({depth, layer.out})};
  if (layer.bias) inputs.push_back(builder.parameter({layer.out}));
  return builder.node(Linear{.weight_in_out = true}, std::move(inputs));
}

// x [batch, size, size, in].
ValueId add_conv(const ConvLayer& layer, ValueId x, LayerBuilder& builder) {
  const std::int64_t padding = layer.padding();
  const bool uneven = padding % 2 != 0;
  if (uneven) x = builder.node(Pad{}, {x, builder.integers({0, 0, 0, 0, 0, 1, 1, 0})});
  Conv conv;
  conv.stride = Extents(2, layer.stride);
  conv.dilation = Extents(2, 1);
  conv.padding_begin = conv.padding_end = Extents(2, padding / 2);
  const ValueId filters = builder.parameter({layer.kernel, layer.kernel, layer.in, layer.out});
  std::vector<ValueId> inputs{builder.turned(x, {0, 3, 1, 2}), builder.turned(filters, {3, 2, 0, 1})};
  if (layer.bias) inputs.push_back(builder.parameter({layer.out}));
  return builder.turned(builder.node(conv, std::move(inputs)), {0, 2, 3, 1});
}

// The layer's result and its shape.
struct Made {
  ValueId value{};
  Shape shape;
};

Result<Made> add_conv_layer(const MeasuredNetwork& row, const Details& details, LayerBuilder& builder) {
  JC_ASSIGN_OR_RETURN(const ConvLayer layer, conv_layer(row, details));
  const ValueId x = builder.parameter({layer.batch, layer.size, layer.size, layer.in});
  const std::int64_t side = layer.out_size();
  if (layer.is_product()) return Made{add_product(layer, x, builder), {layer.batch * side * side, layer.out}};
  return Made{add_conv(layer, x, builder), {layer.batch, side, side, layer.out}};
}

Result<Made> add_linear_layer(const MeasuredNetwork& row, const Details& details, LayerBuilder& builder) {
  JC_ASSIGN_OR_RETURN(const std::int64_t m, extent(row.batch, "batch"));
  JC_ASSIGN_OR_RETURN(const std::int64_t k, extent(details, "dim_input"));
  JC_ASSIGN_OR_RETURN(const std::int64_t n, extent(details, "dim_output"));
  std::vector<ValueId> inputs{builder.parameter({m, k}), builder.parameter({k, n}), builder.parameter({n})};
  return Made{builder.node(Linear{.weight_in_out = true}, std::move(inputs)), {m, n}};
}

}  // namespace

bool is_layer(const MeasuredNetwork& row) {
  return row.from.table == "cde_conv" || row.from.table == "cde_dense";
}

Result<Graph> layer_graph(const MeasuredNetwork& row) {
  JC_ASSIGN_OR_RETURN(const auto entries, parse_details(row.details));
  const Details details(entries.begin(), entries.end());
  JC_ASSIGN_OR_RETURN(const std::optional<ActivationKind> kind, activation(details));
  LayerBuilder builder;
  JC_ASSIGN_OR_RETURN(Made made, row.from.table == "cde_conv" ? add_conv_layer(row, details, builder)
                                                              : add_linear_layer(row, details, builder));
  if (kind) made.value = builder.node(Activation{.kind = *kind}, {made.value});
  if (row.at.mode == Mode::kTraining) {
    const ValueId difference =
        builder.node(Binary{.kind = BinaryKind::kSub}, {made.value, builder.parameter(made.shape)});
    const ValueId square = builder.node(Unary{.kind = UnaryKind::kSquare}, {difference});
    made.value = builder.node(Reduce{.kind = ReduceKind::kMean, .axes = {}, .keep_axes = false}, {square});
  }
  return std::move(builder).take(made.value);
}

}  // namespace joulecast
