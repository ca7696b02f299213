// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/huggingface/architectures.h"

namespace joulecast::huggingface {
namespace {

struct Sizes {
  std::int64_t width, inner, layers, vocabulary, positions;
  Heads heads;
  double embedding_dropout, attention_dropout, residual_dropout;
  std::string activation;
};

Sizes read(Config& config) {
  Sizes out{};
  out.width = config.integer("n_embd", 768);
  out.inner = config.integer("n_inner", 4 * out.width);
  out.layers = config.layers("n_layer", 12);
  out.vocabulary = config.integer("vocab_size", 50257);
  out.positions = config.integer("n_positions", 1024);
  out.heads.count = out.heads.key_value_count = config.integer("n_head", 12);
  out.heads.width = config.divided("n_head", out.width, out.heads.count);
  out.embedding_dropout = config.share("embd_pdrop", 0.1);
  out.attention_dropout = config.share("attn_pdrop", 0.1);
  out.residual_dropout = config.share("resid_pdrop", 0.1);
  out.activation = config.text("activation_function", "gelu_new");
  return out;
}

// transformers' Conv1D: a linear layer whose matrix lies the other way round.
ValueId conv_1d(Net& net, const std::string& name, ValueId x, std::int64_t in, std::int64_t out) {
  return net.add(Linear{.weight_in_out = true},
                 {x, net.weight(name + ".weight", {in, out}), net.weight(name + ".bias", {out})});
}

ValueId attention(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const ValueId all = conv_1d(net, name + ".c_attn", x, sizes.width, 3 * sizes.width);
  const std::vector<ValueId> parts =
      net.add(Split{.axis = 2, .sizes = {sizes.width, sizes.width, sizes.width}}, {all}, 3);
  const auto split = [&](std::size_t i) { return net.split_heads(parts[i], sizes.heads.count, sizes.heads.width); };
  const ValueId joined = net.join_heads(
      net.attention(split(0), split(1), split(2), sizes.heads, true, kNoValue, sizes.attention_dropout), sizes.width);
  return net.dropout(conv_1d(net, name + ".c_proj", joined, sizes.width, sizes.width), sizes.residual_dropout);
}

Result<ValueId> layer(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const ValueId middle =
      net.sum(attention(net, name + ".attn", net.layer_norm(name + ".ln_1", x, sizes.width), sizes), x);
  const ValueId inner =
      conv_1d(net, name + ".mlp.c_fc", net.layer_norm(name + ".ln_2", middle, sizes.width), sizes.width, sizes.inner);
  JC_ASSIGN_OR_RETURN(const ValueId active, net.activation(sizes.activation, inner));
  const ValueId outer = conv_1d(net, name + ".mlp.c_proj", active, sizes.inner, sizes.width);
  return net.sum(middle, net.dropout(outer, sizes.residual_dropout));
}

}  // namespace

Result<void> write_gpt2(Config& config, Net& net) {
  const Sizes sizes = read(config);
  JC_RETURN_IF_ERROR(config.check());
  const ValueId ids = token_ids(net, "input_ids", "sequence");
  const ValueId table = net.weight("transformer.wte.weight", {sizes.vocabulary, sizes.width});
  const ValueId positions =
      net.embedding(net.weight("transformer.wpe.weight", {sizes.positions, sizes.width}), net.positions(ids));
  ValueId x = net.dropout(net.sum(net.embedding(table, ids), positions), sizes.embedding_dropout);
  for (std::int64_t i = 0; i < sizes.layers; ++i) {
    JC_ASSIGN_OR_RETURN(x, layer(net, fmt::format("transformer.h.{}", i), x, sizes));
  }
  x = net.layer_norm("transformer.ln_f", x, sizes.width);
  // Its matrix is the embedding's.
  if (has_head(config, "LMHeadModel")) x = net.add(Linear{}, {x, table, kNoValue});
  net.output(x);
  return {};
}

}  // namespace joulecast::huggingface
