// SPDX-License-Identifier: Apache-2.0
// Products with weights, and attention.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "import/keras/lowerings.h"

namespace joulecast::keras {

// x [..., in].
Result<void> lower_dense(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t units, layer.integer("units"));
  JC_ASSIGN_OR_RETURN(const std::int64_t in, layer.extent(layer.input(), -1));
  JC_ASSIGN_OR_RETURN(const bool bias, layer.flag("use_bias", true));
  JC_ASSIGN_OR_RETURN(const Tensor kernel, layer.weight("kernel", Shape{in, units}));
  std::vector<Tensor> inputs{layer.input(), kernel};
  if (bias) {
    JC_ASSIGN_OR_RETURN(const Tensor weight, layer.weight("bias", Shape{units}));
    inputs.push_back(weight);
  }
  JC_ASSIGN_OR_RETURN(const Tensor product, layer.apply("MatMul", std::move(inputs)));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.activate(product));
  return layer.finish(out);
}

namespace {

struct Equation {
  std::string x, kernel, out;
};

// "ab,bc->ac"; an ellipsis stands for the axes that x has more.
Result<Equation> read_equation(LayerContext& layer, std::size_t rank) {
  JC_ASSIGN_OR_RETURN(const std::string_view text, layer.text("equation", ""));
  const std::size_t comma = text.find(',');
  const std::size_t arrow = text.find("->");
  if (comma == std::string_view::npos || arrow == std::string_view::npos || arrow < comma) {
    return layer.wrong("equation", "is none of two operands");
  }
  Equation out{std::string(text.substr(0, comma)), std::string(text.substr(comma + 1, arrow - comma - 1)),
               std::string(text.substr(arrow + 2))};
  std::string more;
  const bool dots = out.x.find("...") != std::string::npos;
  const std::size_t named = out.x.size() - (dots ? 3 : 0);
  if (named > rank || rank > kMaxRank) return layer.wrong("equation", "has more axes than the input");
  for (char c = 'A'; more.size() < rank - named && c <= 'Z'; ++c) {
    if (text.find(c) == std::string_view::npos) more += c;
  }
  for (std::string* side : {&out.x, &out.out}) {
    const std::size_t at = side->find("...");
    if (at != std::string::npos) side->replace(at, 3, more);
  }
  if (out.x.size() != rank || out.out.size() > kMaxRank || out.kernel.size() > kMaxRank) {
    return layer.wrong("equation", "does not fit the input");
  }
  return out;
}

// The extents of labels: of x, then of what the layer says of its output, batch aside.
Result<std::map<char, std::int64_t>> label_extents(LayerContext& layer, const Equation& equation, const Shape& x) {
  std::map<char, std::int64_t> out;
  for (std::size_t i = 0; i < x.size(); ++i) out[equation.x[i]] = x[i];
  const Json* given = layer.config().find("output_shape");
  if (given == nullptr) return layer.wrong("output_shape", "is missing");
  std::vector<std::int64_t> list;
  if (given->is(JsonKind::kInteger)) list.push_back(given->whole());
  for (const JsonMember& member : given->members())
    list.push_back(member.value.is(JsonKind::kInteger) ? member.value.whole() : -1);
  if (list.size() > equation.out.size()) return layer.wrong("output_shape", "has more entries than the output");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const char label = equation.out[equation.out.size() - list.size() + i];
    if (list[i] > 0) out.emplace(label, list[i]);
  }
  return out;
}

Result<Shape> shape_by(LayerContext& layer, const std::string& labels, const std::map<char, std::int64_t>& extents) {
  Shape out;
  for (const char label : labels) {
    const auto it = extents.find(label);
    if (it == extents.end() || it->second < 1)
      return layer.wrong("equation", "has an axis of the weights that nothing tells");
    out.push_back(it->second);
  }
  return out;
}

// From the first axis that has a bias on; those without have one entry.
Result<Shape> bias_shape(LayerContext& layer, const Equation& equation, std::string_view axes,
                         const std::map<char, std::int64_t>& extents) {
  Shape out;
  for (const char label : equation.out) {
    const bool biased = axes.find(label) != std::string_view::npos;
    if (!biased && out.empty()) continue;
    JC_ASSIGN_OR_RETURN(const Shape one,
                        biased ? shape_by(layer, std::string(1, label), extents) : Result<Shape>(Shape{1}));
    out.push_back(one[0]);
  }
  return out;
}

}  // namespace

Result<void> lower_einsum_dense(LayerContext& layer) {
  const auto x = layer.extents(layer.input());
  if (!x) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const Equation equation, read_equation(layer, x->size()));
  JC_ASSIGN_OR_RETURN(const auto extents, label_extents(layer, equation, *x));
  JC_ASSIGN_OR_RETURN(const Shape kernel_shape, shape_by(layer, equation.kernel, extents));
  JC_ASSIGN_OR_RETURN(const Tensor kernel, layer.weight("kernel", kernel_shape));
  const std::string text = fmt::format("{},{}->{}", equation.x, equation.kernel, equation.out);
  JC_ASSIGN_OR_RETURN(Tensor out, layer.apply("Einsum", {layer.input(), kernel}, Attributes().text("equation", text)));
  JC_ASSIGN_OR_RETURN(const std::string_view axes, layer.text("bias_axes", ""));
  if (!axes.empty()) {
    JC_ASSIGN_OR_RETURN(const Shape shape, bias_shape(layer, equation, axes, extents));
    JC_ASSIGN_OR_RETURN(const Tensor bias, layer.weight("bias", shape));
    JC_ASSIGN_OR_RETURN(out, layer.apply("AddV2", {out, bias}));
  }
  JC_ASSIGN_OR_RETURN(out, layer.activate(out));
  return layer.finish(out);
}

namespace {

struct Heads {
  std::int64_t count = 1, width = 1;
  bool bias = true;
};

// [batch, length, in] -> [batch, heads, length, width].
Result<ValueId> heads_of(LayerContext& layer, const Tensor& x, const std::string& name, const Heads& heads) {
  JC_ASSIGN_OR_RETURN(const std::int64_t in, layer.extent(x, -1));
  JC_ASSIGN_OR_RETURN(Tensor kernel, layer.weight(name + "/kernel", Shape{in, heads.count, heads.width}));
  kernel.view = Shape{in, heads.count * heads.width};
  std::vector<ValueId> inputs{layer.plain(x), layer.plain(kernel)};
  if (heads.bias) {
    JC_ASSIGN_OR_RETURN(Tensor bias, layer.weight(name + "/bias", Shape{heads.count, heads.width}));
    bias.view = Shape{heads.count * heads.width};
    inputs.push_back(layer.plain(bias));
  }
  const Tensor product = layer.add(Linear{.weight_in_out = true}, std::move(inputs));
  const Tensor parted = layer.add(Reshape{}, {product.id, layer.plain(layer.ints({0, 0, heads.count, heads.width}))});
  return layer.add(Transpose{{0, 2, 1, 3}}, {parted.id}).id;
}

constexpr std::int64_t kMostHeads = std::int64_t{1} << 24;

Result<Heads> read_heads(LayerContext& layer, std::string_view count, std::string_view width) {
  Heads out;
  JC_ASSIGN_OR_RETURN(out.count, layer.integer(count));
  JC_ASSIGN_OR_RETURN(out.width, layer.integer(width));
  JC_ASSIGN_OR_RETURN(out.bias, layer.flag("use_bias", true));
  if (out.count > kMostHeads || out.width > kMostHeads)
    return layer.wrong(count, fmt::format("or '{}' is absurd", width));
  return out;
}

// The width of the result: that of the query, unless it is given.
Result<std::int64_t> output_width(LayerContext& layer, const Tensor& query) {
  const Json* given = layer.config().find("output_shape");
  if (given == nullptr) return layer.extent(query, -1);
  const auto members = given->members();
  if (given->is(JsonKind::kArray) && members.size() != 1) return layer.wrong("output_shape", "has several axes");
  return given->is(JsonKind::kInteger) ? given->whole() : members.empty() ? 0 : members[0].value.whole();
}

bool is_causal(LayerContext& layer) {
  const Json* keywords = layer.arguments() == nullptr ? nullptr : layer.arguments()->find("kwargs");
  const Json* causal = keywords == nullptr ? nullptr : keywords->find("use_causal_mask");
  return causal != nullptr && causal->truth();
}

// [batch, heads, length, width] -> [batch, length, out].
Result<Tensor> joined_heads(LayerContext& layer, const Tensor& x, const Heads& heads, std::int64_t out_width) {
  const std::int64_t all = heads.count * heads.width;
  const Tensor turned = layer.add(Transpose{{0, 2, 1, 3}}, {x.id});
  const Tensor joined = layer.add(Reshape{}, {turned.id, layer.plain(layer.ints({0, 0, all}))});
  JC_ASSIGN_OR_RETURN(Tensor kernel,
                      layer.weight("attention_output/kernel", Shape{heads.count, heads.width, out_width}));
  kernel.view = Shape{all, out_width};
  std::vector<ValueId> inputs{joined.id, layer.plain(kernel)};
  if (heads.bias) {
    JC_ASSIGN_OR_RETURN(const Tensor bias, layer.weight("attention_output/bias", Shape{out_width}));
    inputs.push_back(layer.plain(bias));
  }
  return layer.add(Linear{.weight_in_out = true}, std::move(inputs));
}

}  // namespace

namespace {

// query, value, [key: the value], [mask].
struct Operands {
  Tensor query, value, key;
  std::optional<Tensor> mask;
};

Operands operands_of(LayerContext& layer) {
  if (const auto query = layer.tensor_argument(0, "query")) {
    const Tensor value = layer.tensor_argument(1, "value").value_or(*query);
    return {*query, value, layer.tensor_argument(2, "key").value_or(value), layer.tensor_argument(6, "attention_mask")};
  }
  // Version 2 of the file names no arguments.
  const std::size_t count = layer.node().input_count();
  const Tensor& value = layer.input(count > 1 ? 1 : 0);
  return {layer.input(), value, count > 2 ? layer.input(2) : value, std::nullopt};
}

// [batch, queries, keys] or with heads as [batch, heads, queries, keys]; kNoValue for none.
Result<ValueId> mask_of(LayerContext& layer, const std::optional<Tensor>& mask) {
  if (!mask) return kNoValue;
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(*mask));
  if (rank == 4) return layer.plain(*mask);
  return rank == 3 ? layer.add(Unsqueeze{{1}}, {layer.plain(*mask)}).id : kNoValue;
}

// What heads of the query find, times a gate where there is one, as rows of `out_width`.
Result<void> attend(LayerContext& layer, const Heads& query_heads, const Heads& key_heads, const Heads& value_heads,
                    std::int64_t out_width) {
  const Operands given = operands_of(layer);
  JC_ASSIGN_OR_RETURN(const ValueId q, heads_of(layer, given.query, "query", query_heads));
  JC_ASSIGN_OR_RETURN(const ValueId k, heads_of(layer, given.key, "key", key_heads));
  JC_ASSIGN_OR_RETURN(const ValueId v, heads_of(layer, given.value, "value", value_heads));
  JC_ASSIGN_OR_RETURN(const ValueId mask, mask_of(layer, given.mask));
  Attention op;
  op.scales = 1;
  op.causal = is_causal(layer);
  op.masks = op.causal || mask != kNoValue ? 1 : 0;
  JC_ASSIGN_OR_RETURN(op.dropout, layer.real("dropout", 0.0));
  std::vector<ValueId> inputs{q, k, v};
  if (mask != kNoValue) inputs.push_back(mask);
  Tensor mixed = layer.add(op, std::move(inputs));
  JC_ASSIGN_OR_RETURN(const bool gated, layer.flag("use_gate", false));
  if (gated) {
    JC_ASSIGN_OR_RETURN(const ValueId gate, heads_of(layer, given.query, "gate", query_heads));
    const Tensor share = layer.add(Activation{ActivationKind::kSigmoid}, {gate});
    mixed = layer.add(Binary{BinaryKind::kMul}, {mixed.id, share.id});
  }
  const Heads joined{query_heads.count, value_heads.width, query_heads.bias};
  JC_ASSIGN_OR_RETURN(const Tensor out, joined_heads(layer, mixed, joined, out_width));
  return layer.finish(out);
}

}  // namespace

Result<void> lower_multi_head_attention(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Heads heads, read_heads(layer, "num_heads", "key_dim"));
  Heads value_heads = heads;
  JC_ASSIGN_OR_RETURN(value_heads.width, layer.integer("value_dim", heads.width));
  if (value_heads.width < 1 || value_heads.width > kMostHeads) return layer.wrong("value_dim", "is absurd");
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (rank != 3) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::int64_t out_width, output_width(layer, layer.input()));
  return attend(layer, heads, heads, value_heads, out_width);
}

// Several heads of the query share one of key and value.
Result<void> lower_grouped_query_attention(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const Heads heads, read_heads(layer, "num_query_heads", "head_dim"));
  JC_ASSIGN_OR_RETURN(const Heads shared, read_heads(layer, "num_key_value_heads", "head_dim"));
  if (heads.count % shared.count != 0) return layer.wrong("num_query_heads", "is no multiple of the others");
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input()));
  if (rank != 3) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::int64_t out_width, layer.extent(layer.input(), -1));
  return attend(layer, heads, shared, shared, out_width);
}

// Products, softmax, without weights.
Result<void> lower_attention(LayerContext& layer) {
  const Operands given = operands_of(layer);
  JC_ASSIGN_OR_RETURN(const Tensor scores,
                      layer.apply("BatchMatMulV2", {given.query, given.key}, Attributes().flag("adj_y", true)));
  JC_ASSIGN_OR_RETURN(const Tensor shares, layer.apply("Softmax", {scores}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("BatchMatMulV2", {shares, given.value}));
  return layer.finish(out);
}

// The score of a pair is the sum of tanh(query + key), each entry weighed.
Result<void> lower_additive_attention(LayerContext& layer) {
  const Operands given = operands_of(layer);
  JC_ASSIGN_OR_RETURN(const bool weighed, layer.flag("use_scale", true));
  JC_ASSIGN_OR_RETURN(const std::int64_t width, layer.extent(given.query, -1));
  JC_ASSIGN_OR_RETURN(const Tensor rows, layer.apply("ExpandDims", {given.query, layer.ints({-2})}));
  JC_ASSIGN_OR_RETURN(const Tensor columns, layer.apply("ExpandDims", {given.key, layer.ints({-3})}));
  JC_ASSIGN_OR_RETURN(const Tensor pairs, layer.apply("AddV2", {rows, columns}));
  JC_ASSIGN_OR_RETURN(Tensor scores, layer.apply("Tanh", {pairs}));
  if (weighed) {
    JC_ASSIGN_OR_RETURN(const Tensor scale, layer.weight("scale", Shape{width}));
    JC_ASSIGN_OR_RETURN(scores, layer.apply("Mul", {scores, scale}));
  }
  JC_ASSIGN_OR_RETURN(scores, layer.apply("Sum", {scores, layer.ints({-1})}));
  JC_ASSIGN_OR_RETURN(const Tensor shares, layer.apply("Softmax", {scores}));
  JC_ASSIGN_OR_RETURN(const Tensor out, layer.apply("BatchMatMulV2", {shares, given.value}));
  return layer.finish(out);
}

// Rows of a table by tokens.
Result<void> lower_embedding(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t rows, layer.integer("input_dim"));
  JC_ASSIGN_OR_RETURN(const std::int64_t width, layer.integer("output_dim"));
  JC_ASSIGN_OR_RETURN(const Tensor table, layer.weight("embeddings", Shape{rows, width}));
  JC_ASSIGN_OR_RETURN(const Tensor tokens, layer.apply("Cast", {layer.input()}, Attributes().type("DstT", 3)));
  return layer.finish(layer.add(Embedding{}, {layer.plain(table), layer.plain(tokens)}));
}

}  // namespace joulecast::keras
