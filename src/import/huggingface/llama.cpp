// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "import/huggingface/architectures.h"

namespace joulecast::huggingface {
namespace {

struct Sizes {
  std::int64_t width, inner, layers, vocabulary;
  Heads heads;
  bool biased_heads, biased_output, biased_inner, normed_heads;
  std::string activation;
};

Sizes read(Config& config) {
  Sizes out{};
  const std::string type = config.text("model_type", "llama");
  out.width = config.integer("hidden_size", 4096);
  out.inner = config.integer("intermediate_size", type == "llama" ? 11008 : type == "mistral" ? 14336 : 22016);
  out.layers = config.layers("num_hidden_layers", 32);
  out.vocabulary = config.integer("vocab_size", type == "qwen2" || type == "qwen3" ? 151936 : 32000);
  out.heads.count = config.integer("num_attention_heads", 32);
  out.heads.key_value_count = config.integer("num_key_value_heads", type == "mistral" ? 8
                                                                    : type == "llama" ? out.heads.count
                                                                                      : 32);
  config.divided("num_key_value_heads", out.heads.count, out.heads.key_value_count);
  out.heads.width = config.has("head_dim") ? config.integer("head_dim", 128)
                                           : config.divided("num_attention_heads", out.width, out.heads.count);
  // Qwen2 has biases in three of the four projections, and no word for it.
  out.biased_output = config.flag("attention_bias", false);
  out.biased_heads = type == "qwen2" || out.biased_output;
  out.biased_inner = config.flag("mlp_bias", false);
  out.normed_heads = type == "qwen3";
  out.activation = config.text("hidden_act", "silu");
  return out;
}

// What positions turn queries and keys by: [1, length, head width] each, computed anew in every pass.
struct Rotation {
  ValueId cosine, sine;
};

Rotation rotation(Net& net, ValueId ids, std::int64_t width) {
  const ValueId positions = net.add(Cast{ElementType::kFloat32}, {net.positions(ids)});
  const ValueId column = net.add(Unsqueeze{{2}}, {positions});
  const ValueId angles = net.product(column, net.buffer("model.rotary_emb.inv_freq", {1, 1, width / 2}));
  const ValueId both = net.add(Concat{.axis = 2}, {angles, angles});
  return {net.add(Unary{UnaryKind::kCos}, {both}), net.add(Unary{UnaryKind::kSin}, {both})};
}

ValueId rotated(Net& net, ValueId x, const Rotation& by, std::int64_t width) {
  const ValueId first = net.slice(x, 3, 0, width / 2);
  const ValueId second = net.slice(x, 3, width / 2, width);
  const ValueId turned = net.add(Concat{.axis = 3}, {net.add(Unary{UnaryKind::kNeg}, {second}), first});
  const ValueId cosine = net.add(Unsqueeze{{1}}, {by.cosine}), sine = net.add(Unsqueeze{{1}}, {by.sine});
  return net.sum(net.product(x, cosine), net.product(turned, sine));
}

ValueId attention(Net& net, const std::string& name, ValueId x, const Sizes& shape, const Rotation& by) {
  const Heads& heads = shape.heads;
  const auto projected = [&](const char* part, std::int64_t count) {
    const ValueId all = net.linear(name + part, x, shape.width, count * heads.width, shape.biased_heads);
    const ValueId split = net.reshape(all, {0, 0, count, heads.width});
    const bool normed = shape.normed_heads && part[1] != 'v';
    const ValueId whole = normed ? net.rms_norm(fmt::format("{}.{}_norm", name, part[1]), split, heads.width) : split;
    return net.transpose(whole, {0, 2, 1, 3});
  };
  const ValueId query = rotated(net, projected(".q_proj", heads.count), by, heads.width);
  const ValueId key = rotated(net, projected(".k_proj", heads.key_value_count), by, heads.width);
  const ValueId value = projected(".v_proj", heads.key_value_count);
  const ValueId all = net.join_heads(net.attention(query, key, value, heads, true), heads.count * heads.width);
  return net.linear(name + ".o_proj", all, heads.count * heads.width, shape.width, shape.biased_output);
}

Result<ValueId> layer(Net& net, const std::string& name, ValueId x, const Sizes& shape, const Rotation& by) {
  const ValueId before = net.rms_norm(name + ".input_layernorm", x, shape.width);
  const ValueId middle = net.sum(x, attention(net, name + ".self_attn", before, shape, by));
  const ValueId inner = net.rms_norm(name + ".post_attention_layernorm", middle, shape.width);
  const ValueId gate = net.linear(name + ".mlp.gate_proj", inner, shape.width, shape.inner, shape.biased_inner);
  JC_ASSIGN_OR_RETURN(const ValueId opened, net.activation(shape.activation, gate));
  const ValueId up = net.linear(name + ".mlp.up_proj", inner, shape.width, shape.inner, shape.biased_inner);
  const ValueId down =
      net.linear(name + ".mlp.down_proj", net.product(opened, up), shape.inner, shape.width, shape.biased_inner);
  return net.sum(middle, down);
}

}  // namespace

Result<void> write_llama(Config& config, Net& net) {
  const Sizes shape = read(config);
  JC_RETURN_IF_ERROR(config.check());
  const ValueId ids = token_ids(net, "input_ids", "sequence");
  const ValueId table = net.weight("model.embed_tokens.weight", {shape.vocabulary, shape.width});
  ValueId x = net.embedding(table, ids);
  const Rotation by = rotation(net, ids, shape.heads.width);
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    JC_ASSIGN_OR_RETURN(x, layer(net, fmt::format("model.layers.{}", i), x, shape, by));
  }
  x = net.rms_norm("model.norm", x, shape.width);
  if (has_head(config, "ForCausalLM")) {
    const bool tied = config.flag("tie_word_embeddings", false);
    const ValueId head = tied ? table : net.weight("lm_head.weight", {shape.vocabulary, shape.width});
    x = net.add(Linear{}, {x, head, kNoValue});
  }
  net.output(x);
  return {};
}

}  // namespace joulecast::huggingface
