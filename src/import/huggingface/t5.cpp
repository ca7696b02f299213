// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "import/huggingface/architectures.h"

namespace joulecast::huggingface {
namespace {

struct Sizes {
  std::int64_t width, inner, layers, decoder_layers, vocabulary, buckets;
  Heads heads;
  double dropout;
  bool gated;
  std::string activation;
};

Sizes read(Config& config) {
  Sizes out{};
  out.width = config.integer("d_model", 512);
  out.inner = config.integer("d_ff", 2048);
  out.layers = config.layers("num_layers", 6);
  out.decoder_layers = config.layers("num_decoder_layers", out.layers);
  out.vocabulary = config.integer("vocab_size", 32128);
  out.buckets = config.integer("relative_attention_num_buckets", 32);
  out.heads.count = out.heads.key_value_count = config.integer("num_heads", 8);
  out.heads.width = config.integer("d_kv", 64);
  out.dropout = config.share("dropout_rate", 0.1);
  const std::string word = config.text("feed_forward_proj", "relu");  // "relu", "gated-gelu"
  out.gated = word.starts_with("gated-");
  out.activation = out.gated ? word.substr(6) : word;
  if (out.gated && out.activation == "gelu") out.activation = "gelu_new";
  return out;
}

// One bias a head and distance, from a table: [1, heads, queries, keys]. Computed once for all layers.
ValueId position_bias(Net& net, const std::string& name, ValueId queries, const Sizes& sizes) {
  const ValueId places = net.positions(queries);
  const ValueId distance = net.binary(BinaryKind::kSub, places, net.transpose(places, {1, 0}));
  const ValueId far = net.add(Unary{UnaryKind::kLog}, {net.add(Cast{ElementType::kFloat32}, {distance})});
  const ValueId bucket = net.add(Where{}, {net.binary(BinaryKind::kLess, distance, net.integers({sizes.buckets / 2})),
                                           distance, net.add(Cast{ElementType::kInt64}, {far})});
  const ValueId table = net.weight(name + ".relative_attention_bias.weight", {sizes.buckets, sizes.heads.count});
  return net.add(Unsqueeze{{0}}, {net.transpose(net.embedding(table, bucket), {2, 0, 1})});
}

struct Sublayer {
  std::string name, attention;  // "encoder.block.0.layer.0", "SelfAttention"
  ValueId memory;               // what keys and values are of
  ValueId bias;
};

// The products of T5 are not scaled, and a bias is added: no fused kernel, so its parts run one by one.
ValueId attended(Net& net, const Sublayer& at, ValueId x, const Sizes& sizes) {
  const std::int64_t all = sizes.heads.count * sizes.heads.width;
  const std::string name = at.name + "." + at.attention;
  const auto split = [&](const char* part, ValueId of) {
    return net.split_heads(net.linear(name + part, of, sizes.width, all, false), sizes.heads.count, sizes.heads.width);
  };
  const ValueId scores = net.add(MatMul{.transpose_b = true}, {split(".q", x), split(".k", at.memory)});
  const ValueId biased = at.bias == kNoValue ? scores : net.sum(scores, at.bias);
  const ValueId weights = net.dropout(net.add(Softmax{}, {biased}), sizes.dropout);
  const ValueId joined = net.join_heads(net.add(MatMul{}, {weights, split(".v", at.memory)}), all);
  return net.linear(name + ".o", joined, all, sizes.width, false);
}

// Of the decoder's text alone, or of the encoder's through `memory`.
ValueId attention_layer(Net& net, Sublayer at, ValueId x, const Sizes& sizes) {
  const ValueId normed = net.rms_norm(at.name + ".layer_norm", x, sizes.width);
  if (at.memory == kNoValue) at.memory = normed;
  return net.sum(x, net.dropout(attended(net, at, normed, sizes), sizes.dropout));
}

Result<ValueId> dense_layer(Net& net, const std::string& name, ValueId x, const Sizes& sizes) {
  const ValueId normed = net.rms_norm(name + ".layer_norm", x, sizes.width);
  const std::string dense = name + ".DenseReluDense";
  const ValueId opened = net.linear(dense + (sizes.gated ? ".wi_0" : ".wi"), normed, sizes.width, sizes.inner, false);
  JC_ASSIGN_OR_RETURN(ValueId inner, net.activation(sizes.activation, opened));
  if (sizes.gated) inner = net.product(inner, net.linear(dense + ".wi_1", normed, sizes.width, sizes.inner, false));
  const ValueId outer = net.linear(dense + ".wo", net.dropout(inner, sizes.dropout), sizes.inner, sizes.width, false);
  return net.sum(x, net.dropout(outer, sizes.dropout));
}

// `memory`: what the encoder made; none for the encoder itself.
Result<ValueId> stack(Net& net, const std::string& name, ValueId tokens, ValueId table, ValueId memory,
                      const Sizes& sizes) {
  const bool decodes = memory != kNoValue;
  ValueId x = net.dropout(net.embedding(table, tokens), sizes.dropout);
  const ValueId bias = position_bias(net, name + ".block.0.layer.0.SelfAttention", tokens, sizes);
  for (std::int64_t i = 0; i < (decodes ? sizes.decoder_layers : sizes.layers); ++i) {
    const std::string block = fmt::format("{}.block.{}.layer.", name, i);
    x = attention_layer(net, {block + "0", "SelfAttention", kNoValue, bias}, x, sizes);
    if (decodes) x = attention_layer(net, {block + "1", "EncDecAttention", memory, kNoValue}, x, sizes);
    JC_ASSIGN_OR_RETURN(x, dense_layer(net, block + (decodes ? "2" : "1"), x, sizes));
  }
  return net.dropout(net.rms_norm(name + ".final_layer_norm", x, sizes.width), sizes.dropout);
}

}  // namespace

Result<void> write_t5(Config& config, Net& net) {
  const Sizes sizes = read(config);
  JC_RETURN_IF_ERROR(config.check());
  const ValueId table = net.weight("shared.weight", {sizes.vocabulary, sizes.width});
  const ValueId ids = token_ids(net, "input_ids", "sequence");
  JC_ASSIGN_OR_RETURN(const ValueId memory, stack(net, "encoder", ids, table, kNoValue, sizes));
  if (has_head(config, "EncoderModel")) {
    net.output(memory);
    return {};
  }
  const ValueId decoded = token_ids(net, "decoder_input_ids", "decoder_sequence");
  JC_ASSIGN_OR_RETURN(ValueId x, stack(net, "decoder", decoded, table, memory, sizes));
  if (has_head(config, "ForConditionalGeneration")) {
    const bool tied = config.flag("tie_word_embeddings", true);
    if (tied) x = net.product(x, net.number(1 / std::sqrt(static_cast<double>(sizes.width))));
    const ValueId head = tied ? table : net.weight("lm_head.weight", {sizes.vocabulary, sizes.width});
    x = net.add(Linear{}, {x, head, kNoValue});
  }
  net.output(x);
  return {};
}

}  // namespace joulecast::huggingface
