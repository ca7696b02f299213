// SPDX-License-Identifier: Apache-2.0
// Operations of keras.ops that multiply, and those of networks.
#include <fmt/format.h>

#include <algorithm>

#include "import/keras/lowerings.h"

namespace joulecast::keras {
namespace {

Result<void> einsum(LayerContext& layer, const std::string& equation, std::vector<Tensor> operands) {
  JC_ASSIGN_OR_RETURN(const Tensor out,
                      layer.apply("Einsum", std::move(operands), Attributes().text("equation", equation)));
  return layer.finish(out);
}

// The axes of `second` that are summed over, with those of `first` that they meet.
struct Pairs {
  IntList first, second;
};

// As many of the last axes of one with the first of the other, or two lists.
Result<Pairs> read_pairs(LayerContext& layer, std::size_t first_rank) {
  Pairs out;
  const Json* axes = layer.config().find("axes");
  const auto lists = axes == nullptr ? std::span<const JsonMember>() : axes->members();
  const auto rank = static_cast<std::int64_t>(first_rank);
  if (lists.size() == 2) {
    for (const auto& [json, list] : {std::pair(&lists[0].value, &out.first), std::pair(&lists[1].value, &out.second)}) {
      if (json->is(JsonKind::kInteger)) list->push_back(json->whole());
      for (const JsonMember& member : json->members()) list->push_back(member.value.whole());
    }
    return out;
  }
  const std::int64_t count = axes == nullptr ? 2 : axes->whole();
  if (count < 0 || count > rank) return layer.wrong("axes", fmt::format("is {}", count));
  for (std::int64_t i = 0; i < count; ++i) {
    out.first.push_back(rank - count + i);
    out.second.push_back(i);
  }
  return out;
}

// Letters for the axes of both, equal ones for those that are summed over.
Result<std::string> equation_of(LayerContext& layer, const Pairs& pairs, std::size_t first_rank,
                                std::size_t second_rank) {
  if (first_rank > kMaxRank || second_rank > kMaxRank || pairs.first.size() != pairs.second.size()) {
    return layer.wrong("axes", "does not fit the inputs");
  }
  std::string first = std::string("abcdefgh").substr(0, first_rank);
  std::string second = std::string("ijklmnop").substr(0, second_rank);
  std::string kept_first = first;
  std::string kept_second = second;
  for (std::size_t i = 0; i < pairs.first.size(); ++i) {
    const auto one = tensorflow::axis_of(pairs.first[i], first_rank);
    const auto other = tensorflow::axis_of(pairs.second[i], second_rank);
    if (!one || !other) return layer.wrong("axes", "does not fit the inputs");
    std::erase(kept_first, first[*one]);
    std::erase(kept_second, second[*other]);
    second[*other] = first[*one];
  }
  return fmt::format("{},{}->{}{}", first, second, kept_first, kept_second);
}

Result<void> summed_over(LayerContext& layer, const Pairs& pairs, std::vector<Tensor> operands) {
  JC_ASSIGN_OR_RETURN(const std::size_t first, layer.rank(operands[0]));
  JC_ASSIGN_OR_RETURN(const std::size_t second, layer.rank(operands[1]));
  JC_ASSIGN_OR_RETURN(const std::string equation, equation_of(layer, pairs, first, second));
  return einsum(layer, equation, std::move(operands));
}

}  // namespace

Result<void> lower_einsum(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::string_view equation, layer.text("subscripts", ""));
  std::vector<Tensor> all = layer.operands();
  if (all.size() != 2 || equation.find("...") != std::string_view::npos) return layer.opaque();
  return einsum(layer, std::string(equation), std::move(all));
}

Result<void> lower_tensordot(LayerContext& layer) {
  std::vector<Tensor> all = layer.operands();
  if (all.size() != 2) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(all[0]));
  JC_ASSIGN_OR_RETURN(const Pairs pairs, read_pairs(layer, rank));
  return summed_over(layer, pairs, std::move(all));
}

// The last axis of one with the last but one of the other; a number multiplies.
Result<void> lower_dot_operation(LayerContext& layer) {
  std::vector<Tensor> all = layer.operands();
  if (all.size() != 2) return layer.opaque();
  JC_ASSIGN_OR_RETURN(const std::size_t first, layer.rank(all[0]));
  JC_ASSIGN_OR_RETURN(const std::size_t second, layer.rank(all[1]));
  if (first == 0 || second == 0) return lower_merge(layer, "Mul");
  if (second == 2) return lower_merge(layer, "BatchMatMulV2");
  return summed_over(layer, {{-1}, {second == 1 ? -1 : -2}}, std::move(all));
}

Result<void> lower_one_hot(LayerContext& layer) {
  JC_ASSIGN_OR_RETURN(const std::int64_t classes, layer.integer("num_classes"));
  JC_ASSIGN_OR_RETURN(const std::int64_t axis, layer.integer("axis", -1));
  JC_ASSIGN_OR_RETURN(
      const Tensor out,
      layer.apply("OneHot", {layer.input(), layer.ints({classes}), layer.number(1.0), layer.number(0.0)},
                  Attributes().integer("axis", axis)));
  return layer.finish(out);
}

// query, key, value [batch, length, heads, width]; [bias].
Result<void> lower_dot_product_attention(LayerContext& layer) {
  if (layer.node().input_count() < 3) return layer.opaque();
  const std::vector<std::int64_t> order{0, 2, 1, 3};
  std::vector<ValueId> inputs;
  for (std::size_t i = 0; i < 3; ++i) {
    JC_ASSIGN_OR_RETURN(const std::size_t rank, layer.rank(layer.input(i)));
    if (rank != 4) return layer.opaque();
    inputs.push_back(layer.add(Transpose{order}, {layer.plain(layer.input(i))}).id);
  }
  Attention op;
  op.scales = 1;
  JC_ASSIGN_OR_RETURN(op.causal, layer.flag("is_causal", false));
  const Tensor mixed = layer.add(op, std::move(inputs));
  return layer.finish(layer.add(Transpose{order}, {mixed.id}));
}

}  // namespace joulecast::keras
